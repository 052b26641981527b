package setup

import (
	"context"
	"fmt"
	"iter"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/spec"
)

// This file makes the cost model a searcher: its options, and the model learned from a record.

// declareNIMO declares the active learner of a cost model. Its options are the fields of costmodel.Options; method
// published has the alternatives of Table 1.
func declareNIMO(f *fields) newSearcher {
	options := f.costmodel()
	return func(space *assay.Space, seed uint64) (assay.Searcher, error) {
		for _, p := range space.Params {
			if p.Kind == assay.Permutation || p.When != nil {
				return nil, usagef("search %s: parameter %s: an attribute of a cost model is neither an order nor "+
					"in force under a condition", LearningSearcher, p.Name)
			}
		}
		o, err := options(space, seed)
		if err != nil {
			return nil, err
		}
		return costmodel.NewActiveLearner(space, o), nil
	}
}

// costmodel declares the options of a cost model. The function that it returns may be called more than once; its
// error is the first flaw, which includes an option that does not fit the space.
func (f *fields) costmodel() func(space *assay.Space, seed uint64) (costmodel.Options, error) {
	o, published := costmodel.Options{}, &costmodel.Published{}
	method, cores := "auto", ""
	f.number("target", &o.Target, 0.01, 1000)
	f.int("runs", &o.MinRuns, 1, 1_000_000)
	f.word("method", &method, "auto", "published")
	oneOf(f, "regression", &o.Regression, costmodel.Best, costmodel.Linear, costmodel.Pairs, costmodel.Smooth,
		costmodel.Process, costmodel.Trees)
	// The options that are declared from here to the next use of all belong to method published.
	all := len(f.options)
	oneOf(f, "reference", &published.Reference, costmodel.Min, costmodel.Max, costmodel.Rand)
	oneOf(f, "traversal", &published.Traversal, costmodel.RoundRobin, costmodel.Improvement, costmodel.Dynamic)
	oneOf(f, "design", &published.Design, costmodel.LMaxI1, costmodel.L2I2, costmodel.LMaxIMax, costmodel.LMaxI2)
	oneOf(f, "error", &published.Error, costmodel.CrossValidation, costmodel.RandomSet, costmodel.DesignedSet)
	f.number("threshold", &published.Threshold, 0, 1000)
	f.list("predictors", "parts of the model, with commas", func(item string) error {
		part, err := costmodel.ParsePart(item)
		published.Predictors = append(published.Predictors, part)
		return err
	})
	names := &attributeNames{}
	f.orders(published, names)
	f.bool("known_data_flow", &published.KnownDataFlow)
	f.bool("train_on_screening", &published.TrainOnScreening)
	f.list("reciprocal", attributesTake, func(item string) error {
		published.Reciprocal = append(published.Reciprocal, item)
		return names.add("reciprocal", item)
	})
	if method == "published" {
		o.Published = published
		if f.given("regression") {
			f.flaw("regression", "method: published has linear regression alone")
		}
	} else {
		for _, option := range f.options[all:] {
			if f.given(option.Key) {
				f.flaw(option.Key, "it is an option of method: published")
			}
		}
	}
	f.list("less_is_more", attributesTake, func(item string) error {
		o.LessIsMore = append(o.LessIsMore, item)
		return names.add("less_is_more", item)
	})
	f.text("cores", "the name of a parameter", &cores)
	emulated := f.def.Workbench != nil && !f.def.Workbench.Passive
	return func(space *assay.Space, seed uint64) (costmodel.Options, error) {
		if cores == "" && emulated && space.Index("cpu") >= 0 {
			cores = "cpu"
		}
		if cores != "" && space.Index(cores) < 0 {
			f.flaw("cores", "there is no parameter %q", cores)
		}
		names.check(f, space)
		o.Seed, o.Cores = seed, cores
		return o, f.err
	}
}

// attributesTake describes the value of a list of attributes.
const attributesTake = "names of parameters, with commas"

// attributeNames are the parameters that options name, which a space has to have.
// The two slices run in parallel: keys[i] is the option that named names[i]. The check waits
// for the space, which is not known when options are declared.
type attributeNames struct{ keys, names []string }

// add returns no error: it has the result that a list's read needs.
func (a *attributeNames) add(key, name string) error {
	a.keys, a.names = append(a.keys, key), append(a.names, name)
	return nil
}

// check finds a flaw in the first option that names no parameter of the space.
func (a *attributeNames) check(f *fields, space *assay.Space) {
	for i, name := range a.names {
		if space.Index(name) < 0 {
			f.flaw(a.keys[i], "there is no parameter %q", name)
		}
	}
}

// orders declares the total order of the attributes of each predictor (Table 1).
func (f *fields) orders(p *costmodel.Published, names *attributeNames) {
	for _, part := range []costmodel.Part{
		costmodel.Compute, costmodel.Network, costmodel.Disk, costmodel.Other, costmodel.DataFlow,
	} {
		key := part.String() + "_attributes"
		f.list(key, attributesTake, func(item string) error {
			if p.Attributes == nil {
				p.Attributes = map[costmodel.Part][]string{}
			}
			p.Attributes[part] = append(p.Attributes[part], item)
			return names.add(key, item)
		})
	}
}

// A Reader is the part of a store that [Learned] needs: no lock, and no right to write.
type Reader interface {
	Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error]
}

// Learned returns the cost model that the searcher nimo learns from the record of a study: each of its runs is a
// measurement of its configuration. If nimo ran the study, the options are the same, and there is an error curve. The
// events are read once, in their order. Checks count as measurements too.
func Learned(ctx context.Context, r Reader, name string, def *spec.Study,
	space *assay.Space,
) (*costmodel.ActiveLearner, error) {
	var trials []assay.Trial
	for e, err := range r.Events(ctx, name, 0) {
		switch {
		case err != nil:
			return nil, err
		case e.Told != nil:
			trials = append(trials, *e.Told)
		case e.Checked != nil:
			trials = append(trials, *e.Checked)
		}
	}
	// The options of another searcher mean nothing here: the learner then has its defaults.
	own := def.Search.Name == LearningSearcher
	f := &fields{def: def, at: "search"}
	if own {
		f.values = def.Search.Options
	}
	opts, err := f.costmodel()(space, def.Search.Seed)
	if err != nil {
		return nil, err
	}
	l := costmodel.NewActiveLearner(space, opts)
	if own {
		var first []assay.Config
		if c, given, err := def.Default(space); err != nil {
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
