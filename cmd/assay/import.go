package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/table"
)

// recordedSearch is the search of an imported study: there was none.
const recordedSearch = "recorded"

const importBatch = 1000 // events that are written at once

func importCommand(s streams, f *studyFlags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "import TABLE.yaml",
		Short: "put a recorded table on record as a study, for tune --prior",
		Long: `import makes a study of a recorded table: TABLE.yaml is a study file with replay:,
and every recorded run becomes a trial that has ended. Other studies of the same
parameters and objective can then be helped by it (assay tune --prior).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := recordedProblem(s.err, args[0], "import")
			if err != nil {
				return err
			}
			h, err := setup.OpenStore(cmd.Context(), f.store)
			if err != nil {
				return err
			}
			defer h.Close()
			return importTable(cmd.Context(), s, h, p, cmp.Or(name, p.Name()))
		},
	}
	cmd.Flags().StringVar(&name, "study", "", "name of the study (default: the name in the file, or the file's)")
	return cmd
}

// importTable creates a study of all recorded runs of a table.
func importTable(ctx context.Context, s streams, h *setup.Store, p *setup.Problem, name string) error {
	st := p.Definition
	st.Search = config.Method{Name: recordedSearch}
	st.Stop = config.Stop{Rule: "none"}
	spec, err := setup.Encode(st, name, nil)
	if err != nil {
		return err
	}
	events, counts, err := recordedEvents(ctx, p)
	if err != nil {
		return err
	}
	if err := h.Create(ctx, name, spec); errors.Is(err, fs.ErrExist) {
		return usagef("study %q is on record: give this one another name (--study NAME), or forget that (assay study rm %s)", name, name)
	} else if err != nil {
		return err
	}
	var at assay.Position
	for len(events) > 0 {
		n := min(importBatch, len(events))
		if at, err = h.Append(ctx, name, at, events[:n]...); err != nil {
			if rm, ok := h.Store.(assay.Remover); ok { // half a table is none
				err = errors.Join(err, rm.Remove(context.WithoutCancel(ctx), name))
			}
			return err
		}
		events = events[n:]
	}
	h.Remember(ctx)
	return sayImported(s.out, name, counts)
}

func sayImported(w io.Writer, name string, c trialCounts) error {
	_, err := fmt.Fprintf(w, "%s: %s\n", name, c)
	return err
}

// recordedEvents returns the events of a study that ran every recorded run of the
// table once, one after the other.
func recordedEvents(ctx context.Context, p *setup.Problem) ([]assay.Event, trialCounts, error) {
	var counts trialCounts
	clock := &table.SimClock{}
	mem := store.NewMem()
	const name = "import"
	if err := mem.Create(ctx, name, nil); err != nil {
		return nil, counts, err
	}
	sd := &study.Study{
		Name: name, Space: p.Space, Goal: p.Goal, Store: mem, Clock: clock, Searcher: newRows(p),
		Runner: table.NewReplay(p.Table, clock, config.Grows),
		Command: func(c assay.Config) (assay.Job, error) {
			return assay.Job{Config: c}, nil
		},
	}
	res, err := sd.Run(ctx)
	if err != nil {
		return nil, counts, err
	}
	counts = countTrials(res.Trials)
	var events []assay.Event
	for e, err := range mem.Events(ctx, name, 0) {
		if err != nil {
			return nil, counts, err
		}
		events = append(events, e)
	}
	return events, counts, nil
}

// rows is a searcher that proposes each configuration of a table as often as it was
// recorded.
type rows struct {
	todo []assay.Config
	next int
}

func newRows(p *setup.Problem) *rows {
	r := &rows{}
	for c := range p.Space.All() {
		for range p.Table.Runs(c) {
			r.todo = append(r.todo, c)
		}
	}
	return r
}

// Ask implements [assay.Searcher].
func (r *rows) Ask(n int) ([]assay.Proposal, error) {
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
func (r *rows) Tell(...assay.Trial) error { return nil }
