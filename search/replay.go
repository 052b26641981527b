package search

// This file brings a new searcher to the state that the record of a study has, for the loop of
// package study and for the sessions of package online.
//
// A record holds every call of the searcher: an Ask for n proposals is the events Asked of one batch, a
// Tell is an event Told. Repeating the calls brings a new searcher of the same kind, options and seed to
// the same state. Memos of the searcher ([assay.Resumer]) spare it the computing.

import (
	"fmt"
	"math"

	"github.com/assay-run/assay"
)

// Asked returns the events of one Ask for n proposals of a searcher, which
// returned ps: a batch, with the memo of the searcher if it keeps one.
func Asked(s assay.Searcher, n int, ps []assay.Proposal) []assay.Event {
	events := make([]assay.Event, len(ps))
	for i := range ps {
		events[i] = assay.Event{Asked: &ps[i], Batch: -1}
	}
	events[0].Batch = n
	if r, ok := assay.As[assay.Resumer](s); ok {
		events[len(events)-1].Memo = r.Memo()
	}
	return events
}

// Withdrawn returns the trial with which a proposal that was taken back is reported to a searcher.
func Withdrawn(p assay.Proposal) assay.Trial {
	return assay.Trial{Proposal: p, State: assay.Withdrawn, Value: math.Inf(1)}
}

// Redone reports to a searcher a run that replaces one that does not count any more: as an observation,
// if it learns from observations.
func Redone(s assay.Searcher, t assay.Trial) error {
	if o, ok := assay.As[assay.Observer](s); ok {
		return o.Observe(t)
	}
	return nil
}

// A Player feeds a record to a new searcher and compares each of its proposals
// with the one on record.
type Player struct {
	Study    string         // for errors
	Space    *assay.Space   // of the record, to write configurations; nil if unknown
	Searcher assay.Searcher // new
	// Offset is the ID on record less the searcher's own.
	Offset int64

	open map[int64]assay.Proposal // asked and without a result, by the searcher's own ID
}

// Play repeats the calls that the events stand for; events of other kinds are
// passed over. It returns a *[Error] where the searcher departs from the record.
func (p *Player) Play(events []assay.Event) error {
	if err := p.recall(events); err != nil {
		return err
	}
	for i := 0; i < len(events); i++ {
		switch e := events[i]; {
		case e.Asked != nil:
			n := batch(events[i:])
			if err := p.asked(events[i : i+n]); err != nil {
				return err
			}
			i += n - 1
		case e.Told != nil:
			t := *e.Told
			t.ID -= p.Offset
			if err := p.tell(t); err != nil {
				return err
			}
		case e.Withdrawn != nil:
			q, open := p.open[e.Withdrawn.Trial-p.Offset]
			if !open {
				continue // it had ended before
			}
			if err := p.tell(Withdrawn(q)); err != nil {
				return err
			}
		case e.Checked != nil && e.Redone:
			if err := Redone(p.Searcher, *e.Checked); err != nil {
				return &Error{Study: p.Study, Err: err}
			}
		case e.Given != nil:
			g, ok := assay.As[assay.Enqueuer](p.Searcher)
			if !ok {
				return &Error{Study: p.Study, Err: errNoGiver}
			}
			g.Enqueue(e.Given.Configs)
		}
	}
	return nil
}

func (p *Player) tell(t assay.Trial) error {
	delete(p.open, t.ID)
	if err := p.Searcher.Tell(t); err != nil {
		return p.departs(t.Proposal, assay.Proposal{}, err)
	}
	return nil
}

// recall gives the memos of the record to the searcher. A record whose first
// calls have none, one of an earlier version, is computed again from the
// beginning.
func (p *Player) recall(events []assay.Event) error {
	resumer, ok := assay.As[assay.Resumer](p.Searcher)
	if !ok {
		return nil
	}
	var memos [][]byte
	for _, e := range events {
		if e.Asked != nil && e.Memo != nil {
			memos = append(memos, e.Memo)
		}
	}
	if len(memos) == 0 {
		return nil
	}
	if err := resumer.Recall(memos); err != nil {
		return &Error{Study: p.Study, Err: err}
	}
	return nil
}

// batch returns how many of the events, of which the first is Asked, are the
// answer to one Ask.
func batch(events []assay.Event) int {
	n := 1
	for n < len(events) && events[n].Asked != nil && events[n].Batch < 0 {
		n++
	}
	return n
}

// asked has the searcher repeat its proposals from when the events of one Ask were recorded.
func (p *Player) asked(events []assay.Event) error {
	ps, err := p.Searcher.Ask(max(1, events[0].Batch))
	for i, e := range events {
		stored := *e.Asked
		stored.ID -= p.Offset
		switch {
		case err != nil:
			return p.departs(stored, assay.Proposal{}, err)
		case i >= len(ps):
			return p.departs(stored, assay.Proposal{}, errNothing)
		case ps[i].ID != stored.ID || !ps[i].Config.Equal(stored.Config):
			return p.departs(stored, ps[i], nil)
		}
		if p.open == nil {
			p.open = map[int64]assay.Proposal{}
		}
		p.open[stored.ID] = stored
	}
	if len(ps) > len(events) {
		more := ps[len(events)]
		return p.departs(assay.Proposal{ID: more.ID}, more, nil)
	}
	return nil
}

type constError string

func (e constError) Error() string { return string(e) }

// errNothing stands for an empty answer of a searcher in an [Error].
const errNothing = constError("no proposal")

// errNoGiver is the error of a searcher without the ability to replay given configurations.
const errNoGiver = constError("it takes no configurations from people")

func (p *Player) departs(stored, got assay.Proposal, err error) error {
	e := &Error{Study: p.Study, Stored: stored, Got: got, Err: err, Proposals: int(stored.ID - 1)}
	e.StoredAs = p.text(stored.Config)
	if err == nil {
		e.GotAs = p.text(got.Config)
	}
	return e
}

func (p *Player) text(c assay.Config) string {
	switch {
	case c == nil:
		return "nothing"
	case p.Space == nil || p.Space.Dim() != len(c):
		return "a configuration of another space"
	}
	return p.Space.Text(c)
}

// An Error describes where a searcher departs from the proposals on record, because its algorithm, its
// options or its seed changed.
type Error struct {
	Study     string         // of the record
	Stored    assay.Proposal // ID 0 if the searcher refused the record as a whole
	Got       assay.Proposal // meaningful if Err is nil
	Err       error          // the result of the call instead, or nil
	StoredAs  string         // the stored configuration for people
	GotAs     string         // the proposed configuration for people
	Proposals int            // proposals that were repeated before
}

// Error implements error.
func (e *Error) Error() string {
	if e.Stored.ID == 0 {
		return fmt.Sprintf("study %q cannot be resumed: its search differs from the record: %v", e.Study, e.Err)
	}
	got := e.GotAs
	if e.Err != nil {
		got = e.Err.Error()
	}
	return fmt.Sprintf("study %q cannot be resumed: its search departs from the record at proposal %d: "+
		"stored %s, now %s (%d proposals before it agree)",
		e.Study, e.Stored.ID, e.StoredAs, got, e.Proposals)
}

// Unwrap returns the error of the searcher, if it is that which departs.
func (e *Error) Unwrap() error { return e.Err }
