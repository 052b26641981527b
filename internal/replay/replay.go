// Package replay brings a new searcher to where the record of a study says that
// it was, for the loop of package study and for the sessions of package online.
package replay

import (
	"fmt"

	"github.com/assay-run/assay"
)

// A Player feeds a record to a new searcher and compares each of its proposals
// with the one on record.
type Player struct {
	Study    string
	Space    *assay.Space // of the record, to write configurations; nil if unknown
	Searcher assay.Searcher
}

// Asked has the searcher propose what it proposed when stored was recorded. It
// returns a *[Error] if the searcher proposes something else, or nothing.
func (p *Player) Asked(stored assay.Proposal) error {
	ps, err := p.Searcher.Ask(1)
	if err != nil {
		return p.departs(stored, assay.Proposal{}, err)
	}
	if len(ps) == 0 {
		return p.departs(stored, assay.Proposal{}, errNothing)
	}
	if ps[0].ID != stored.ID || !ps[0].Config.Equal(stored.Config) {
		return p.departs(stored, ps[0], nil)
	}
	return nil
}

// Told tells the searcher a trial on record. It returns a *[Error] if the
// searcher refuses it.
func (p *Player) Told(t assay.Trial) error {
	if err := p.Searcher.Tell(t); err != nil {
		return p.departs(t.Proposal, assay.Proposal{}, err)
	}
	return nil
}

type constError string

func (e constError) Error() string { return string(e) }

// errNothing is what the silence of a searcher is called in an [Error].
const errNothing = constError("no proposal")

func (p *Player) departs(stored, got assay.Proposal, err error) error {
	e := &Error{Study: p.Study, Stored: stored, Got: got, Err: err, Proposals: int(stored.ID - 1)}
	e.StoredAs = p.text(stored.Config)
	if err == nil {
		e.GotAs = p.text(got.Config)
	}
	return e
}

func (p *Player) text(c assay.Config) string {
	if p.Space == nil || p.Space.Dim() != len(c) {
		return "a configuration of another space"
	}
	return p.Space.Text(c)
}

// An Error says where a searcher departs from the proposals on record, because
// its algorithm, its options or its seed changed.
type Error struct {
	Study     string
	Stored    assay.Proposal
	Got       assay.Proposal // meaningful if Err is nil
	Err       error          // what Ask or Tell returned instead, or nil
	StoredAs  string         // the stored configuration for people
	GotAs     string
	Proposals int // proposals that were repeated before
}

// Error implements error.
func (e *Error) Error() string {
	got := e.GotAs
	if e.Err != nil {
		got = e.Err.Error()
	}
	return fmt.Sprintf("study %q cannot be resumed: its search departs from the record at proposal %d: stored %s, now %s (%d proposals before it agree)",
		e.Study, e.Stored.ID, e.StoredAs, got, e.Proposals)
}

// Unwrap returns the error of the searcher, if it is that which departs.
func (e *Error) Unwrap() error { return e.Err }
