package search

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/model"
)

// FrontOptions are the options of [NewFront].
type FrontOptions struct {
	// Seed decides the initial design, the models, random candidates and ties.
	Seed uint64
	// Initial is the Initial of [AutoOptions].
	Initial int
}

// Front is the default search of a study with several objectives: it looks for the Pareto front. Like [Auto] it has
// an initial design, and then three parts propose in turn: random forests and Gaussian processes over the whole
// space, and the forests over the neighbours of the front. Each objective has a model of its own, on the scale of
// [Bayes].
//
// It proposes the configuration with the largest expected hypervolume improvement, which is exact for independent
// normal predictions of two or three objectives. The reference point is in each objective the median of the trials
// that finished, or a tenth of the range of the front beyond its worst end, whichever is worse. Outstanding trials
// count with the expectations of the models, in the models and in the front. Runs that were stopped early are
// censored in every objective; those that failed or broke a limit have the worst value in each.
//
// It reads [assay.Trial].Values; a trial without has its Value as the only objective. Nothing is proposed twice, and
// the search ends with ErrDone.
type Front struct {
	bayes  *Bayes                        // the space, the open configurations, the design and the trials
	opts   FrontOptions                  // of NewFront
	values [][]float64                   // of the trials of bayes, in their order; nil of one without
	lies   map[int64][]float64           // believed values of outstanding proposals, by objective
	turn   int                           // proposals made by models
	memoir memoir[frontStep, frontState] // notes the steps, and repeats recalled ones
}

var (
	_ assay.Narrower = (*Front)(nil)
	_ assay.Observer = (*Front)(nil)
	_ assay.Resumer  = (*Front)(nil)
)

// frontBeside is the number of configurations of the front whose neighbours are scored.
const frontBeside = 4

// NewFront returns a Front searcher.
func NewFront(space *assay.Space, opts FrontOptions) *Front {
	f := &Front{opts: opts, lies: map[int64][]float64{}, bayes: NewBayes(space, BayesOptions{
		Learner: autoForest(opts.Seed, 0), Seed: opts.Seed, Initial: opts.Initial, Censored: true,
	})}
	f.memoir.of = fingerprint("front", space, opts)
	return f
}

// Tell implements [assay.Searcher].
func (f *Front) Tell(trials ...assay.Trial) error {
	configs, err := f.bayes.settled(trials)
	if err != nil {
		return err
	}
	for i, t := range trials {
		delete(f.lies, t.ID)
		delete(f.bayes.lies, t.ID)
		f.learn(configs[i], t)
	}
	return nil
}

// Observe implements [assay.Observer] as [Bayes.Observe] does.
func (f *Front) Observe(trials ...assay.Trial) error {
	b := f.bayes
	if err := b.space.CheckObserved(trials...); err != nil {
		return err
	}
	for _, t := range trials {
		if c, ok := b.space.Member(t.Config); ok {
			b.visit(c)
			b.asked++
			f.learn(c, t)
		}
	}
	return nil
}

// learn adds a trial that has ended.
func (f *Front) learn(c assay.Config, t assay.Trial) {
	values := t.Values
	if values == nil {
		values = []float64{t.Value}
	}
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Value = x // in any state there is no value
		}
	}
	before := len(f.bayes.trials)
	f.bayes.learn(c, t)
	if len(f.bayes.trials) > before {
		f.values = append(f.values, values)
	}
}

// Narrow implements [assay.Narrower] as [Bayes.Narrow] does.
func (f *Front) Narrow(keep func(assay.Config) bool) { f.bayes.Narrow(keep) }

// Ask implements [assay.Searcher]. It returns the errors of [Bayes.Ask].
func (f *Front) Ask(n int) ([]assay.Proposal, error) {
	return f.memoir.ask(f, f.bayes.proposals.Last(), n)
}

