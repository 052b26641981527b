package setup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/spec"
)

// Searchers returns the table of searchers, in the order in which they are listed for
// people. Each call makes the rows anew: the caller owns them, as with all tables here.
func Searchers() []Row {
	return rows(searchers(), func(s searcher) Row {
		f := &fields{def: &spec.Study{}, at: "search"}
		s.declare(f)
		return Row{s.name, s.summary, f.options}
	})
}

// Stoppers returns the table of stopping rules.
func Stoppers() []Row {
	return rows(stoppers(), func(s stopper) Row {
		f := &fields{def: &spec.Study{}, at: "stop"}
		s.options(f)
		return Row{s.name, s.summary, f.options}
	})
}

// Learners returns the table of learners of the searcher bayes.
func Learners() []Row {
	return rows(learners(), func(l learner) Row { return Row{Name: l.name, Summary: l.summary} })
}

// Runners returns the table of runners.
func Runners() []Row {
	return rows(runners(), func(r runner) Row { return Row{Name: r.name, Summary: r.summary} })
}

// Stores returns the table of stores, by the schemes of their addresses.
func Stores() []Row {
	return rows(stores(), func(s storeKind) Row { return Row{Name: s.scheme, Summary: s.summary} })
}

// Names returns the names of rows.
func Names(table []Row) []string { return names(table, func(r Row) string { return r.Name }) }

// rows returns the public form of a table, in its order.
func rows[T any](table []T, row func(T) Row) []Row {
	out := make([]Row, len(table))
	for i, t := range table {
		out[i] = row(t)
	}
	return out
}

// names returns the names of a table, in its order.
func names[T any](table []T, name func(T) string) []string {
	out := make([]string, len(table))
	for i, t := range table {
		out[i] = name(t)
	}
	return out
}

// list writes the names of rows.
func list(table []Row) string { return strings.Join(Names(table), ", ") }

// find returns the row of that name.
// Without one, row is the zero value. Tables are short: the search is linear.
func find[T any](table []T, name string, nameOf func(T) string) (row T, ok bool) {
	i := slices.IndexFunc(table, func(t T) bool { return nameOf(t) == name })
	if i < 0 {
		return row, false
	}
	return table[i], true
}

// An estimator reduces the values of repeated runs to one.
type estimator struct {
	name   string
	reduce func([]float64) float64
	exact  bool // two runs can be ordered by it
}

// estimators is the table of estimators: --estimator, and repeat.estimator of a study file. The first is the default.
func estimators() []estimator {
	return []estimator{
		{"min", slices.Min[[]float64], true},
		{"median", stats.Median, false},
		{"mean", stats.Mean, false},
	}
}

// estimatorOf returns the estimator of a study, which has been checked.
func estimatorOf(r spec.Repeat) estimator {
	e, _ := find(estimators(), cmp.Or(r.Estimator, estimators()[0].name), func(e estimator) string { return e.name })
	return e
}

// repeated returns s with its proposals run more than once, if the study has repeat. With runs: auto, a configuration
// runs until its runs differ from the best: 2 to 10 times for minima, and 4 to 12 times for medians and
// means, whose rank test needs 4.
func repeated(s assay.Searcher, r spec.Repeat) assay.Searcher {
	e := estimatorOf(r)
	switch {
	case r.Auto && e.exact:
		return search.Adaptive(s, search.AdaptiveOptions{Reduce: e.reduce})
	case r.Auto:
		return search.Adaptive(s, search.AdaptiveOptions{Min: 4, Max: 12, Reduce: e.reduce, Settled: search.Shift(0.9)})
	case r.Runs > 1:
		return search.Replicate(s, r.Runs, e.reduce)
	}
	return s
}
