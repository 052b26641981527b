package prune

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay"
)

// Options are the options of [New].
type Options struct {
	// Alpha is the aggressiveness of Algorithm 1, in (0, 1). It removes values with which the most similar study never got
	// within 1 - Alpha of the way from its best to its worst outcome. 0 means [SuggestAlpha] for each study.
	Alpha float64
	// MaxAlpha limits the automatic one; in [0, 1), where 0 means 0.9.
	MaxAlpha float64
	// Threshold is the least correlation that a study must have; in [0, 1), where
	// 0 means 0.5. It must also be positive beyond chance, see [New].
	Threshold float64
	// Least is the number of trials of that study that a value must have to be removed; 0 means 3, since one bad trial may
	// be due to the other parameters, and 1 by the published rule.
	Least int
	// Rule selects the safeguards in addition to Algorithm 1: see [New].
	Rule Rule
	// Surrogate is the surrogate of both the earlier and the running study, which are then compared as by [RankBy]. None
	// means the comparison of [Rank], or, by the published rule, Nearest.
	Surrogate Surrogate
	// Keep are values that are never removed.
	Keep []Kept
}

// A Kept is a value that is held back, in the text of [assay.Param.Text]; a value
// of a parameter that is cut by bins stands for its bin.
type Kept struct{ Param, Value string }

const (
	// The defaults of Options.Threshold and Options.Least.
	leastCorrelation = 0.5
	leastWitnesses   = 3
)

// ErrNotNarrower is the error of [New] for a searcher that cannot leave out values.
var ErrNotNarrower = errors.New("the searcher is no assay.Narrower")

// A Pruner is a searcher whose space shrinks by the results of earlier studies. Make one with [New].
//
// Invariant: inner is narrowed to the predicate of limit, as of the last Ask. cuts adds up to limit: each cell that is
// cut was removed once more than it was restored.
type Pruner struct {
	inner  assay.Searcher                     // searches the rest of the space
	narrow func(keep func(assay.Config) bool) // of inner
	base   *base                              // compares the studies
	limit  *limit                             // the cut cells
	opts   Options
	kept   [][]bool                   // by parameter and cell
	cuts   []assay.Pruned             // in the order in which they were made
	alpha  []float64                  // by source, once it was needed; NaN before
	told   int                        // trials that the limit has been made for
	asked  assay.Ledger[assay.Config] // outstanding proposals
	free   bool                       // the space stays whole from now on
	empty  bool                       // nothing is left of it, by the published rule
}

var (
	_ assay.Searcher = (*Pruner)(nil)
	_ assay.Observer = (*Pruner)(nil)
	_ assay.Masker   = (*Pruner)(nil)
)

// New returns inner in a space that shrinks (Silva et al. 2018, §3.3-3.6). At the first Ask after new trials it
// compares the running study with every earlier one (see [Rank]). It uses the most similar study if its correlation
// reaches the threshold and is positive at the level 0.05. It removes the values that Algorithm 1 selects: values with
// which every trial of that study is worse than
//
//	best + (1 - alpha)·(worst - best).
//
// Three kinds of values stay, so that the space is never empty: values that this study tried less than Options.Least
// times, values in Options.Keep, and values of the running study's own best trial. Parameters with more than 32 values,
// and continuous ones, are cut in 16 bins of equal width on their search scale.
//
// The rule [Published] is the algorithm as printed: one trial is enough to remove a value, the values of the best trial
// are not exempt, a correlation that reaches the threshold need not be positive beyond chance, surrogates of both
// studies are compared, nothing is restored, and the search ends when inner has proposed all remaining configurations.
// The other safeguards belong to the rule [Guarded].
//
// The values that a study removed are restored when its correlation falls below the threshold or is undefined. A single
// value is restored when the best trial has it, and all values when inner has proposed all remaining configurations.
// Every removal and return is a Cut.
//
// A Pruner is an [assay.Observer] even if inner is not, and passes the trials on if it is. It is no [assay.Narrower]:
// the limit of inner is its own.
//
// New returns an error that matches [ErrNotNarrower] if inner is no Narrower, and one for a value of Options.Keep that
// the space does not have. It panics if a number of the options is out of range.
func New(inner assay.Searcher, k *Knowledge, opts Options) (*Pruner, error) {
	opts = opts.checked()
	narrower, ok := assay.As[assay.Narrower](inner)
	if !ok {
		return nil, ErrNotNarrower
	}
	space := k.space
	p := &Pruner{
		inner: inner, narrow: narrower.Narrow,
		base: newBase(k, opts.Surrogate), limit: newLimit(space), opts: opts,
	}
	for i := range space.Params {
		p.kept = append(p.kept, make([]bool, p.limit.cells[i].n))
	}
	for _, v := range opts.Keep {
		i := space.Index(v.Param)
		if i < 0 {
			return nil, fmt.Errorf("no parameter %q to keep a value of", v.Param)
		}
		x, err := space.Params[i].Parse(v.Value)
		if err != nil {
			return nil, fmt.Errorf("value to keep: %w", err)
		}
		p.kept[i][p.limit.cells[i].of(x)] = true
	}
	for range p.base.sources {
		p.alpha = append(p.alpha, math.NaN())
	}
	return p, nil
}

