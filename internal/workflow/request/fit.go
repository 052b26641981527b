package request

import (
	"maps"
	"math"
	"slices"

	"github.com/assay-run/assay/workflow"
)

const (
	mebibyte = 1 << 20

	// Least that is asked for. Below it the batch system's own needs count: a shell, a container's start.
	leastMemory workflow.Bytes   = 100 * mebibyte
	leastTime   workflow.Seconds = 300

	// DefaultFailures is the share of tasks that may fail at first, if Options has none.
	DefaultFailures = 0.02
)

// A time limit that is too long only delays the start of other tasks; one that is too short loses the
// memory and the processors of the attempt. So time has the smaller share of the failures, and unused
// time costs a tenth of lost time.
const (
	timeShare  = 0.25
	timeSlack  = 0.1
	timeMargin = 1.5
)

// Options are the requirements that requests are fitted to.
type Options struct {
	// Failures is the share of tasks whose first attempt may be killed; 0 is [DefaultFailures].
	Failures float64
	// NoSizes is for systems whose requests cannot depend on the size of the input.
	NoSizes bool
}

// resolve sets the defaults.
func (o Options) resolve() Options {
	if o.Failures == 0 {
		o.Failures = DefaultFailures
	}
	return o
}

// A Kind holds the requests for tasks of one kind.
type Kind struct {
	Name   string `json:"kind"`   // of the tasks
	Tasks  int    `json:"tasks"`  // how many were fitted
	Memory Choice `json:"memory"` // bytes
	Time   Choice `json:"time"`   // seconds
}

// A Choice is the rule of one resource, and how it was come by.
type Choice struct {
	Rule
	// Peak is the most that a recorded task used.
	Peak float64 `json:"peak"`
	// Cautious reports that there were too few tasks to estimate how often the rule fails. The rule is then
	// a bound on the next task's use under a normal distribution of logarithms, and no less than the
	// largest use that was seen.
	Cautious bool `json:"cautious,omitempty"`
}

// Requests holds the requests for each kind of task.
type Requests struct {
	Kinds []Kind `json:"kinds"` // in order of name
}

// Kind returns the requests of a kind; nil if nothing is known of it.
func (r *Requests) Kind(name string) *Kind {
	i, ok := slices.BinarySearchFunc(r.Kinds, name, func(k Kind, n string) int {
		switch {
		case k.Name < n:
			return -1
		case k.Name > n:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &r.Kinds[i]
}

// Fit fits the requests for each kind of task.
func Fit(uses []Use, o Options) *Requests {
	o = o.resolve()
	byKind := map[string][]*Use{}
	for i := range uses {
		byKind[uses[i].Kind] = append(byKind[uses[i].Kind], &uses[i])
	}
	names := slices.Sorted(maps.Keys(byKind))
	memory, time := make([]*sample, len(names)), make([]*sample, len(names))
	for i, name := range names {
		memory[i], time[i] = samplesOf(byKind[name], o.NoSizes)
	}
	usualMemory, usualTime := usualSpread(memory), usualSpread(time)
	r := &Requests{}
	for i, name := range names {
		k := Kind{Name: name, Tasks: len(byKind[name])}
		k.Memory = memory[i].choose((1-timeShare)*o.Failures, usualMemory, mebibyte, leastMemory)
		k.Time = time[i].choose(timeShare*o.Failures, usualTime, 60, leastTime)
		r.Kinds = append(r.Kinds, k)
	}
	return r
}

// sample holds the uses of one resource by tasks of one kind.
type sample struct {
	x, y   []float64              // input size, use; y > 0
	w      []float64              // the cost of a unit that is lost in a failed attempt
	margin float64                // of the rule that is chosen
	slack  float64                // the cost of an unused unit, relative to a lost one
	fold   []int                  // tasks of a fold are left out together
	folds  int                    // number of folds
	sized  bool                   // rules may depend on x
	lines  map[float64][2]float64 // by quantile, as they were needed; see line
	grows  bool                   // x is known but too similar to fit: larger inputs are assumed to need more
}

// Folds are made of whole configurations, or of whole executions if there is one configuration, so that
// requests for inputs that were not seen are judged.
const mostFolds = 8

// samplesOf returns the samples of memory and of time. Memory that is held for an hour costs as much as
// twice of it for half an hour; time is counted by itself.
func samplesOf(uses []*Use, noSizes bool) (memory, time *sample) {
	memory, time = &sample{margin: 1, slack: 1}, &sample{margin: timeMargin, slack: timeSlack}
	var groups [2][]int // of memory and time
	configs, executions := map[int]bool{}, map[int]bool{}
	for _, u := range uses {
		configs[u.Config], executions[u.Execution] = true, true
	}
	group := func(i int, u *Use) int {
		switch {
		case len(configs) > 1:
			return u.Config
		case len(executions) > 1:
			return u.Execution
		}
		return i
	}
	for i, u := range uses {
		if u.Memory > 0 {
			memory.add(u.In, u.Memory, u.Run)
			groups[0] = append(groups[0], group(i, u))
		}
		if u.Run > 0 {
			time.add(u.In, u.Run, 1)
			groups[1] = append(groups[1], group(i, u))
		}
	}
	for i, s := range []*sample{memory, time} {
		s.split(groups[i])
		known := !noSizes && len(s.x) > 0 && slices.Min(s.x) > 0
		s.sized = known && differentSizes(s.x) >= 2
		s.grows = known && !s.sized
	}
	return memory, time
}

// differentSizes counts sizes of which each is a twentieth above the one before: a line through nearly
// equal sizes predicts no others.
func differentSizes(x []float64) int {
	n, last := 0, 0.0
	for _, v := range slices.Sorted(slices.Values(x)) {
		if v > 1.05*last {
			n, last = n+1, v
		}
	}
	return n
}

// add adds a task.
func (s *sample) add(x, y, w float64) {
	s.x, s.y, s.w = append(s.x, x), append(s.y, y), append(s.w, w)
}

// split puts groups into folds, in turn in their order.
func (s *sample) split(groups []int) {
	order := slices.Compact(slices.Sorted(slices.Values(groups)))
	s.folds = min(len(order), mostFolds)
	s.fold = make([]int, len(groups))
	for i, g := range groups {
		at, _ := slices.BinarySearch(order, g)
		s.fold[i] = at % max(s.folds, 1)
	}
}

// without returns the sample without a fold, and the indices of the fold.
func (s *sample) without(fold int) (rest *sample, out []int) {
	rest = &sample{sized: s.sized, slack: s.slack}
	for i := range s.y {
		if s.fold[i] == fold {
			out = append(out, i)
			continue
		}
		rest.add(s.x[i], s.y[i], s.w[i])
	}
	return rest, out
}

// spread returns the standard deviation of the logarithms of uses divided by the rule's request.
func (s *sample) spread(r Rule) float64 {
	sum, squares := 0.0, 0.0
	for i := range s.y {
		l := math.Log(s.y[i] / r.At(s.x[i]))
		sum += l
		squares += l * l
	}
	n := float64(len(s.y))
	return math.Sqrt(max(squares/n-sum/n*sum/n, 0) * n / max(n-1, 1))
}
