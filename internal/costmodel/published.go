package costmodel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// Reference is how the reference assignment is chosen (§3.1).
type Reference uint8

const (
	Min  Reference = iota // the least capacity in every attribute
	Max                   // the highest capacity in every attribute
	Rand                  // at random
)

// Traversal is how the predictor function to refine is chosen (§3.2).
type Traversal uint8

const (
	RoundRobin  Traversal = iota // one after the other, in the total order
	Improvement                  // the same one until its error falls by less than the threshold
	Dynamic                      // the predictor with the greatest current error (Algorithm 4)
)

// Design is how the values of the attributes of a new assignment are chosen
// (§3.4): L_a-I_b covers a levels of each and captures interactions of b.
type Design uint8

const (
	LMaxI1   Design = iota // all levels of one attribute after the other, the others as in the reference (Algorithm 5)
	L2I2                   // the rows of the Plackett-Burman design with foldover
	LMaxIMax               // the full factorial, in random order
	LMaxI2                 // ours: every pair of levels of two attributes, at two levels, then at three, five, ...
)

// ErrorEstimate is how the current error is computed (§3.6).
type ErrorEstimate uint8

const (
	CrossValidation ErrorEstimate = iota // leave one out, of the training runs
	RandomSet                            // on 10 random assignments that are run first and never trained on
	DesignedSet                          // likewise, on the rows of the Plackett-Burman design with foldover
)

var (
	referenceNames = []string{"min", "max", "rand"}
	traversalNames = []string{"round-robin", "improvement", "dynamic"}
	designNames    = []string{"lmax-i1", "l2-i2", "lmax-imax", "lmax-i2"}
	estimateNames  = []string{"cross-validation", "random-set", "pb-set"}
)

// String returns "min", "max" or "rand".
func (r Reference) String() string { return referenceNames[r] }

// String returns "round-robin", "improvement" or "dynamic".
func (t Traversal) String() string { return traversalNames[t] }

// String returns "lmax-i1", "l2-i2", "lmax-imax" or "lmax-i2".
func (d Design) String() string { return designNames[d] }

// String returns "cross-validation", "random-set" or "pb-set".
func (e ErrorEstimate) String() string { return estimateNames[e] }

// Published are the choices for the steps of Algorithm 1; the zero value has the
// defaults of the paper (Table 1).
type Published struct {
	Reference Reference // the first assignment to run
	// Predictors is the total order of the predictor functions; nil means that
	// of their relevance by a Plackett-Burman design with foldover.
	Predictors []Part
	Traversal  Traversal // the order of refinement
	// Threshold is the reduction of an error, in percentage points, below which
	// the next predictor is taken (Improvement), or the next attribute is added. 0
	// means 2.
	Threshold float64
	// Attributes is the total order of the attributes of each predictor, by name. A predictor without an entry uses the
	// order of relevance, as above.
	Attributes map[Part][]string
	Design     Design        // of new assignments
	Error      ErrorEstimate // the estimate of the current error
	// Reciprocal names the attributes whose transformation is the reciprocal; nil
	// means those with cpu, core, speed, bandwidth, rate, node or instance_count in their
	// name, and disk.
	Reciprocal []string
	// KnownDataFlow takes the data flow from the nearest run, and never chooses a run to learn it: the experiments of the
	// paper assume that it is known (§4.1).
	KnownDataFlow bool
	// TrainOnScreening also fits the model to the runs of the screening design,
	// which the paper spends for the orders alone.
	TrainOnScreening bool
}

// published is Algorithm 1. It has two phases.
//
//   - Until ready, it processes queue: the reference assignment, the screening design and the internal test set, in
//     that order. These runs do not depend on each other, so that all of them may run at once.
//   - After that, it chooses one run at a time. The choice needs the errors after the previous run, so that a second
//     Ask before its result returns no proposal.
//
// Invariant: every assignment of held is run for the error alone or for the order too, and never for training.
type published struct {
	Published
	rng        *rand.Rand       // of the reference and the tests
	queue      []pick           // of the initialization, still to run
	held       map[string]roles // of the assignments on which the error is computed
	reference  assay.Config     // the assignment that is taken
	fallbacks  int              // reference assignments that failed
	ready      bool             // the first phase is over
	rows       [][]int          // of the screening design
	screen     []assay.Config   // assignments of rows
	predictors []*predictor     // in total order
	turn       int              // place in predictors
	// The last two are of the second phase.
	design  design     // nil for L_max-I_1
	waiting *predictor // whose run is outstanding
}