// compute implements [resumed].
func (f *Front) compute(n int) ([]assay.Proposal, []frontStep, error) {
	var lies [][]float64
	ps, steps, err := f.bayes.ask(n, func() (assay.Config, float64, error) {
		c, lie, err := f.choose()
		if c != nil {
			f.lies[f.bayes.proposals.Last()+1] = lie
			lies = append(lies, lie)
		}
		return c, math.NaN(), err
	})
	var out []frontStep
	for i, s := range steps {
		out = append(out, frontStep{s.Config, lies[i], s.Spread})
	}
	return ps, out, err
}

// choose returns the next configuration and its believed values, nil without any.
func (f *Front) choose() (assay.Config, []float64, error) {
	b := f.bayes
	if n := b.finished(); b.ready() || n >= 2 && 2*n >= b.opts.Initial {
		switch v, err := f.look(); {
		case err == nil:
			if c, mean := v.choose(); c != nil {
				f.turn++
				return c, v.inverse(mean), nil
			}
		case !errors.Is(err, assay.ErrTooFew):
			return nil, nil, err
		}
	}
	return b.propound(), nil, nil
}

// A view is the state of the trials so far, for one proposal.
type view struct {
	f           *Front            // whose trials it is of
	data        []assay.Data      // of each objective
	scales      []scale           // of the objectives
	models      []assay.Predictor // forests, or processes
	points      [][]float64       // of the finished trials, and of those that are believed, on the scales
	front       []assay.Config    // the finished trials that none beats
	improvement *volume           // over the front of points
	rough       []float64         // deviations that a shortlist is made with
}

// look returns the view of the trials. At least one must have finished.
func (f *Front) look() (*view, error) {
	b := f.bayes
	d := 0
	for i, e := range b.trials {
		if e.state == assay.Done {
			d = len(f.values[i])
			break
		}
	}
	v := &view{f: f, data: make([]assay.Data, d), scales: make([]scale, d)}
	var done [][]float64
	var configs []assay.Config
	for i, e := range b.trials {
		if e.state == assay.Done && len(f.values[i]) == d {
			done, configs = append(done, f.values[i]), append(configs, e.config)
		}
	}
	for _, k := range assay.Front(done) {
		v.front = append(v.front, configs[k])
	}
	for j := range d {
		column := make([]float64, len(done))
		for k, p := range done {
			column[k] = p[j]
		}
		v.scales[j] = newScale(column)
		v.data[j] = f.examples(j, column, v.scales[j])
	}
	for _, p := range done {
		v.points = append(v.points, v.forward(p))
	}
	for id := range b.proposals.Outstanding() {
		if lie := f.lies[id]; len(lie) == d {
			v.points = append(v.points, v.forward(lie))
		}
	}
	return v, v.forests()
}

// examples returns the training set of one objective, as [Bayes.examples] does.
func (f *Front) examples(j int, done []float64, s scale) assay.Data {
	b := f.bayes
	worst, middle := slices.Max(done), stats.Median(done)
	var d assay.Data
	add := func(features []float64, y float64, censored bool) {
		d.X, d.Y, d.Censored = append(d.X, features), append(d.Y, s.forward(y)), append(d.Censored, censored)
	}
	for i, e := range b.trials {
		x := f.values[i]
		switch {
		case len(x) <= j || e.state == assay.Failed || e.state == assay.Infeasible:
			add(e.features, worst, false)
		case e.state == assay.Done:
			add(e.features, x[j], false)
		case s.defined(x[j]):
			add(e.features, x[j], true)
		}
	}
	for id, c := range b.proposals.Outstanding() {
		lie := middle
		if l := f.lies[id]; len(l) > j && s.defined(l[j]) {
			lie = l[j]
		}
		add(b.encode(c), lie, false)
	}
	return d
}

func (v *view) forward(values []float64) []float64 {
	out := make([]float64, len(values))
	for j, x := range values {
		out[j] = v.scales[j].forward(x)
	}
	return out
}

