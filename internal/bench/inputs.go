package bench

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// This file reads the inputs of a comparison from the texts that a command line gives: methods, numbers, and studies of
// recorded tables. Every error is of the class usage.

// Items yields the items of a comma-separated list.
func Items(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

// Numbers returns the numbers of a comma-separated list, each of which is as wanted; errors name the flag.
func Numbers(flag, text, want string, is func(float64) bool) ([]float64, error) {
	var xs []float64
	for item := range Items(text) {
		x, err := strconv.ParseFloat(item, 64)
		if err != nil || !is(x) {
			return nil, assay.Errorf(assay.ClassUsage, "--%s %s: not %s", flag, item, want)
		}
		xs = append(xs, x)
	}
	return xs, nil
}

// Budgets returns the budgets of three lists, at least one of which has an item: numbers of trials, multiples of the
// median run time, and times.
func Budgets(trials, multiples, times string) ([]Budget, error) {
	var bs []Budget
	for text := range Items(trials) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, assay.Errorf(assay.ClassUsage, "--trials %s: not a number of trials", text)
		}
		bs = append(bs, Budget{Kind: "trials", Value: float64(n), Trials: n})
	}
	xs, err := Numbers("budget-x", multiples, "a positive number", func(x float64) bool { return x > 0 && x <= 1e9 })
	if err != nil {
		return nil, err
	}
	for _, x := range xs {
		bs = append(bs, Budget{Kind: "budget-x", Value: x})
	}
	for text := range Items(times) {
		d, err := spec.ParseDuration(text)
		if err != nil || d <= 0 {
			return nil, assay.Errorf(assay.ClassUsage, "--budget %s: not a duration such as 90s or 10m", text)
		}
		bs = append(bs, Budget{Kind: "budget", Value: d.Seconds(), Time: d})
	}
	if len(bs) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "a budget is needed: --trials, --budget-x or --budget")
	}
	return bs, nil
}

// Methods returns the methods of a comma-separated list of names.
func Methods(text string) ([]Method, error) {
	var ms []Method
	for name := range Items(text) {
		m, err := setup.MethodOf(name)
		if err != nil {
			return nil, err
		}
		ms = append(ms, Method{
			Name: name,
			New: func(p *Problem, seed uint64) (assay.Searcher, assay.Stopper, error) {
				budget := spec.Budget{Time: p.Time}
				if p.ByTrials {
					budget.Trials = 1 // any number means that trials count
				}
				return m.Make(p.Space, p.Goal, seed, budget)
			},
		})
	}
	if len(ms) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "no method is given: --methods rs,auto")
	}
	return ms, nil
}

// A Source is a file of a study of a recorded table.
type Source struct {
	File string
	For  string       // the command that reads it, for errors
	Warn func(string) // called with each warning about the file; nil for none
}

// Study reads the definition. A study of a command is an error.
func (s Source) Study() (*spec.Study, error) {
	def, warnings, err := spec.Load(s.File, nil)
	if err != nil {
		return nil, err
	}
	for _, text := range warnings {
		if s.Warn != nil {
			s.Warn(text)
		}
	}
	if def.Mode() != spec.ModeTable {
		return nil, assay.Errorf(assay.ClassUsage, "%s: %s needs a recorded table (replay:), not a command", s.File, s.For)
	}
	return def, nil
}

// Table reads the definition and the table.
func (s Source) Table() (*setup.Problem, error) {
	def, err := s.Study()
	if err != nil {
		return nil, err
	}
	return setup.New(def, setup.Options{})
}

// Problems returns the problem of the source once for each percentile of each limit (METRIC@P,...; + joins limits), or
// as it is without limits.
func (s Source) Problems(limits []string) ([]Problem, error) {
	some, err := s.limited(limits)
	if err != nil {
		return nil, err
	}
	var all []Problem
	for _, l := range some {
		p, err := Recorded(l.Name()+l.suffix, l.Table, l.Space, l.Goal, l.Interval(), spec.Grows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.File, err)
		}
		all = append(all, *p)
	}
	return all, nil
}

// Problems returns the problems of several files; see [Source.Problems].
func Problems(warn func(string), command string, files, limits []string) ([]Problem, error) {
	var all []Problem
	for _, file := range files {
		some, err := Source{File: file, For: command, Warn: warn}.Problems(limits)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Tables returns the problems of several files, as they are, with their tables.
func Tables(warn func(string), command string, files []string) (ps []Problem, tables []*table.Table, err error) {
	for _, file := range files {
		l, err := Source{File: file, For: command, Warn: warn}.Table()
		if err != nil {
			return nil, nil, err
		}
		p, err := Recorded(l.Name(), l.Table, l.Space, l.Goal, l.Interval(), spec.Grows)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		ps, tables = append(ps, *p), append(tables, l.Table)
	}
	return ps, tables, nil
}