// checked returns the options with their defaults. It panics if one is out of range.
func (opts Options) checked() Options {
	if !(opts.Alpha >= 0 && opts.Alpha < 1) || !(opts.MaxAlpha >= 0 && opts.MaxAlpha < 1) ||
		!(opts.Threshold >= 0 && opts.Threshold < 1) || opts.Least < 0 {
		panic(fmt.Sprintf("prune: alpha %v, at most %v, threshold %v", opts.Alpha, opts.MaxAlpha, opts.Threshold))
	}
	if opts.Threshold == 0 {
		opts.Threshold = leastCorrelation
	}
	if opts.Least == 0 {
		opts.Least = leastWitnesses
		if opts.Rule == Published {
			opts.Least = 1
		}
	}
	if opts.Rule == Published && opts.Surrogate == NoSurrogate {
		opts.Surrogate = Nearest
	}
	return opts
}

// Cuts returns every removal and return so far, in order. The slice is the caller's.
func (p *Pruner) Cuts() []assay.Pruned { return slices.Clone(p.cuts) }

// Keeps reports whether a configuration is in the space as it is now.
func (p *Pruner) Keeps(c assay.Config) bool {
	keep := p.limit.keep()
	return keep == nil || keep(c)
}

// Unwrap implements [assay.Unwrapper].
func (p *Pruner) Unwrap() assay.Searcher { return p.inner }

// Hides implements [assay.Masker].
func (p *Pruner) Hides(ability any) bool {
	_, narrower := ability.(*assay.Narrower)
	return narrower
}

// Ask implements [assay.Searcher]. It ends when inner does in the whole space.
func (p *Pruner) Ask(n int) ([]assay.Proposal, error) {
	p.update()
	if p.empty {
		return nil, assay.ErrDone
	}
	ps, err := p.inner.Ask(n)
	if errors.Is(err, assay.ErrDone) && !p.free && p.opts.Rule != Published && p.limit.keep() != nil {
		// free comes before the second Ask, so that this happens once at most.
		p.free = true
		p.restore(func(int, int) bool { return true }, "nothing is left to propose in the smaller space")
		p.narrow(nil)
		ps, err = p.inner.Ask(n)
	}
	for _, q := range ps {
		p.asked.Enter(q, q.Config)
	}
	return ps, err
}

// Tell implements [assay.Searcher].
func (p *Pruner) Tell(trials ...assay.Trial) error {
	if err := p.inner.Tell(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		// The configuration that was proposed counts, not the trial's. inner has accepted the trials, so that each was
		// outstanding here too.
		t.Config = p.asked.Take(t.ID)
		p.base.learn(t)
	}
	return nil
}

// Observe implements [assay.Observer]; it passes the trials on if inner is an Observer.
func (p *Pruner) Observe(trials ...assay.Trial) error {
	for _, t := range trials {
		if !t.State.Final() {
			return fmt.Errorf("an observed trial is %v", t.State)
		}
		if len(t.Config) != p.base.space.Dim() {
			return fmt.Errorf("an observed trial has %d coordinates for %d parameters", len(t.Config), p.base.space.Dim())
		}
	}
	// inner comes first: if it refuses the trials, the base has not learned them either.
	if o, ok := assay.As[assay.Observer](p.inner); ok {
		if err := o.Observe(trials...); err != nil {
			return err
		}
	}
	p.base.learn(trials...)
	return nil
}

// update brings the limit up to date with the trials. Values are restored before others are removed: a study that is no
// longer similar releases its removals before another study applies its own. Nothing happens without a new trial, so
// that Ask can be repeated.
func (p *Pruner) update() {
	if p.free || len(p.base.trials) == p.told {
		return
	}
	p.told = len(p.base.trials)
	before := len(p.cuts)
	published := p.opts.Rule == Published
	if !published {
		p.restoreContradicted()
	}
	if at, r := p.base.mostSimilar(); at >= 0 && r >= p.opts.Threshold && (published || surely(r, len(p.base.trials))) {
		p.cut(at, r)
	}
	if len(p.cuts) > before {
		if p.empty = published && !p.leaves(); !p.empty {
			p.narrow(p.limit.keep())
		}
	}
}

