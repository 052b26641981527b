package workflow

import (
	"fmt"
	"math"
	"slices"
)

// A Term is one thing that a site can add to a makespan.
type Term uint8

const (
	Start       Term = iota // seconds, once
	PerLevel                // seconds per level (Pietri §IV.C)
	PerTask                 // seconds per task, one after the other: the submit host
	PerGB                   // seconds per gigabyte that tasks read and write, over shared storage
	TaskPerNode             // seconds per task, each machine by itself
	GBPerNode               // seconds per gigabyte, each machine by itself
	WorkPerNode             // run times together, divided by the machines: 1/slots of a machine
	PerWave                 // seconds per task in its slot; a level has tasks/slots waves
	Scale                   // factor on the levels' makespans (§IV.B)
	numTerms
)

// The names are stored in calibrations. Their order is the order of the constants.
var termNames = [numTerms]string{
	"start_s", "level_s", "task_s", "GB_s", "node_task_s", "node_GB_s", "node_work",
	"wave_s", "scale",
}

// termScale is how large a coefficient is thought to be before anything is
// known: the root mean square over the calibrations of the open public
// executions, to one digit. It matters when there is one configuration only.
var termScale = [numTerms]float64{
	Start: 300, PerLevel: 30, PerTask: 3, PerGB: 30, TaskPerNode: 30, GBPerNode: 100,
	WorkPerNode: 0.5, PerWave: 30, Scale: 1,
}

// String returns the term's name as it is stored.
func (t Term) String() string {
	if t < numTerms {
		return termNames[t]
	}
	return fmt.Sprintf("Term(%d)", uint8(t))
}

