package prune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// TransferOptions are the options of [NewTransfer].
type TransferOptions struct {
	// Seed decides the forests, and the random candidates in large spaces.
	Seed uint64
	// First is the number of proposals that are of the earlier studies alone; 0
	// means 3. They come before all others.
	First int
	// Judged drops earlier studies that rank the trials otherwise than the running study. The first of these proposals
	// comes at once, the others after three trials. From then on an earlier study contributes first proposals, model and
	// hint only while its rank correlation with the trials is positive. Each trial repeats the check.
	Judged bool
}

const (
	// maxTable bounds the memory of table and codes, and draws the cost of a turn in a space without a table.
	firstProposals = 3
	maxTable       = 20_000 // configurations that are all candidates
	topOfSource    = 20     // candidates that each source offers elsewhere
	draws          = 256    // random candidates elsewhere
	patience       = 3      // proposals of ours without improvement before there are fewer
)

// A Transfer is a searcher that alternates with proposals from the earlier studies. Make one with [NewTransfer].
//
// Invariant: visited has every configuration that was proposed or observed, from any source. A proposal of the Transfer
// itself is never among them. inner may propose one of them again, see [NewTransfer].
type Transfer struct {
	inner assay.Searcher // makes the other proposals
	base  *base          // compares the studies
	opts  TransferOptions

	asked   assay.Ledger[asked] // outstanding proposals
	visited map[string]bool     // by Key
	// Who proposes next depends on these.
	spread []float64 // portfolio: by source, the loss that its proposals leave
	made   int       // proposals of ours
	theirs int       // proposals of inner's since the last of ours
	idle   int       // results of ours in a row that were no improvement
	after  int       // trials before the only proposals of a reuse; 0 for a transfer
	ended  int       // trials with a result

	hinter assay.Hinter // inner, if it takes a hint
	hinted []int        // sources of the latest hint; nil before the first

	// These cost more than a turn and are kept between turns.
	table []assay.Config        // all candidates of a small space
	codes [][]float64           // their features
	rows  map[*source][]float64 // by source, its predictions for the table
	// standards are of the configurations of the table by Key: see standardAt.
	standards map[*source]map[string]float64
	model     *blend // of the trials up to now; nil if it must be made

	fresh    []transferCall // since the last memo
	recalled []transferMemo // not repeated yet; of the first, the rest
}

// asked is an outstanding proposal; inner is the ID that the inner searcher gave it, 0 for a proposal of the Transfer.
//
// The configuration is kept because the reported trial's need not be trusted.
type asked struct {
	config assay.Config // as it was proposed
	inner  int64        // 0 for a proposal of the Transfer
}

var (
	_ assay.Searcher = (*Transfer)(nil)
	_ assay.Observer = (*Transfer)(nil)
	_ assay.Masker   = (*Transfer)(nil)
	_ assay.Resumer  = (*Transfer)(nil)
)

// NewTransfer returns inner with proposals from earlier studies between its own.
//
// The first proposals are good in all earlier studies together. Each is chosen from the best configurations of all
// studies to minimize a mean over the studies: the gap between the best of the proposals so far and the study's own
// best, in units of the study's spread. All studies take part in them, in the model and in the hint, unless they are
// Judged.
//
// Later proposals have the greatest expected improvement by a model of the running study that builds on the eight most
// similar ones (the type blend of this package). Their share depends on how well the model predicts each trial from the
// others, by a lower bound of the correlation (Fisher's z, one standard error): every second proposal from 0.4, and
// below that one of eight. Three in a row without an improvement halve the share, to one of 16 at least, so that a
// study unlike any other loses little.
//
// In an [assay.Space.Indexed] space of up to 20,000 all configurations are candidates. Elsewhere the candidates are the
// best of the earlier studies, the neighbours of the best and random ones. The trials go to inner; trials of the
// Transfer's own proposals go to it as observations, if it is an Observer.
//
// A Transfer is an [assay.Observer] even if inner is not, and no [assay.Narrower]: its own proposals are from the whole
// space.
//
// If inner is an [assay.Hinter], it is given the joint expectation of the studies in use as a hint, and a new hint each
// time that these change. It uses at most 16 studies, those with the most trials. An [assay.Space.Indexed] space of
// more than 20,000 configurations has no hint, because the hint could cost more than a run.
//
// Wrap the result in search.Cache: an inner that is no Observer may repeat proposals of the Transfer.
func NewTransfer(inner assay.Searcher, k *Knowledge, opts TransferOptions) *Transfer {
	if opts.First < 0 {
		panic(fmt.Sprintf("prune: %d first proposals", opts.First))
	}
	t := newTransfer(inner, k, opts)
	t.hinter = k.hinter(inner)
	t.rehint()
	return t
}