// A predictor is the state of one predictor function f_a, f_n, f_d or f_D: which attributes it
// has so far and where it stands in varying them.
//
// Invariant: at < used <= len(order) once the predictor has been chosen, and next[k] never
// falls: a level that was passed over is not tried again.
type predictor struct {
	part  Part  // that it predicts
	order []int // attributes, by relevance
	used  int   // how many of order are in the function
	at    int   // place in order of ρ_r, the attribute that is varied
	next  []int // by place in order: place in the sequence of levels
	spent bool  // no assignment is left for it

	error, before float64 // current, and before its last refinement; NaN if unknown
}

// newPublished prepares the initialization (step 1). Its runs depend on the options:
//
//   - The reference assignment always runs, first and for training.
//   - The screening design runs if an order is to be found: of the attributes, or of the predictors if a traversal
//     follows one. Dynamic needs no order of predictors (Algorithm 4).
//   - The test set runs if the error is computed on one.
//
// An assignment with several roles is run once. It panics if the threshold is negative or NaN, or an attribute name is
// unknown.
func newPublished(l *ActiveLearner, o Published) *published {
	o.check(l.space)
	if o.Threshold == 0 {
		o.Threshold = 2 // §4.3
	}
	p := &published{Published: o, rng: rand.New(rand.NewPCG(l.opts.Seed, 1))}
	p.reference = p.newReference(l)
	p.queue = append(p.queue, pick{config: p.reference, roles: roles{forTraining: true}})
	screens := o.Predictors == nil && o.Traversal != Dynamic || o.Attributes == nil
	// The design is needed as rows in three places: for the orders, as a test set, and as the
	// assignments of L_2-I_2.
	if screens || o.Error == DesignedSet || o.Design == L2I2 {
		p.rows = stats.Foldover(stats.PlackettBurman(len(l.attrs)))
		for _, r := range p.rows {
			p.screen = append(p.screen, l.corner(r))
		}
	}
	if screens {
		for _, c := range p.screen {
			p.enqueue(c, forOrder)
			if o.TrainOnScreening && o.Error != DesignedSet {
				p.enqueue(c, forTraining)
			}
		}
	}
	p.enqueueErrors(l.space)
	p.held = map[string]roles{}
	for _, k := range p.queue {
		if k.roles[forError] {
			p.held[k.config.Key()] = k.roles
		}
	}
	p.design = p.newDesign(l)
	return p
}

// enqueueErrors enqueues the runs by which the error is estimated.
func (p *published) enqueueErrors(space *assay.Space) {
	switch p.Error {
	case RandomSet:
		// A draw that is the reference, or one that came before, is not made up for: the set may be smaller than ten in a
		// small space.
		for range 10 { // §4.6
			if c, ok := space.Draw(p.rng); ok && !c.Equal(p.reference) {
				p.enqueue(c, forError)
			}
		}
	case DesignedSet:
		for _, c := range p.screen {
			if !c.Equal(p.reference) {
				p.enqueue(c, forError)
			}
		}
	}
}

// check panics at options that are no use.
func (o Published) check(space *assay.Space) {
	if o.Threshold < 0 || math.IsNaN(o.Threshold) {
		panic(fmt.Sprintf("costmodel: threshold %v", o.Threshold))
	}
	for _, names := range o.Attributes {
		for _, name := range names {
			if space.Index(name) < 0 {
				panic(fmt.Sprintf("costmodel: no attribute %q", name))
			}
		}
	}
}

// observed implements plan. A run of a test sample joins the test set even if the plan did not choose it: a user's
// default may be a sample. If it trained, the error would be measured on known data.
func (p *published) observed(c assay.Config) roles {
	if r, ok := p.held[c.Key()]; ok {
		return r
	}
	return roles{forTraining: true}
}

