package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// This file gives a problem its place in a store. Its steps are: claim finds or makes the study on record; wire takes
// the lock and opens the runner and its surroundings. A crash between them leaves a study without trials, which the
// next call resumes.

// A Study is a problem that has its place in a store: it is ready to run, and this
// process is its owner until it is closed. Drain and Notify may be set before Run. It is
// run once: to go on after Run has returned, close it and open another.
type Study struct {
	*study.Study
	Problem *Problem
	Resumed bool     // the study was on record before
	Notes   []string // about its place, and the earlier studies that help

	// store stays the caller's, except after Open.
	store *Store
	close []func() error // Close calls them, the last first
}

// Open returns the study of a definition in the store of an address, ready to run: it
// is [New], [OpenStore] and [Problem.Study] in one. Closing the study closes the store.
// The definition is checked before the store is opened: a flaw leaves no file behind.
func Open(ctx context.Context, def *spec.Study, at, name string, o Options) (*Study, error) {
	p, err := New(def, o)
	if err != nil {
		return nil, err
	}
	store, err := OpenStore(ctx, at)
	if err != nil {
		return nil, err
	}
	s, err := p.Study(ctx, store, name)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s.close = append([]func() error{store.Close}, s.close...)
	return s, nil
}

// Study finds or makes the study in the store. Its name is the given one, or the definition's, or its file's. It is
// an error of the class conflict if another study has that name. A study without any name gets the name of its
// program, with a number if that is taken.
func (p *Problem) Study(ctx context.Context, store *Store, name string) (*Study, error) {
	c, err := p.claim(ctx, store, name)
	if err != nil {
		return nil, err
	}
	s := &Study{Problem: p, Resumed: c.resumed, Notes: c.notes, store: store}
	if err := s.wire(ctx, c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Claim finds or makes the study in the store, as Study does, and returns its name. It is not
// opened: Study with that name opens it.
func (p *Problem) Claim(ctx context.Context, store *Store, name string) (string, error) {
	c, err := p.claim(ctx, store, name)
	return c.name, err
}

// wire makes the study of a claim. Close releases everything from the moment that it is opened, so that an error
// leaves nothing open. The lock comes first: no part of the record may be read that another owner could still change.
func (s *Study) wire(ctx context.Context, c claim) error {
	p, def := s.Problem, s.Problem.Definition
	release, err := s.store.Lock(ctx, c.name)
	if err != nil {
		return err
	}
	s.close = append(s.close, release)
	searcher, cuts, note, err := p.helped(ctx, s.store, c)
	if err != nil {
		return err
	}
	if note != "" {
		s.Notes = append(s.Notes, note)
	}
	if risk := riskOf(def.Stop.Rule); risk != "" {
		p.opts.Warn(risk)
	}
	sum, err := s.store.Summary(ctx, c.name)
	if err != nil {
		return err
	}
	p.born = sum.Created
	r, err := p.open(ctx, c.name)
	if err != nil {
		return err
	}
	kept, err := s.mirrored(ctx, c, r)
	s.close = append(s.close, r.close)
	if err != nil {
		return err
	}
	s.Study = &study.Study{
		Name: c.name, Space: p.Space, Goal: p.Goal, Command: p.job,
		Searcher: searcher, Stopper: p.stopper, Cuts: cuts,
		Runner: r.Runner, Clock: r.clock, Parallel: def.Parallel, Store: kept, Declared: def.HasDefault(),
		Budget: study.Budget{
			Time: def.Budget.Time, Trials: def.Budget.Trials, Target: def.Budget.Target,
			CPUHours: def.Budget.CPUHours,
		},
	}
	if def.Stop.Gain > 0 {
		s.StudyStopper = NewEnder(p.Space, def.Stop.Gain, def.Search.Seed)
	}
	if p.Table != nil {
		return nil
	}
	if def.Stop.Interval == 0 {
		s.Finest = finest
	}
	s.Command = func(c assay.Config) (assay.Job, error) {
		if err := s.store.roomToRun(); err != nil {
			return assay.Job{}, err
		}
		return p.job(c)
	}
	s.Race, s.Hopeless = true, hopeless
	s.Check, s.Sequential = lastPairs(def)
	s.CheckShare = def.Pairs.Share / 100
	s.Anywhere, s.MachineClass = def.Placement.Class == spec.Anywhere, def.Placement.Target
	if s.store.keepsOutputs() {
		s.Output = s.store.keeper(c.name, p.opts.Warn).keep
	}
	if r.bind != nil {
		return r.bind(ctx, s.Study)
	}
	return nil
}

// lastPairs returns how many pairs of runs a study of a command ends with, and whether it ends them as soon as they
// show a difference.
func lastPairs(def *spec.Study) (most int, sequential bool) {
	switch pairs := def.Pairs; {
	case pairs.None:
		return 0, false
	case pairs.Runs > 0:
		return pairs.Runs, false
	case def.Budget.Time > 0:
		return mostPairs, true
	}
	return mostUntimed, true
}

// hopeless is how many first trials of a command may fail for the same reason. It does not apply to tables.
const hopeless = 5

// Run runs the study: see study.Study.Run for its errors. The next study that looks for help knows its additions to
// the record, however it ended.
func (s *Study) Run(ctx context.Context) (study.Result, error) {
	res, err := s.Study.Run(ctx)
	s.store.Remember(ctx)
	return res, err
}

// Close releases everything that the study holds, in the reverse order: its runner, then the ownership, so that no
// run is alive when another process may begin. Run must have returned. The second call does nothing.
func (s *Study) Close() error {
	var err error
	for i := len(s.close) - 1; i >= 0; i-- {
		err = errors.Join(err, s.close[i]())
	}
	s.close = nil
	return err
}

// A claim is the place of a study in a store.
// A claim is not a lock: another process may hold one of the same study.
type claim struct {
	name    string
	resumed bool
	helpers []spec.PriorStudy // the earlier studies that help, as on record
	notes   []string          // for the user
	base    *prior.Base       // nil unless it was looked into
}

// claim finds or makes the study in the store. It looks for earlier studies that help when it makes a study, and
// records them: the search could not be repeated with others.
//
// Two processes may claim one name at once. The second to call Create finds the study of the first, and resumes it if
// it is the same: the lock then decides.
func (p *Problem) claim(ctx context.Context, s *Store, name string) (claim, error) {
	chosen := cmp.Or(name, p.Name())
	base := cmp.Or(chosen, programName(p.Definition))
	// The loop ends because only a name that was not chosen gets a number, and each number is tried once.
	for n := 1; ; n++ {
		candidate := base
		if n > 1 {
			candidate = fmt.Sprintf("%s-%d", base, n)
		}
		c, err := p.create(ctx, s, candidate)
		if !errors.Is(err, fs.ErrExist) {
			return c, err
		}
		old, err := s.Definition(ctx, candidate)
		if err != nil {
			return claim{}, err
		}
		diff := old.Diff(p.Definition)
		if len(diff) == 0 {
			p.searchers = old.Searchers
			c := claim{name: candidate, resumed: true, helpers: old.Prior.Resolved}
			if was, is := old.Dir, p.Definition.Dir; was != is && was != "" && is != "" {
				c.notes = []string{fmt.Sprintf("study %s was made in %s; it goes on in %s", candidate, was, is)}
			}
			return c, nil
		}
		if chosen != "" {
			return claim{}, assay.WithClass(assay.ClassConflict, &AnotherStudyError{Study: candidate, Diff: diff})
		}
	}
}

// AnotherStudyError reports that the chosen name belongs to another study on record.
type AnotherStudyError struct {
	Study string
	Diff  []string // the differences, for people
}

func (e *AnotherStudyError) Error() string {
	return e.Hosted() + fmt.Sprintf(", or forget the other (assay study rm %s)", report.ShellQuote([]string{e.Study}))
}

// Hosted returns the text of the error for a study on a server, which forgets none.
func (e *AnotherStudyError) Hosted() string {
	return fmt.Sprintf("study %q is on record as another study:\n  %s\ngive this one another name (--study NAME)",
		e.Study, strings.Join(e.Diff, "\n  "))
}

// create makes the study, with the earlier studies that help it. It returns an error
// that matches fs.ErrExist if there is one of that name.
// The name is looked up before the earlier studies are, which cost time. Another process may
// make the study meanwhile: Create then returns fs.ErrExist too.
func (p *Problem) create(ctx context.Context, s *Store, name string) (claim, error) {
	if _, err := s.Spec(ctx, name); err == nil {
		return claim{}, fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return claim{}, err
	}
	c := claim{name: name}
	if p.Definition.Prior.On() && !p.opts.Alone && p.Definition.Mode() != spec.ModeOnline {
		var err error
		if c.base, err = s.Knowledge(ctx); err != nil {
			return claim{}, err
		}
		if c.helpers, c.notes, err = c.base.Resolve(ctx, prior.Running{
			Study: p.Definition, Space: p.Space, Goal: p.Goal,
		}); err != nil {
			return claim{}, err
		}
	}
	if len(c.helpers) == 0 {
		var err error
		if c.helpers, err = p.Known(); err != nil {
			return claim{}, err
		}
		c.notes = append(c.notes, shippedNotes(c.helpers)...)
	}
	stored, err := Encode(p.Definition, name, c.helpers)
	if err != nil {
		return claim{}, err
	}
	return c, s.Create(ctx, name, stored)
}

// Encode returns the stored form of a study: its definition with its name, and with the earlier studies that help it.
// The definition itself stays as it is.
func Encode(def *spec.Study, name string, helpers []spec.PriorStudy) ([]byte, error) {
	named := *def
	named.Name, named.Prior.Resolved, named.Searchers = name, helpers, spec.Searchers
	return json.Marshal(&named)
}

// Name returns the name that the definition gives to its study, or else its file; "" if
// it has neither.
// The extension of the file is left out.
func (p *Problem) Name() string {
	file := p.Definition.File()
	if p.Definition.Name != "" || file == "" {
		return p.Definition.Name
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// programName returns the name of the program of a study without a file: of a shell
// line, its first word.
// It is "study" where no command is run.
func programName(def *spec.Study) string {
	if len(def.Command) == 0 {
		return "study"
	}
	program := def.Command[0]
	if words := strings.Fields(program); def.Shell && len(words) > 0 {
		program = words[0]
	}
	return filepath.Base(program)
}