// newTransfer is NewTransfer without a hint.
func newTransfer(inner assay.Searcher, k *Knowledge, opts TransferOptions) *Transfer {
	t := &Transfer{
		inner: inner, base: newBase(k, NoSurrogate), opts: opts,
		visited: map[string]bool{}, rows: map[*source][]float64{}, standards: map[*source]map[string]float64{},
	}
	t.opts.First, t.base.judges = cmp.Or(opts.First, firstProposals), opts.Judged
	for range t.base.sources {
		t.spread = append(t.spread, math.Inf(1))
	}
	space := k.space
	if n := space.Size().N; space.Indexed() && n <= maxTable {
		for c := range space.All() {
			t.table = append(t.table, c)
		}
	}
	return t
}

// Unwrap implements [assay.Unwrapper].
func (t *Transfer) Unwrap() assay.Searcher { return t.inner }

// Hides implements [assay.Masker].
func (t *Transfer) Hides(ability any) bool {
	_, narrower := ability.(*assay.Narrower)
	return narrower
}

// Ask implements [assay.Searcher]. It ends when inner does.
func (t *Transfer) Ask(n int) ([]assay.Proposal, error) {
	if n < 1 {
		panic(fmt.Sprintf("prune: ask for %d proposals", n))
	}
	t.rehint()
	if len(t.recalled) > 0 {
		// The proposals before the next memo have none. They are computed, and no more of them than there were.
		before := t.recalled[0].After - t.asked.Last()
		if before <= 0 {
			return t.repeat(n)
		}
		n = int(min(int64(n), before))
	}
	var ps []assay.Proposal
	call := transferCall{Ended: t.ended}
	for len(ps) < n {
		if c := t.propound(); c != nil {
			ps = append(ps, t.propose(c, 0))
			call.Ours = append(call.Ours, c)
			continue
		}
		// inner is asked for one at a time, since whose turn it is changes with each proposal.
		more, err := t.inner.Ask(1)
		if err != nil && len(ps) == 0 {
			return nil, err
		}
		if err != nil || len(more) == 0 {
			break
		}
		ps = append(ps, t.propose(more[0].Config, more[0].ID))
		call.Ours = append(call.Ours, nil)
	}
	if len(ps) > 0 {
		t.fresh = append(t.fresh, call)
	}
	return ps, nil
}

// propose makes a proposal of ours if inner is 0, and else passes on the one that inner gave that ID.
//
// IDs of inner start at 1, so that 0 is free as the mark of ours.
func (t *Transfer) propose(c assay.Config, inner int64) assay.Proposal {
	t.visited[c.Key()] = true
	if inner == 0 {
		t.made++
		t.theirs = 0
	} else {
		t.theirs++
	}
	return t.asked.Propose(c, asked{c, inner})
}

// propound returns a proposal of ours if it is our turn and there is one, else nil. The first proposals are the
// portfolio's; after that the model's, at its turns. A Transfer without a study that serves is inner alone.
func (t *Transfer) propound() assay.Config {
	if len(t.base.sources) == 0 {
		return nil
	}
	if t.after > 0 {
		return t.reuse()
	}
	if t.offering() {
		if c := t.portfolio(); c != nil {
			return c
		}
		t.made = t.opts.First // the earlier studies have no more to offer
	}
	if t.model == nil {
		t.model = newBlend(t.base, t.opts.Seed)
	}
	if t.model == nil || !t.ours() {
		return nil
	}
	return t.promising()
}

