package prior

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/internal/report"
)

// This file ranks studies for people (assay study similar). The nearest by their fingerprints are compared trial by
// trial, the others by the fingerprints alone: reading the trials of all would take too long with a large record.

// Both bound the time of one ranking.
const (
	comparedTrials  = 200 // of the study that others are compared with
	comparedStudies = 20  // that are compared trial by trial
)

// A Similar is another study beside one of them: one line of `assay study similar --json`: a contract. Points is at how
// many configurations the two were compared. Trials is how many the other study has. A correlation is in [-1, 1].
type Similar struct {
	Study       string   `json:"study"`
	Correlation *float64 `json:"correlation"` // null if undefined
	Estimate    bool     `json:"estimate"`    // from the fingerprints, not from the trials
	Points      int      `json:"points"`
	Trials      int      `json:"trials"`
	Reason      string   `json:"reason,omitempty"` // why it cannot serve, or has no correlation
}

// Serves reports whether the two studies were compared: there is a correlation.
func (s Similar) Serves() bool { return s.Correlation != nil }

// WriteSimilar writes similar studies as a table. Without every, those that cannot be compared are only counted.
func WriteSimilar(all []Similar, every bool, w io.Writer, p report.Palette) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "there is no other study to compare with")
		return err
	}
	t := report.NewTable(p, "study", ">correlation", ">points", ">trials", "")
	unlike := 0
	for _, s := range all {
		if !s.Serves() && !every {
			unlike++
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
	if t.Len() > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	if unlike == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%d that cannot be compared with it: --all has the reasons\n", unlike)
	return err
}

// Similar ranks the other studies by how alike they are to the one of that name, the most alike first, those without a
// correlation last. It returns an error that matches fs.ErrNotExist if there is no such study. A study with a flaw is
// listed with its reason, last, and is no error. The flaw of the study itself is one, of the class usage. Equal
// correlations keep the order in which the studies were looked at.
func (kb *Base) Similar(ctx context.Context, name string) ([]Similar, error) {
	self := kb.studies[name]
	if self == nil {
		return nil, fmt.Errorf("study %q: %w", name, fs.ErrNotExist)
	}
	if self.Flaw != "" {
		return nil, assay.Errorf(assay.ClassUsage, "%s cannot be compared: %s", name, self.Flaw)
	}
	trials, _, err := kb.trials(ctx, name, -1)
	if err != nil {
		return nil, err
	}
	space, err := assay.NewSpace(self.Params)
	if err != nil {
		return nil, err
	}
	var near []Similar
	order, far := kb.comparable(name, space)
	// Studies with other ranges have no estimate and are compared in any case.
	estimate := map[*entry]float64{}
	for _, k := range order {
		// It is above any correlation, so that these come first.
		estimate[k] = 2
		if r := printCorrelation(self, k); !math.IsNaN(r) {
			estimate[k] = r
		}
	}
	if len(order) > comparedStudies {
		slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Compare(estimate[b], estimate[a]) })
	}
	var studies []prune.Study
	for i, k := range order {
		if i >= comparedStudies {
			far = append(far, estimated(self, k))
			continue
		}
		study, _, err := kb.study(ctx, k.Name, -1)
		if err != nil {
			return nil, err
		}
		studies = append(studies, study)
	}
	for _, r := range prune.Rank(prune.NewKnowledge(space, self.goal(), studies), spreadOf(trials, comparedTrials)) {
		near = append(near, kb.compared(r, name))
	}
	all := append(near, far...)
	slices.SortStableFunc(all, func(a, b Similar) int {
		return cmp.Compare(orLess(b.Correlation), orLess(a.Correlation))
	})
	return all, nil
}

// compared returns a study that was compared with the named one at their trials.
func (kb *Base) compared(r prune.Similarity, name string) Similar {
	s := Similar{Study: r.Study, Correlation: finiteOrNil(r.Correlation), Points: r.Points, Trials: r.Trials}
	switch {
	case r.Err != nil:
		s.Trials, s.Reason = kb.studies[r.Study].Told, r.Err.Error()
	case s.Correlation == nil && r.Points < 3:
		s.Reason = fmt.Sprintf("%d trials of %s are too few", r.Points, name)
	case s.Correlation == nil:
		s.Reason = "no correlation: all outcomes are equal at these points"
	}
	return s
}

// comparable returns the other studies that fit a study by their definitions, and the rest with the reasons.
func (kb *Base) comparable(name string, space *assay.Space) (fit []*entry, unfit []Similar) {
	goal := kb.studies[name].goal()
	for _, other := range slices.Sorted(maps.Keys(kb.studies)) {
		k := kb.studies[other]
		switch {
		case other == name:
		case k.Flaw != "":
			unfit = append(unfit, Similar{Study: other, Trials: k.Told, Reason: k.Flaw})
		default:
			if err := prune.Fits(space, goal, prune.Study{Params: k.Params, Goal: k.goal()}); err != nil {
				unfit = append(unfit, Similar{Study: other, Trials: k.Told, Reason: err.Error()})
				continue
			}
			fit = append(fit, k)
		}
	}
	return fit, unfit
}

// estimated ranks a study by its fingerprint alone.
func estimated(self, k *entry) Similar {
	r := printCorrelation(self, k)
	s := Similar{Study: k.Name, Correlation: finiteOrNil(r), Estimate: true, Points: len(k.Print), Trials: k.Told}
	if math.IsNaN(r) {
		s.Estimate, s.Points, s.Reason = false, 0, "not compared: too many studies with other ranges"
	}
	return s
}

// orLess orders a missing correlation behind all others.
func orLess(r *float64) float64 {
	if r == nil {
		return math.Inf(-1)
	}
	return *r
}

// JSON has no NaN: a correlation that does not exist is null.
func finiteOrNil(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// spreadOf returns n trials in even steps, or all if there are no more. The first is among them. Even steps cover the
// whole study, whose first trials are a searcher's initial design and its last are near the best. The result may be the
// slice itself, and is not to be changed.
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