// leaves reports whether a configuration is left, as far as the common points and the
// earlier trials show: cuts of several studies together may leave none.
func (p *Pruner) leaves() bool {
	keep := p.limit.keep()
	if slices.ContainsFunc(p.base.pair.common.points, keep) {
		return true
	}
	for _, s := range p.base.sources {
		for _, t := range s.trials {
			if keep(t.Config) && p.base.space.Contains(t.Config) {
				return true
			}
		}
	}
	return false
}

// restoreContradicted restores the removals of studies that are no longer similar, and the values of the running
// study's best trial. The paper's algorithm never restores, so that a wrong removal costs the whole search.
func (p *Pruner) restoreContradicted() {
	for i := range p.base.sources {
		if !p.limit.cutBy(i) {
			continue
		}
		r, _ := p.base.correlation(i)
		if r >= p.opts.Threshold {
			continue
		}
		why := fmt.Sprintf("the correlation fell to %.2f, below %.2f", r, p.opts.Threshold)
		if math.IsNaN(r) {
			why = "the correlation is undefined"
		}
		p.restore(func(k, cell int) bool { return p.limit.by[k][cell] == i }, why)
	}
	if p.base.found {
		p.restore(func(k, cell int) bool { return p.limit.cells[k].of(p.base.best.Config[k]) == cell },
			"the best trial has it")
	}
}

// restore returns the cells that are cut and chosen, with one Cut for each parameter and
// study, in a fixed order: a record of equal trials is the same.
func (p *Pruner) restore(chosen func(param, cell int) bool, why string) {
	for k := range p.limit.by {
		sets := map[int][]int{}
		for cell, by := range p.limit.by[k] {
			if by != still && chosen(k, cell) {
				sets[by] = append(sets[by], cell)
				p.limit.by[k][cell] = still
			}
		}
		for _, i := range slices.Sorted(maps.Keys(sets)) {
			p.record(k, sets[i], i, why, true)
		}
	}
}

// cut removes the values that Algorithm 1 selects by the source at, except values of Options.Keep, values of the best
// trial, and values already cut.
func (p *Pruner) cut(at int, r float64) {
	s := p.base.sources[at]
	alpha, note := p.alphaOf(at)
	for k, gone := range s.hopeless(s.threshold(alpha), p.opts.Least, p.limit.cells) {
		var set []int
		for cell, g := range gone {
			mine := p.opts.Rule != Published && p.base.found && p.limit.cells[k].of(p.base.best.Config[k]) == cell
			if g && !mine && !p.kept[k][cell] && p.limit.by[k][cell] == still {
				set = append(set, cell)
				p.limit.by[k][cell] = at
			}
		}
		if set == nil {
			continue
		}
		why := fmt.Sprintf("no earlier trial reached %.0f %% of the way from the worst to the best", 100*alpha)
		if note != "" {
			why += " (fixed: " + note + ")"
		}
		p.record(k, set, at, why, false)
	}
}

// alphaOf returns the aggressiveness for a source, and why it is the fixed one.
func (p *Pruner) alphaOf(at int) (alpha float64, note string) {
	if p.opts.Alpha > 0 {
		return p.opts.Alpha, ""
	}
	s := p.base.sources[at]
	if math.IsNaN(p.alpha[at]) {
		a, why := SuggestAlpha(p.base.space, s.trials, p.opts.MaxAlpha)
		p.alpha[at] = a
		if why != "" {
			s.note = why
		}
	}
	return p.alpha[at], s.note
}

// record adds a Cut of a set of cells of one parameter, in ascending order, for the source at. It is called after limit
// has changed. Its correlation is the current one, which for a return differs from the one of the removal.
func (p *Pruner) record(param int, set []int, at int, why string, restored bool) {
	s := p.base.sources[at]
	r, _ := p.base.correlation(at)
	if math.IsNaN(r) {
		r = 0 // a record has no NaN; the reason explains it
	}
	alpha, _ := p.alphaOf(at)
	p.cuts = append(p.cuts, assay.Pruned{
		Param: p.base.space.Params[param].Name, Values: p.limit.cells[param].texts(set), Study: s.name,
		Correlation: r, Alpha: alpha, Threshold: s.threshold(alpha), Restored: restored, Reason: why,
	})
}