// MarshalText implements [encoding.TextMarshaler].
func (t Term) MarshalText() ([]byte, error) {
	if t >= numTerms {
		return nil, fmt.Errorf("unknown term %d", uint8(t))
	}
	return []byte(t.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Term) UnmarshalText(text []byte) error {
	i := slices.Index(termNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown term %q", text)
	}
	*t = Term(i)
	return nil
}

// A ComputeModel gives the number of recorded cores that ran tasks at once, for Eq. 3. The zero value
// leaves Eq. 3 out: the terms stand alone.
type ComputeModel struct {
	Share float64 `json:"share,omitempty"` // slots are this share of the cores
	Cap   int     `json:"cap,omitempty"`   // or at most this many in all
	// Link is how many seconds a gigabyte takes that a manager sends to the tasks of a
	// level, one after the other, while others run; a level takes no less.
	Link   float64 `json:"link_GB_s,omitempty"`
	Placed bool    `json:"placed,omitempty"` // Share of the cores of each machine, tasks where they were recorded
}

// divisors, caps and placings are the numbers of slots that are tried, most slots first; links are the
// managers' seconds per gigabyte, from a gigabit per second down to a sixth of it.
var (
	// The first of each list is the most slots, which twins relies on.
	divisors = []float64{1, 2, 3, 4, 6, 8, 12, 16, 24, 48}
	caps     = []int{64, 32, 16, 8, 4, 2, 1}
	placings = []float64{1, 2, 4, 8, 12}
	links    = []float64{5, 6.5, 8.5, 11, 14, 18, 23, 30}
)

// computeModels returns every way to count slots, none first. The order is the order of features.model.
//
// Stored calibrations hold models by value: one that is taken out of the list makes files unreadable.
func computeModels() []ComputeModel {
	out := []ComputeModel{{}}
	for _, d := range divisors {
		out = append(out, ComputeModel{Share: 1 / d})
	}
	for _, k := range caps {
		out = append(out, ComputeModel{Cap: k})
	}
	for _, d := range placings {
		out = append(out, ComputeModel{Share: 1 / d, Placed: true})
	}
	for _, r := range links {
		out = append(out, ComputeModel{Share: 1, Link: r, Placed: true})
	}
	return out
}

// features are a workflow's values of the terms, on some slots.
//
// base is by Term, up to WorkPerNode; PerWave and Scale depend on the compute model and are in
// waves and span. span and waves are by index in computeModels; index 0 has zeros.
type features struct {
	base  [WorkPerNode + 1]float64 // see Term
	span  []Seconds                // Eq. 3 summed over the levels, for each compute model
	sent  []Bytes                  // see sentBytes
	waves []float64                // sum over the levels of max(1, tasks/slots)
}

// recordedFeatures returns the features of w on the machines of its execution,
// with levels top down.
func recordedFeatures(w *Workflow) *features {
	return levelFeatures(w, TopDown{}, w.Cores(), 0)
}

// levelFeatures returns the features of w on cores. With nodeCores 0 the machines are the machines of
// w's recorded execution; otherwise as many of that size as the cores fill, and nothing is known about
// the tasks' places.
//
// If sentBytes finds the recorded file sizes contradicted, they are left out of the terms per gigabyte;
// only models with a link count bytes then.
func levelFeatures(w *Workflow, leveler Leveler, cores int, nodeCores float64) *features {
	nodes := float64(usedMachines(w))
	if nodeCores > 0 {
		nodes = max(1, math.Round(float64(cores)/nodeCores))
	}
	if cores == 0 {
		cores = int(nodes)
	}
	level := leveler.Level(w.Graph, w.Runs(), max(cores, 1))
	levels := Profile(w, nil, level)
	f := &features{}
	bytes, work := 0.0, 0.0
	for _, l := range levels {
		bytes += l.Bytes
		work += l.Sum
	}
	f.sent = sentBytes(w, level, len(levels))
	if f.sent != nil {
		bytes = 0
	}
	n := float64(len(w.Tasks))
	f.base = [...]float64{1, float64(len(levels)), n, bytes / 1e9, n / nodes, bytes / 1e9 / nodes, work / nodes}
	for _, m := range computeModels() {
		span, waves := 0.0, 0.0
		least := f.sending(m.Link, len(levels))
		switch {
		case m == ComputeModel{}:
		case m.Placed && nodeCores == 0:
			span, waves = placedSpan(w, level, levels, m.Share, least)
		default:
			span, waves = levelSpan(levels, m.slots(cores), least)
		}
		f.span, f.waves = append(f.span, span), append(f.waves, waves)
	}
	return f
}

// slots returns how many of the cores work at once, at least 1.
func (m ComputeModel) slots(cores int) int {
	if m.Cap > 0 {
		return min(m.Cap, max(cores, 1))
	}
	return max(1, int(math.Round(m.Share*float64(cores))))
}

// usedMachines returns how many machines ran tasks, 1 if that was not recorded:
// terms per machine then are terms of all.
func usedMachines(w *Workflow) int {
	used := make([]bool, len(w.Machines))
	n := 0
	for i := range w.Tasks {
		if m := w.Tasks[i].Machine; m >= 0 && !used[m] {
			used[m] = true
			n++
		}
	}
	return max(n, 1)
}

// levelSpan is Eq. 3 summed over the levels, each of which takes at least the
// time of least, and their waves.
//
// A level with fewer tasks than slots takes as long as its longest task; any other is as long
// as its work shared by all slots, if that is more.
func levelSpan(levels []Level, slots int, least []Seconds) (span Seconds, waves float64) {
	for n, l := range levels {
		if l.Tasks > 0 {
			span += max(equation3(l.Tasks, l.Sum, l.Max, slots), least[n])
			waves += max(1, float64(l.Tasks)/float64(slots))
		}
	}
	return span, waves
}

// placedSpan is levelSpan with each machine by itself: a level takes as long as
// the machine that is last.
//
// Place 0 is for tasks whose machine is not recorded: they share one slot. Other places are the
// machines by index plus 1.
func placedSpan(w *Workflow, level []int32, levels []Level, share float64, least []Seconds) (span Seconds,
	waves float64,
) {
	at := make([][]Level, len(w.Machines)+1)
	for m := range at {
		at[m] = make([]Level, len(levels))
	}
	for t := range w.Tasks {
		l := &at[w.Tasks[t].Machine+1][level[t]]
		l.Tasks++
		l.Sum += w.Tasks[t].Run
		l.Max = max(l.Max, w.Tasks[t].Run)
	}
	for n := range levels {
		longest, most := least[n], 0.0
		for m := range at {
			l := at[m][n]
			if l.Tasks == 0 {
				continue
			}
			slots := 1
			if m > 0 {
				slots = max(1, int(math.Round(share*float64(w.Machines[m-1].Cores))))
			}
			longest = max(longest, equation3(l.Tasks, l.Sum, l.Max, slots))
			most = max(most, 1, float64(l.Tasks)/float64(slots))
		}
		span += longest
		waves += most
	}
	return span, waves
}

// candidate is a form of model: terms with coefficients beside a way to count slots. fixed means that
// the levels' makespans enter as they are, with the factor 1.
//
// Candidates are shared by all fits and never changed.
type candidate struct {
	terms []Term // in the order of the coefficients
	model int    // index in computeModels
	fixed bool   // the span counts as it is, without Scale
}

// row sets x to the terms' values for f and returns the part without a coefficient, in seconds: the
// levels' makespans if they are fixed, else 0.
//
// x has one entry for each term.
func (c *candidate) row(f *features, x []float64) Seconds {
	for i, t := range c.terms {
		switch t {
		case PerWave:
			x[i] = f.waves[c.model]
		case Scale:
			x[i] = f.span[c.model]
		default:
			x[i] = f.base[t]
		}
	}
	if c.fixed {
		return f.span[c.model]
	}
	return 0
}

// predict returns the makespan of f under coefficients theta. It is at least 1 s, so that it
// has a logarithm: a fit without the levels' makespans can come out at 0.
func (c *candidate) predict(f *features, theta []float64) Seconds {
	var buf [4]float64
	x := buf[:len(c.terms)]
	y := c.row(f, x)
	for i := range x {
		y += theta[i] * x[i]
	}
	return max(y, 1)
}

// weighted returns the model in the form in which it is kept. Terms whose
// coefficient came out as 0 are left out.
func (c *candidate) weighted(weight float64, theta []float64) WeightedModel {
	m := WeightedModel{Weight: weight, Compute: computeModels()[c.model]}
	for i, t := range c.terms {
		if theta[i] > 0 {
			m.Terms = append(m.Terms, Coefficient{t, theta[i]})
		}
	}
	if c.fixed {
		m.Terms = append(m.Terms, Coefficient{Scale, 1})
	}
	return m
}

// predictModels returns the weighted geometric mean of the models for which use is true, or of
// all if use is nil, and the weighted variance of their logarithms. Their errors are errors of ratio, so that
// logarithms are averaged.
//
// Every model must be among computeModels, and use must be true for one at least.
func predictModels(models []WeightedModel, f *features, use func(*WeightedModel) bool) (mean Seconds,
	variance float64,
) {
	compute := computeModels()
	sum, squares, total := 0.0, 0.0, 0.0
	for i := range models {
		m := &models[i]
		if use != nil && !use(m) {
			continue
		}
		at := slices.Index(compute, m.Compute)
		y := 0.0
		for _, t := range m.Terms {
			switch t.Term {
			case PerWave:
				y += t.Value * f.waves[at]
			case Scale:
				y += t.Value * f.span[at]
			default:
				y += t.Value * f.base[t.Term]
			}
		}
		// West's update: no difference of large squares.
		total += m.Weight
		d := math.Log(max(y, 1)) - sum
		sum += d * m.Weight / total
		squares += m.Weight * d * (math.Log(max(y, 1)) - sum)
	}
	return math.Exp(sum), squares / total
}

// twins reports for each way to count slots whether one before it, with more slots, gives the same
// levels' makespans in all of f: one execution on one slot does not show that a second slot would stand
// idle.
//
// Model 0 counts no slots and is no twin of any.
func twins(f []*features) []bool {
	twin := make([]bool, len(computeModels()))
	for m := range twin {
		for k := 1; k < m && !twin[m]; k++ {
			twin[m] = !slices.ContainsFunc(f, func(x *features) bool {
				return x.span[k] != x.span[m] || x.waves[k] != x.waves[m]
			})
		}
	}
	return twin
}

// candidates returns every form of model: up to three of the terms without
// Eq. 3, and with it for each way to count slots, as it is or scaled.
func candidates() []candidate {
	var out []candidate
	for _, t := range subsets([]Term{Start, PerLevel, PerTask, PerGB, TaskPerNode, GBPerNode, WorkPerNode}, 3) {
		if len(t) > 0 {
			out = append(out, candidate{terms: t})
		}
	}
	for m := 1; m < len(computeModels()); m++ {
		for _, t := range subsets([]Term{Start, PerLevel, PerTask, PerGB, PerWave}, 3) {
			out = append(out, candidate{terms: t, model: m, fixed: true})
			if len(t) <= 2 {
				out = append(out, candidate{terms: append(slices.Clone(t), Scale), model: m})
			}
		}
	}
	return out
}

// subsets returns the subsets of pool of at most n terms, the empty one first. The order is
// fixed: models of equal scores are averaged in it.
func subsets(pool []Term, n int) [][]Term {
	out := [][]Term{nil}
	for i, t := range pool {
		if n == 0 {
			break
		}
		for _, rest := range subsets(pool[i+1:], n-1) {
			out = append(out, append([]Term{t}, rest...))
		}
	}
	return out
}
