package setup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// This file makes a study of a recorded table. The study is written by the same loop as any
// other, so that the readers of a record need no special case.

const importBatch = 1000 // events that are written at once

// Import makes a study of all recorded runs of the problem's table, each a trial that has ended, and returns the
// trials. The study can help others, and cannot be resumed. It is an error of the class conflict if a study of that
// name exists, and of the class usage if the problem has no table. A crash leaves a study with a part of its events
// on record, which helps no other study, because its record has no end. The same import resumes it. An error removes
// it.
func (p *Problem) Import(ctx context.Context, s *Store, name string) ([]assay.Trial, error) {
	return p.importIn(ctx, s, name, importBatch)
}

// importIn is [Problem.Import], with batch events per write.
func (p *Problem) importIn(ctx context.Context, s *Store, name string, batch int) (_ []assay.Trial, err error) {
	if p.Table == nil {
		return nil, usagef("%s: there is no recorded table (replay:)", name)
	}
	def := *p.Definition
	def.Search = spec.Method{Name: spec.RecordedSearch}
	def.Stop = spec.Stop{Rule: noStop}
	stored, err := Encode(&def, name, nil)
	if err != nil {
		return nil, err
	}
	events, trials, err := p.recordedEvents(ctx)
	if err != nil {
		return nil, err
	}
	release, err := s.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err = s.Create(ctx, name, stored); errors.Is(err, fs.ErrExist) {
		err = goesOn(ctx, s, name, stored)
	}
	if err != nil {
		return nil, err
	}
	// Events that are there already are the same, which is no error.
	var at assay.Position
	for len(events) > 0 {
		n := min(batch, len(events))
		if at, err = s.Append(ctx, name, at, events[:n]...); err != nil {
			return nil, errors.Join(err, s.Remove(context.WithoutCancel(ctx), name)) // half a table is of no use
		}
		events = events[n:]
	}
	s.Remember(ctx)
	return trials, nil
}

// goesOn returns nil if the study of that name is a part of the same import.
func goesOn(ctx context.Context, s *Store, name string, stored []byte) error {
	old, err := s.Spec(ctx, name)
	if err != nil {
		return err
	}
	sum, err := s.Summary(ctx, name)
	if err != nil {
		return err
	}
	def, err := spec.Decode(old)
	half := err == nil && def.HalfImport(sum)
	switch {
	case half && bytes.Equal(old, stored):
		return nil
	case half:
		return assay.Errorf(assay.ClassConflict, "study %q is a part of another import, which did not end: "+
			"give this one another name (--study NAME), or forget that (assay study rm %s)",
			name, report.ShellQuote([]string{name}))
	}
	return assay.Errorf(assay.ClassConflict, "study %q is on record: "+
		"give this one another name (--study NAME), or forget that (assay study rm %s)",
		name, report.ShellQuote([]string{name}))
}

// recordedEvents returns the events of a study that ran every recorded run of the
// table once, one after the other. The loop makes them, in a store that is forgotten:
// an imported study has the states, values and reasons that any other has.
func (p *Problem) recordedEvents(ctx context.Context) ([]assay.Event, []assay.Trial, error) {
	clock := &table.SimClock{}
	mem := store.NewMem()
	const name = "import"
	if err := mem.Create(ctx, name, nil); err != nil {
		return nil, nil, err
	}
	sd := &study.Study{
		Name: name, Space: p.Space, Goal: p.Goal, Store: mem, Clock: clock, Searcher: newRecordedRuns(p),
		Runner: table.NewReplay(p.Table, clock, spec.Grows),
		Command: func(c assay.Config) (assay.Job, error) {
			return assay.Job{Config: c}, nil
		},
	}
	res, err := sd.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	// The events are held in memory at once, as the table is.
	var events []assay.Event
	for e, err := range mem.Events(ctx, name, 0) {
		if err != nil {
			return nil, nil, err
		}
		events = append(events, e)
	}
	return events, res.Trials, nil
}

// recordedRuns is a searcher that proposes each configuration of a table as often as it was recorded. It learns
// nothing, and accepts any trial.
type recordedRuns struct {
	// The runs of one configuration share one Config, which must not change.
	todo []assay.Config
	// next is the index in todo of the next proposal; its ID is one more.
	next int
}

// The configurations come in the order of the space, and the runs of one follow each other.
func newRecordedRuns(p *Problem) *recordedRuns {
	r := &recordedRuns{}
	for c := range p.Space.All() {
		for range p.Table.Runs(c) {
			r.todo = append(r.todo, c)
		}
	}
	return r
}

// Ask implements [assay.Searcher].
func (r *recordedRuns) Ask(n int) ([]assay.Proposal, error) {
	if r.next == len(r.todo) {
		return nil, assay.ErrDone
	}
	var ps []assay.Proposal
	for len(ps) < n && r.next < len(r.todo) {
		ps = append(ps, assay.Proposal{ID: int64(r.next + 1), Config: r.todo[r.next]})
		r.next++
	}
	return ps, nil
}

// Tell implements [assay.Searcher].
func (r *recordedRuns) Tell(...assay.Trial) error { return nil }