// offering reports whether one of the first proposals is due: the first at once, the others when the trials have
// confirmed a study.
func (t *Transfer) offering() bool {
	if t.made >= t.opts.First {
		return false
	}
	return !t.opts.Judged || t.made == 0 || t.base.judged() && len(t.base.voices()) > 0
}

// trust returns a lower bound of how well the model predicts: one standard error
// below the correlation, by Fisher's z; -1 for too few trials.
func (t *Transfer) trust() float64 {
	n := len(t.base.trials)
	if t.model == nil || n <= 3 {
		return -1
	}
	// Atanh r has the standard error 1/√(n-3) (Fisher 1921).
	return math.Tanh(math.Atanh(t.model.skill) - 1/math.Sqrt(float64(n-3)))
}

// ours reports whether it is our turn: every period-th proposal. A model that predicts the
// running study has every second, so that inner's own search goes on; one that does not has
// every eighth. Results of ours that improve nothing make it rarer.
func (t *Transfer) ours() bool {
	period := 8
	if t.trust() >= 0.4 {
		period = 2
	}
	// The share halves with each, and min keeps one turn in 16: the study may still turn out to be similar.
	for range t.idle / patience {
		period = min(2*period, 16)
	}
	// theirs counts inner's since the last of ours, so that this one is the period-th.
	return t.theirs+1 >= period
}

// portfolio returns the configuration that most lowers the mean loss over the studies in use, given the proposals
// before it, and notes the remaining losses. It returns nil if no configuration is left.
func (t *Transfer) portfolio() assay.Config {
	var best assay.Config
	var left []float64
	least := math.Inf(1)
	for _, c := range t.offers() {
		loss := t.left(c)
		var sum float64
		for _, j := range t.base.voices() {
			sum += loss[j]
		}
		if sum < least {
			best, left, least = c, loss, sum
		}
	}
	// It is noted before the proposal is made: propound is followed by propose at once.
	if best != nil {
		t.spread = left
	}
	return best
}

// left returns, by source, the loss that the proposals so far and c leave: the least of theirs.
func (t *Transfer) left(c assay.Config) []float64 {
	loss := make([]float64, len(t.spread))
	for j, s := range t.base.sources {
		loss[j] = min(t.spread[j], s.loss(c))
	}
	return loss
}

// loss returns the gap between the surrogate at c and the study's best, in units of the difference between the median
// and the best outcome: 1 is an ordinary configuration. A unit of 0, from a study in which half of the trials are best,
// is replaced by a tiny one.
func (s *source) loss(c assay.Config) float64 {
	best := s.scale.forward(s.best.Value)
	// The unit does not depend on the running study and is kept with the source.
	if s.unit == 0 {
		s.unit = max(stats.Median(s.examples().Y)-best, 1e-9*math.Abs(best), math.SmallestNonzeroFloat64)
	}
	return max(0, s.predict(c)-best) / s.unit
}

// offers returns the best configurations of every source in use that are in the space and not visited.
//
// seen is over all sources, n per source: a configuration that two sources offer counts for both, and is returned once,
// with the first.
func (t *Transfer) offers() []assay.Config {
	seen := map[string]bool{}
	var out []assay.Config
	for _, i := range t.base.voices() {
		s := t.base.sources[i]
		n := 0
		for _, trial := range s.byValue() {
			k := trial.Config.Key()
			if n == topOfSource {
				break
			}
			if !t.visited[k] && t.base.space.Contains(trial.Config) {
				n++
				if !seen[k] {
					seen[k] = true
					out = append(out, trial.Config)
				}
			}
		}
	}
	return out
}

// promising returns the candidate with the greatest expected improvement by the model over the
// running study's best outcome, the first of equals; nil if there is no candidate.
func (t *Transfer) promising() assay.Config {
	cs, features, rows := t.candidates()
	if len(cs) == 0 {
		return nil
	}
	out := make([]assay.Prediction, len(cs))
	t.model.predict(features, rows, out)
	incumbent := slices.Min(t.base.outcomes())
	at, top := 0, math.Inf(-1)
	for i, o := range out {
		// Without deviations there may be none that can improve: the nearest then.
		if v := stats.LogEI(o.Mean, o.Std, incumbent); v > top || v == top && o.Mean < out[at].Mean {
			at, top = i, v
		}
	}
	return cs[at]
}

