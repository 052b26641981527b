package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/prune"
)

const (
	comparedTrials  = 200 // of the study that others are compared with
	comparedStudies = 20  // that are compared trial by trial
)

// similarStudy is one line of `assay study similar --json`: a contract.
type similarStudy struct {
	Study       string   `json:"study"`
	Correlation *float64 `json:"correlation"` // null if there is none
	Estimate    bool     `json:"estimate"`    // from the fingerprints, not from the trials
	Points      int      `json:"points"`
	Trials      int      `json:"trials"`
	Reason      string   `json:"reason,omitempty"` // why it cannot serve, or has no correlation
}

func similarCommand(s streams, f *studyFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "similar STUDY",
		Short: "the studies on record that are most like one of them",
		Long: `similar ranks the other studies by the normalised cross-correlation of their
surrogates with that of STUDY, at the configurations that it has run: 1 means that
what is good in one is good in the other, 0 that they have nothing to do with each
other. It needs the same parameters by name and type, with overlapping ranges, and
the same objective.

Of more than 20 studies that fit, the 20 with the nearest fingerprints are compared
trial by trial; the correlation of the others is that of the fingerprints, marked ~.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd.Context(), args, func(ctx context.Context, h *storeHandle, args []string) error {
				return listSimilar(ctx, s.out, h, args[0], f.json)
			})
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON, one object a line")
	return cmd
}

func listSimilar(ctx context.Context, w io.Writer, h *storeHandle, name string, asJSON bool) error {
	kb, err := openKnowledge(ctx, h)
	if err != nil {
		return err
	}
	list, err := kb.similar(ctx, name)
	if err != nil {
		return err
	}
	t := report.NewTable(palette(w), "study", ">correlation", ">points", ">trials", "")
	for _, s := range list {
		if asJSON {
			if err := writeJSON(w, s); err != nil {
				return err
			}
			continue
		}
		r := "–"
		if s.Correlation != nil {
			r = fmt.Sprintf("%.2f", *s.Correlation)
		}
		if s.Estimate {
			r = "~" + r
		}
		t.Add(s.Study, r, fmt.Sprint(s.Points), fmt.Sprint(s.Trials), s.Reason)
	}
	switch {
	case asJSON:
		return nil
	case len(list) == 0:
		_, err := fmt.Fprintln(w, "there is no other study to compare with")
		return err
	}
	return t.Write(w)
}

// similar ranks the other studies.
func (kb *knowledgeBase) similar(ctx context.Context, name string) ([]similarStudy, error) {
	self := kb.known[name]
	if self == nil {
		return nil, fmt.Errorf("study %q: %w", name, fs.ErrNotExist)
	}
	if self.Flaw != "" {
		return nil, usagef("%s cannot be compared: %s", name, self.Flaw)
	}
	trials, _, err := kb.trials(ctx, name, -1)
	if err != nil {
		return nil, err
	}
	space, err := assay.NewSpace(self.Params)
	if err != nil {
		return nil, err
	}
	var near, far []similarStudy
	var order []*knownStudy
	for _, other := range slices.Sorted(maps.Keys(kb.known)) {
		k := kb.known[other]
		switch {
		case other == name:
		case k.Flaw != "":
			far = append(far, similarStudy{Study: other, Trials: k.Told, Reason: k.Flaw})
		default:
			order = append(order, k)
		}
	}
	// Studies with other ranges have no estimate and are compared in any case.
	estimate := map[*knownStudy]float64{}
	for _, k := range order {
		estimate[k] = 2
		if r := printCorrelation(self, k); !math.IsNaN(r) {
			estimate[k] = r
		}
	}
	if len(order) > comparedStudies {
		slices.SortStableFunc(order, func(a, b *knownStudy) int { return cmp.Compare(estimate[b], estimate[a]) })
	}
	var studies []prune.Study
	for i, k := range order {
		if i >= comparedStudies {
			r := printCorrelation(self, k)
			s := similarStudy{Study: k.Name, Correlation: finiteOrNil(r), Estimate: true, Points: len(k.Print), Trials: k.Told}
			if math.IsNaN(r) {
				s.Estimate, s.Points, s.Reason = false, 0, "not compared: too many studies with other ranges"
			}
			far = append(far, s)
			continue
		}
		study, _, err := kb.study(ctx, k.Name, -1)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	for _, r := range prune.Rank(prune.NewKnowledge(space, self.goal(), studies), spreadOf(trials, comparedTrials)) {
		s := similarStudy{Study: r.Study, Correlation: finiteOrNil(r.Correlation), Points: r.Points, Trials: r.Trials}
		switch {
		case r.Err != nil:
			s.Trials, s.Reason = kb.known[r.Study].Told, forPeople(r.Err)
		case s.Correlation == nil && r.Points < 3:
			s.Reason = fmt.Sprintf("%d trials of %s are too few", r.Points, name)
		case s.Correlation == nil:
			s.Reason = "no correlation: all outcomes are equal at these points"
		}
		near = append(near, s)
	}
	all := append(near, far...)
	slices.SortStableFunc(all, func(a, b similarStudy) int { return cmp.Compare(orLess(b.Correlation), orLess(a.Correlation)) })
	return all, nil
}

func orLess(r *float64) float64 {
	if r == nil {
		return math.Inf(-1)
	}
	return *r
}

func finiteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// spreadOf returns n trials in even steps, or all if there are no more.
func spreadOf(trials []assay.Trial, n int) []assay.Trial {
	if len(trials) <= n {
		return trials
	}
	out := make([]assay.Trial, n)
	for i := range out {
		out[i] = trials[i*len(trials)/n]
	}
	return out
}
