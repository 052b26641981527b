package study

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// An ExternalSession runs an external study: it hands trials out, and takes their results. It is safe for concurrent
// use, and the only writer of the study.
//
// It keeps the record as Run does: a proposal is on record before it is handed out, a result before the searcher gets
// it. So a process that dies loses nothing that was answered; a proposal that was recorded and not answered is among
// the open trials. An external study spends no time.
type ExternalSession struct {
	mu sync.Mutex
	l  *loop
	// last is why the study was over, if the record ends with that.
	last   string
	handed handed
	ended  map[int64]int // of the loop's history, by ID
	held   string        // "paused" or "stopped" by a person, or ""
	// steered marks a study whose resumption is on record, because a person has decided about it.
	steered bool
}

// A Handed is an open trial: asked, without a result.
type Handed struct {
	assay.Proposal
	Since   time.Time // when it was handed out last
	Attempt int       // how often it was
}

// An Answer is the response to a client that asks.
type Answer struct {
	Trials []Handed
	// Open is how many trials are in flight, with the trials of the answer.
	Open int
	// Ended is why there are fewer trials than wanted and will be no more, an [assay.End]; "" if the study goes on,
	// though the search may need a result first.
	Ended string
}

// handed are the trials in flight, by ID.
type handed map[int64]Handed

// take takes in an event of the record.
func (h handed) take(e assay.Event) {
	switch {
	case e.Asked != nil:
		h[e.Asked.ID] = Handed{*e.Asked, e.At, 1}
	case e.Started != nil:
		if t, ok := h[e.Started.Trial]; ok {
			t.Since, t.Attempt = e.At, e.Started.Attempt
			h[t.ID] = t
		}
	case e.Told != nil:
		delete(h, e.Told.ID)
	case e.Withdrawn != nil:
		delete(h, e.Withdrawn.Trial)
	}
}