// candidates returns configurations that are not visited, their features, and the rows of their standardized
// surrogates. In a small space features and surrogates are computed once for all configurations.
func (t *Transfer) candidates() (cs []assay.Config, features, rows [][]float64) {
	if t.table == nil {
		for _, c := range t.sample() {
			cs = append(cs, c)
			features = append(features, t.base.space.Encode(c))
			rows = append(rows, t.model.standard(c))
		}
		return cs, features, rows
	}
	// A source is the key of its rows: the sources of a blend change as other studies become more similar.
	if t.codes == nil {
		for _, c := range t.table {
			t.codes = append(t.codes, t.base.space.Encode(c))
		}
	}
	for _, s := range t.model.sources {
		if t.rows[s] == nil {
			for _, c := range t.table {
				t.rows[s] = append(t.rows[s], s.standard(c))
			}
		}
	}
	for i, c := range t.table {
		if t.visited[c.Key()] {
			continue
		}
		row := make([]float64, len(t.model.sources))
		for j, s := range t.model.sources {
			row[j] = t.rows[s][i]
		}
		cs, features, rows = append(cs, c), append(features, t.codes[i]), append(rows, row)
	}
	return cs, features, rows
}

// sample returns the candidates of a large space, each once: the offers of the studies, the neighbours of the bests,
// and random ones.
func (t *Transfer) sample() []assay.Config {
	seen := map[string]bool{}
	var out []assay.Config
	add := func(c assay.Config) {
		if k := c.Key(); !seen[k] && !t.visited[k] {
			seen[k] = true
			out = append(out, c)
		}
	}
	for _, c := range t.offers() {
		add(c)
	}
	around := []assay.Config{t.base.best.Config}
	for _, s := range t.model.sources {
		around = append(around, s.best.Config)
	}
	for _, c := range around {
		if t.base.space.Contains(c) {
			for _, n := range t.base.space.Neighbours(c) {
				add(n)
			}
		}
	}
	rng := rand.New(rand.NewPCG(t.opts.Seed, uint64(t.asked.Last()))) // an Ask without proposals leaves no trace
	for range draws {
		if c, ok := t.base.space.Draw(rng); ok {
			add(c)
		}
	}
	return out
}

// Tell implements [assay.Searcher].
func (t *Transfer) Tell(trials ...assay.Trial) error {
	about, err := t.asked.Settle(trials...)
	if err != nil {
		return err
	}
	for i, trial := range trials {
		// If inner refuses a trial, the trials before it have been learned and the ledger has settled all: the
		// search cannot go on after such an error.
		a := about[i]
		trial.Config = a.config
		if a.inner > 0 {
			trial.ID = a.inner
			if err := t.inner.Tell(trial); err != nil {
				return err
			}
		} else {
			if err := t.show(trial); err != nil {
				return err
			}
			// Compared before learn makes this trial the best one itself.
			if trial.State == assay.Done && (!t.base.found || trial.Value < t.base.best.Value) {
				t.idle = 0
			} else {
				t.idle++
			}
		}
		t.learn(trial)
	}
	return nil
}

// Observe implements [assay.Observer].
func (t *Transfer) Observe(trials ...assay.Trial) error {
	if err := t.base.space.CheckObserved(trials...); err != nil {
		return err
	}
	if err := t.show(trials...); err != nil {
		return err
	}
	for _, trial := range trials {
		t.visited[trial.Config.Key()] = true
		t.learn(trial)
	}
	return nil
}

// show gives trials that inner did not ask for to inner, if it is an Observer.
func (t *Transfer) show(trials ...assay.Trial) error {
	if o, ok := assay.As[assay.Observer](t.inner); ok {
		return o.Observe(trials...)
	}
	return nil
}

// learn adds a trial to the model's data. The next turn of the Transfer makes the model anew.
//
// It is called for all trials: the Transfer's, inner's and observed ones. A memo counts by ended.
func (t *Transfer) learn(trial assay.Trial) {
	t.base.learn(trial)
	t.ended++
	t.model = nil
}