// enqueue adds a role to the run of c, which is made once.
func (p *published) enqueue(c assay.Config, r role) {
	for i := range p.queue {
		if p.queue[i].config.Equal(c) {
			p.queue[i].roles[r] = true
			return
		}
	}
	k := pick{config: c}
	k.roles[r] = true
	p.queue = append(p.queue, k)
}

// newReference returns R_ref (§3.1): the assignment of the least capacity in every attribute, of the highest, or a
// random one. The attributes define the direction of capacity, see [Options.LessIsMore].
func (p *published) newReference(l *ActiveLearner) assay.Config {
	switch p.Reference {
	case Min:
		return l.extreme(false)
	case Max:
		return l.extreme(true)
	}
	c, _ := l.space.Draw(p.rng)
	return c
}

// corner returns the assignment of a row of a two-level design. Low is the least capacity of an attribute and high the
// greatest, so that the effects of a screening do not depend on the notation of levels. If relations exclude the
// corner, it is the nearest admissible assignment, at the price of some orthogonality.
func (l *ActiveLearner) corner(row []int) assay.Config {
	c := make(assay.Config, len(l.attrs))
	for i, a := range l.attrs {
		worst, best := a.ends()
		if c[i] = worst; row[i] > 0 {
			c[i] = best
		}
	}
	if l.space.Contains(c) {
		return c
	}
	return l.space.Nearest(c)
}

// next implements plan: the initialization at once, then one run at a time.
//
// Between the phases it waits for the outcomes of the initialization: while proposals are outstanding, next returns
// false and Ask returns the proposals so far.
func (p *published) next(l *ActiveLearner) (pick, bool) {
	if len(p.queue) > 0 {
		k := p.queue[0]
		p.queue = p.queue[1:]
		return k, true
	}
	if l.proposals.Len() > 0 {
		return pick{}, false
	}
	if !p.ready {
		p.initialize(l)
		if len(p.queue) > 0 { // the reference assignment failed
			k := p.queue[0]
			p.queue = p.queue[1:]
			return k, true
		}
		if !p.ready {
			return pick{}, false
		}
	}
	for {
		f := p.choose()
		if f == nil {
			return pick{}, false
		}
		if c, ok := p.assignment(l, f); ok {
			p.waiting = f
			return pick{config: c, roles: roles{forTraining: true}, of: f.part}, true
		}
		// The predictor has run all of its assignments. The others go on.
		f.spent = true
	}
}

// initialize makes the predictors once the reference has run. The paper assumes that the reference finishes. If the
// program fails on it, another takes its place: the opposite extreme, and after that random assignments, 64 at most.
// Without a reference nothing can be normalized (Algorithm 6).
func (p *published) initialize(l *ActiveLearner) {
	if !slices.ContainsFunc(l.runs, func(r Run) bool { return r.Config.Equal(p.reference) }) {
		if p.fallbacks++; p.fallbacks > 64 {
			return
		}
		c := l.extreme(p.fallbacks == 1 && p.Reference != Max)
		for try := 0; l.visited(c); try++ {
			c, _ = l.space.Draw(p.rng)
			if try > 256 {
				return
			}
		}
		p.reference = c
		p.queue = append(p.queue, pick{config: c, roles: roles{forTraining: true}})
		return
	}
	p.ready = true
	p.order(l)
	p.update(l)
}

// told implements plan. It keeps the error before the run of the predictor that the run refines. The next decisions
// compare it with the error after the run.
func (p *published) told(l *ActiveLearner, k pick) {
	if !p.ready {
		return
	}
	f := p.waiting
	p.waiting = nil
	before := math.NaN()
	if f != nil {
		before = f.error
	}
	p.update(l)
	if f != nil {
		f.before = before
	}
}

// update computes the current error of every predictor, not only of the one that was refined:
// a run serves others too (§3.5).
func (p *published) update(l *ActiveLearner) {
	for _, f := range p.predictors {
		f.error = p.errorOf(l, f)
	}
}
