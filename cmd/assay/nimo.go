package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/config"
)

// nimo is the name of the searcher that learns a cost model.
const nimo = "nimo"

// nimoKeys are the options of nimo.
func nimoKeys() []string {
	return []string{"target", "runs", "method", "regression", "reference", "traversal", "design", "error", "threshold", "predictors", "cores"}
}

// newNIMO returns the active learner of a cost model. Its options are those of
// costmodel.Options; method published has the alternatives of Table 1.
func newNIMO(space *assay.Space, seed uint64, o *options) (assay.Searcher, error) {
	opts, err := nimoOptions(space, seed, o)
	if err != nil {
		return nil, err
	}
	return costmodel.NewActiveLearner(space, opts), nil
}

func nimoOptions(space *assay.Space, seed uint64, o *options) (costmodel.Options, error) {
	opts := costmodel.Options{
		Target: o.number("target", 0, 0.01, 1000), MinRuns: o.int("runs", 0, 1, 1_000_000), Seed: seed,
		Regression: choice(o, "regression", costmodel.Best, costmodel.Linear, costmodel.Pairs, costmodel.Smooth, costmodel.Process, costmodel.Trees),
	}
	if o.st.Workbench != nil && !o.st.Workbench.Passive && space.Index("cpu") >= 0 {
		opts.Cores = "cpu"
	}
	if name := o.text("cores", opts.Cores); name != "" && space.Index(name) < 0 {
		o.flaw("cores", "there is no parameter %q", name)
	} else {
		opts.Cores = name
	}
	published := &costmodel.Published{
		Reference: choice(o, "reference", costmodel.Min, costmodel.Max, costmodel.Rand),
		Traversal: choice(o, "traversal", costmodel.RoundRobin, costmodel.Improvement, costmodel.Dynamic),
		Design:    choice(o, "design", costmodel.LMaxI1, costmodel.L2I2, costmodel.LMaxIMax, costmodel.LMaxI2),
		Error:     choice(o, "error", costmodel.CrossValidation, costmodel.RandomSet, costmodel.DesignedSet),
		Threshold: o.number("threshold", 0, 0, 1000),
	}
	for name := range items(strings.Trim(o.text("predictors", ""), "[]")) {
		p, err := costmodel.ParsePart(name)
		if err != nil {
			o.flaw("predictors", "%v", err)
		}
		published.Predictors = append(published.Predictors, p)
	}
	switch method := o.text("method", "auto"); method {
	case "auto":
		for _, key := range []string{"reference", "traversal", "design", "error", "threshold", "predictors"} {
			if _, ok := o.m[key]; ok {
				o.flaw(key, "it is an option of method: published")
			}
		}
	case "published":
		opts.Published = published
	default:
		o.flaw("method", "%q is neither auto nor published", method)
	}
	return opts, o.err
}

// choice reads an option that is the text of one of the values, of which the
// first is the default.
func choice[T fmt.Stringer](o *options, key string, all ...T) T {
	text := o.text(key, all[0].String())
	var known []string
	for _, v := range all {
		if v.String() == text {
			return v
		}
		known = append(known, v.String())
	}
	o.flaw(key, "%q is none of %s", text, strings.Join(known, ", "))
	return all[0]
}

// learnedFrom returns what nimo has learned from the record of a study: each of its runs
// is a measurement of its configuration. If it was nimo that ran the study, the options
// are the same, and there is an error curve.
func learnedFrom(ctx context.Context, h *storeHandle, name string, st *config.Study, space *assay.Space) (*costmodel.ActiveLearner, error) {
	var trials []assay.Trial
	for e, err := range h.Events(ctx, name, 0) {
		switch {
		case err != nil:
			return nil, err
		case e.Told != nil:
			trials = append(trials, *e.Told)
		case e.Checked != nil:
			trials = append(trials, *e.Checked)
		}
	}
	own := st.Search.Name == nimo
	o := &options{st: st, at: "search"}
	if own {
		o.m = st.Search.Options
	}
	opts, err := nimoOptions(space, st.Search.Seed, o)
	if err != nil {
		return nil, err
	}
	l := costmodel.NewActiveLearner(space, opts)
	if own {
		var first []assay.Config
		if c, given, err := st.Default(space); err != nil {
			return nil, err
		} else if given {
			first = []assay.Config{c}
		}
		l, err = costmodel.Recall(space, opts, first, trials)
	} else {
		err = l.Observe(trials...)
	}
	if err != nil {
		return nil, fmt.Errorf("study %q: %w", name, err)
	}
	return l, nil
}

// partsOf returns the shares of a predicted time by what limits the program, the
// largest first.
func partsOf(p costmodel.Prediction) []part {
	parts := []part{{"compute", p.Compute}, {"network", p.Network}, {"disk", p.Disk}}
	switch p.Split {
	case costmodel.SplitNone:
		return nil
	case costmodel.SplitStall:
		parts = []part{{"compute", p.Compute}, {"stall", p.Network + p.Disk}}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.seconds, a.seconds) })
	return parts
}

type part struct {
	name    string
	seconds float64
}