// InFlight returns the open trials of a record, in the order of their IDs. The caller need not own the study.
func InFlight(ctx context.Context, store assay.Store, name string) ([]Handed, error) {
	open := handed{}
	for e, err := range store.Events(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		open.take(e)
	}
	return slices.SortedFunc(maps.Values(open), func(a, b Handed) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// ExternalSession replays the record to the searcher, as Run does, and returns the session of the study. It uses the
// fields Name, Space, Goal, Searcher, Store and Budget, whose time has no effect, and Cuts, Clock and Patience.
func (s *Study) ExternalSession(ctx context.Context) (*ExternalSession, error) {
	l := newLoop(s)
	events, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	player := search.Player{Study: l.Name, Space: l.Space, Searcher: l.Searcher}
	if err := player.Play(events); err != nil {
		return nil, err
	}
	l.control.goLive()
	d := &ExternalSession{l: l, handed: handed{}, ended: map[int64]int{}}
	for _, e := range events {
		d.last = ""
		if d.handed.take(e); e.Ended != nil {
			d.last = e.Ended.By
		}
		if e.Steered != nil {
			d.obey(*e.Steered)
		}
	}
	for i := range l.judge.size() {
		d.ended[l.judge.told(i).ID] = i
	}
	d.out(nil)
	return d, nil
}

// out takes the proposals that wait as handed out.
func (d *ExternalSession) out(to *[]Handed) {
	l := d.l
	for _, p := range l.ask.takeAll() {
		h, ok := d.handed[p.ID]
		if !ok {
			h = Handed{p, l.clock.Now(), 1}
			d.handed[p.ID] = h
		}
		l.run.handOut(p, h.Since)
		if to != nil {
			*to = append(*to, h)
		}
	}
}

// Ask hands out at most n trials, each of which is on record by then. There are fewer if the study is over, or if the
// search needs results of others first. It is an error of the class conflict if a person has paused or stopped the
// study.
func (d *ExternalSession) Ask(ctx context.Context, n int) (Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ask(ctx, n)
}

func (d *ExternalSession) ask(ctx context.Context, n int) (a Answer, err error) {
	l := d.l
	if d.held != "" {
		return a, assay.WithHint(assay.Errorf(assay.ClassConflict, "study %s is %s", l.Name, d.held),
			"assay study resume goes on with it")
	}
	l.control.end(l.control.over(ctx))
	for len(a.Trials) < n && l.control.endedBy() == "" {
		room := l.free(n - len(a.Trials))
		before := len(a.Trials)
		if err := l.propose(ctx, room); err != nil {
			return a, err
		}
		if d.out(&a.Trials); len(a.Trials) == before {
			break
		}
		d.last = ""
		if l.control.endedBy() == "" {
			l.control.end(l.control.over(ctx))
		}
	}
	a.Open = len(l.run.inFlight())
	a.Ended, err = d.over(ctx)
	return a, err
}

// over returns why the study is over, or "", and records it once. A study with trials in flight goes on: their
// results count.
func (d *ExternalSession) over(ctx context.Context) (string, error) {
	l := d.l
	if l.control.endedBy() == "" {
		l.control.end(l.control.over(ctx))
	}
	by, open := l.control.endedBy(), len(l.run.inFlight())
	switch {
	case by == "interrupt":
		return "", context.Cause(ctx)
	case by == "" || by == "trials" && open > 0:
		return "", nil
	case by == d.last || open > 0:
		return by, nil
	}
	if err := l.end(ctx); err != nil {
		return "", err
	}
	d.last = by
	return by, nil
}

// Again hands out at most n of the open trials that were handed out longer than age ago once more, the oldest first.
// It is on record, so that only one of several clients gets a trial.
func (d *ExternalSession) Again(ctx context.Context, n int, age time.Duration) (Answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.older(age)
	old = old[:min(n, len(old))]
	events := make([]assay.Event, len(old))
	for i := range old {
		h := &old[i]
		h.Attempt++
		events[i].Started = &assay.Start{RunID: d.l.run.attempt(h.ID, h.Attempt)}
	}
	a := Answer{Trials: old, Open: len(d.l.run.inFlight())}
	if len(old) == 0 {
		return a, nil
	}
	if err := d.l.record.append(ctx, events...); err != nil {
		return Answer{}, err
	}
	d.last = ""
	for i := range old {
		old[i].Since = d.l.clock.Now()
		d.handed[old[i].ID] = old[i]
	}
	return a, nil
}

// older returns the trials in flight that were handed out at least age ago, the oldest first.
func (d *ExternalSession) older(age time.Duration) (old []Handed) {
	now := d.l.clock.Now()
	for _, h := range d.handed {
		if now.Sub(h.Since) >= age {
			old = append(old, h)
		}
	}
	slices.SortFunc(old, func(a, b Handed) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return old
}

// Open returns the open trials, in the order of their IDs.
func (d *ExternalSession) Open() []Handed {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.older(-1 << 62)
	slices.SortFunc(all, func(a, b Handed) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Withdraw takes back the open trials that were handed out at least age ago, and returns them.
func (d *ExternalSession) Withdraw(ctx context.Context, age time.Duration, by, reason string) ([]Handed, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.older(age)
	var reports []Report
	for _, h := range old {
		reports = append(reports, Report{ID: h.ID, State: assay.Withdrawn.String(), Reason: reason, By: by})
	}
	_, err := d.tell(ctx, reports)
	return old, err
}

// Result returns the result of the study so far, and why it is over, if it is.
func (d *ExternalSession) Result() Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.l.result()
	r.Trials, r.EndedBy = slices.Clone(r.Trials), d.last
	return r
}

// Enqueue has configurations that a person wants be the next that are handed out.
func (d *ExternalSession) Enqueue(ctx context.Context, configs []assay.Config, by string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = ""
	return d.l.give(ctx, configs, by)
}

// Steer records a person's decision about the study, and obeys: after "pause" and "stop" nothing is handed out until
// "run", and "budget" changes the number of trials. Results of trials in flight are still accepted. A decision that
// changes nothing is not recorded.
func (d *ExternalSession) Steer(ctx context.Context, s assay.StudyCommand) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case s.Do == "budget" && (s.Time != 0 || s.Trials <= 0):
		return assay.Errorf(assay.ClassUsage, "an external study has no time budget: "+
			"the budget is a number of trials")
	case s.Do == "budget" && s.Trials == d.l.control.budget().Trials, s.Do == "pause" && d.held == "paused",
		s.Do == "stop" && d.held == "stopped", s.Do == "run" && d.held == "" && d.steered:
		return nil
	}
	if err := d.l.record.append(ctx, assay.Event{Steered: &s}); err != nil {
		return err
	}
	d.last = ""
	d.obey(s)
	return nil
}

// obey applies a decision on record.
func (d *ExternalSession) obey(s assay.StudyCommand) {
	switch s.Do {
	case "run":
		d.held, d.steered = "", true
	case "pause":
		d.held, d.steered = "paused", true
	case "stop":
		d.held, d.steered = "stopped", true
	case "budget":
		if s.Trials > 0 {
			d.l.control.setTrials(s.Trials)
		}
	}
}

// Trials returns the greatest number of trials, 0 for any.
func (d *ExternalSession) Trials() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.l.control.budget().Trials
}

// Position returns the end of the record, as far as the session knows it.
func (d *ExternalSession) Position() assay.Position { return d.l.record.Position() }

// Err returns why nothing can be recorded any more, or nil: the desk is of no use then, and another one that
// is opened goes on.
func (d *ExternalSession) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.l.record.failed())
}