func (v *view) inverse(mean []float64) []float64 {
	out := make([]float64, len(mean))
	for j, x := range mean {
		out[j] = v.scales[j].inverse(x)
	}
	return out
}

// forests makes the first models, and the improvement over the front.
func (v *view) forests() error {
	f := v.f
	v.improve()
	for _, d := range v.data {
		m, err := autoForest(f.opts.Seed, f.bayes.ended).Fit(d)
		if err != nil {
			return fmt.Errorf("surrogate: %w", err)
		}
		v.models = append(v.models, m)
	}
	return nil
}

// improve sets the order of candidates.
func (v *view) improve() {
	d := len(v.scales)
	ref, kinds := make([]float64, d), make([]scaleKind, d)
	var front [][]float64
	for _, k := range assay.Front(v.points) {
		front = append(front, v.points[k])
	}
	for j := range d {
		column := func(points [][]float64) (xs []float64) {
			for _, p := range points {
				xs = append(xs, p[j])
			}
			return xs
		}
		all, ends := column(v.points), column(front)
		span := slices.Max(all) - slices.Min(all)
		lo, hi := slices.Min(ends), slices.Max(ends)
		// The margin counts the ends of the front, and lets a front of one point grow.
		ref[j] = max(stats.Median(all), hi+max((hi-lo)/10, span/50))
		v.rough, kinds[j] = append(v.rough, span/4), v.scales[j].kind
	}
	v.improvement = newVolume(front, ref, kinds)
}

// processes takes Gaussian processes for the models; false if there are none.
func (v *view) processes() bool {
	f := v.f
	var models []assay.Predictor
	for j, d := range v.data {
		g := model.GP{
			Evaluations: processSteps, MaxExamples: processExamples, Ties: f.bayes.space.Ties(), Seed: f.opts.Seed,
		}
		m, err := g.Fit(processData(d, v.models[j], nil))
		if err != nil {
			return false
		}
		models = append(models, m)
	}
	v.models = models
	return true
}

// choose returns the proposal of the part whose turn it is, or of the forests if it has none, and its expected
// values; nil if everything is visited.
func (v *view) choose() (assay.Config, []float64) {
	switch v.f.turn % 3 {
	case 1:
		forests := v.models
		if v.processes() {
			if c, mean := v.maximize(true); c != nil {
				return c, mean
			}
		}
		v.models = forests
	case 2:
		if c, mean := v.beside(); c != nil {
			return c, mean
		}
	}
	return v.maximize(false)
}

// beside returns the best neighbour of some of the front; nil if all are visited.
func (v *view) beside() (assay.Config, []float64) {
	b := v.f.bayes
	s := newContest(v)
	for _, k := range b.rng.Perm(len(v.front))[:min(frontBeside, len(v.front))] {
		var cs []assay.Config
		for _, c := range b.space.Neighbours(v.front[k]) {
			if b.open(c) {
				cs = append(cs, c)
			}
		}
		s.enter(cs)
	}
	return s.winner()
}

// maximize returns the best candidate of the whole space. If the models are dear, as processes are, the candidates of
// a pool are shortlisted by their means.
func (v *view) maximize(dear bool) (assay.Config, []float64) {
	b := v.f.bayes
	s := newContest(v)
	if b.pool != nil {
		s.pool(dear)
		return s.winner()
	}
	draws, climbs := b.draws, b.starts
	if dear {
		draws, climbs = min(draws, processDraws), processClimbs
	}
	var cs []assay.Config
	for range draws {
		if c, ok := b.draw(limitedDraws); ok {
			cs = append(cs, c)
		}
	}
	some := b.rng.Perm(len(v.front))
	for _, k := range some[:min(frontBeside, len(some))] {
		for range variations {
			if c, ok := b.vary(v.front[k]); ok {
				cs = append(cs, c)
			}
		}
	}
	s.enter(cs)
	if !b.space.Listed() {
		s.climb(climbs)
	}
	return s.winner()
}
