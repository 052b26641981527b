package site

import (
	"fmt"
	"math"

	"github.com/assay-run/assay/workflow"
)

// Options are how [MakePlans] searches. The zero value is good.
type Options struct {
	// Data returns the site that holds an input file which no task writes, or
	// -1 if none does. name is the file's, or the task's if its files are not
	// recorded. nil means that the first site holds everything.
	Data  func(name string) int
	Model TaskModel // nil means ScaledModel{}
	Beam  int       // width of the beam search; 0 means 8, or less for large workflows
	Nodes int       // most nodes of the exact search; 0 means 20,000, < 0 no exact search

	// Error is the relative error of the times of one kind of task at one site
	// if the model gives none, for intervals: uniform in ±Error. 0 means no
	// intervals.
	Error   float64
	Samples int    // sets of random errors; 0 means 100, fewer for large workflows
	Seed    uint64 // of the errors
}

// A Decision is a plan's decision about one task.
type Decision struct {
	Task             int              // its index
	Compute, Storage int              // sites
	Ready            workflow.Seconds // the tasks that it waits for have ended
	Arrived          workflow.Seconds // its input is in Storage
	Start, End       workflow.Seconds // of the task
}

// A Staging is a task that a plan interposes to copy data: the input of a task
// that is at another site (§2.1).
type Staging struct {
	For        int              // the task it is for
	From, To   int              // sites
	Bytes      workflow.Bytes   // copied
	Start, End workflow.Seconds // of the copy
}

// A Plan is a resource assignment for each task, the staging tasks between them, and the time at which
// each runs. Low and High equal Makespan if there is no interval.
type Plan struct {
	workflow.Prediction
	Decisions []Decision       // in the order in which they were made
	Stagings  []Staging        // copies between sites
	Staged    workflow.Bytes   // copied between sites
	Remote    workflow.Bytes   // read and written over links by tasks
	Stored    []workflow.Bytes // used in the end of each site's storage
	Path      Breakdown        // of the makespan
	Name      string           // the kind of the plan, for people
	Why       string           // why it is best, or loses, for people
	// Dominated reports that another plan is as fast, moves no more data and is better in one of these.
	Dominated bool
}

// A Breakdown holds the parts of the makespan of a plan, along a path of tasks each of which waits for
// the one before. It adds up to the makespan.
type Breakdown struct {
	Compute workflow.Seconds // tasks compute
	Local   workflow.Seconds // tasks wait for local storage
	Remote  workflow.Seconds // tasks wait for data over a link
	Staging workflow.Seconds // data are staged, or wait for a link
	Waiting workflow.Seconds // data are there and every slot is taken, or the site delays
}

// An Unfit is a kind of plan that is not possible.
type Unfit struct{ Name, Why string }

// Plans are the result of [MakePlans].
type Plans struct {
	Best   *Plan   // the fastest
	Others []*Plan // plans of other kinds, fastest first
	Unfits []Unfit // kinds without a plan
	// Bound is a lower bound of the makespan of every plan.
	Bound workflow.Seconds
	// Exact reports that no assignment and no order of decisions is faster.
	Exact bool
	Nodes int // partial plans that the exact search looked at
	Cut   int // of these, those that a bound or a dominating one excluded
}

// MakePlans plans w on the sites of net: it assigns each task a site to compute and a site for its data,
// interposes staging tasks where the data are elsewhere, and minimizes the makespan (Shivam et al., VLDB
// 2006, §2.1).
//
// A task runs in one slot, from when its input is in its storage; it reads and writes there, over the
// links if that is another site. Slots, storage and links have their capacity: a link carries one byte
// at a time, so that transfers that share it take as long as their sum, in the order of decisions, and
// data in storage stay there. Staging begins when the data exist.
//
// Workflows for which at most Nodes partial plans have to be looked at are planned exactly, by branch
// and bound over assignments and orders, with dominance between partial plans that leave the same tasks;
// others by beam search in two fixed orders, beside the plans that keep to one site. Bound limits the
// distance from the optimum.
//
// It returns an [*InfeasibleError] that names the task that no site can run or the input that no site
// has, and a [*NetworkError] if a site cannot hold the input that is placed there. It costs O(tasks ·
// (sites² + files · sites) · Beam) and Nodes times the sites squared.
func MakePlans(w *workflow.Workflow, net *Network, opt Options) (*Plans, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	p, err := newProblem(w, net, opt)
	if err != nil {
		return nil, err
	}
	s := &Plans{Bound: p.bound}
	plans := p.pure(s)
	for _, order := range p.orders() {
		if end := p.beam(order); end != nil {
			plans = append(plans, end)
		}
	}
	// The beam's plans are an upper bound for the exact search, which prunes the better the
	// lower that is.
	best := leastState(plans)
	if p.exactSize() {
		best = p.exact(best, s)
	}
	if best == nil {
		return nil, p.explainInfeasible()
	}
	s.Exact = s.Exact || best.makespan <= p.bound
	p.finish(s, best, plans)
	return s, nil
}

// leastState returns the state of the least makespan; of equals the state that moves least data, and of
// these the first. It is nil without states.
func leastState(all []*state) *state {
	var best *state
	for _, s := range all {
		if best == nil || s.makespan < best.makespan || s.makespan == best.makespan && s.moved < best.moved {
			best = s
		}
	}
	return best
}

// problem is the input of a search, with the values that are the same for every plan computed once. n is
// the number of tasks and np the number of sites; tasks, files and sites are numbers.
//
// A search is single-threaded: it appends to copies and reuses work, and both belong to the problem.
type problem struct {
	w     *workflow.Workflow // the workflow
	net   *Network           // its sites
	opt   Options
	n, np int // tasks and sites
	// sizes that are not known count as 0
	size   []workflow.Bytes   // of each file
	inputs [][]int32          // files of each task
	made   [][]int32          // files that each task writes
	reads  []int32            // how many tasks read each file
	time   []TaskTime         // of task·np² + compute·np + storage; NaN where it is not possible
	tail   []workflow.Seconds // from a task's end to the end of the workflow, at least
	head   []workflow.Seconds // to a task's start, at least
	bound  workflow.Seconds   // lower bound of every makespan
	// before any decision, with the inputs in their places; never changed after newProblem
	first *state
	// the last number that newGen gave
	gen    uint32
	copies []copyOf // of files, of all states
	work   scratch  // room to try an option
}

// A copyOf is a file's copy at a site, from a time on. Lists of copies share
// their ends between states.
//
// A new copy is put in front of the list of its file, which older states go on to see without
// it.
type copyOf struct {
	at   workflow.Seconds // when the copy exists
	site int32            // where it is
	next int32            // -1 if it is the last
}

// newProblem computes everything that all plans share. Afterwards only the list of copies and the
// scratch memory change.
func newProblem(w *workflow.Workflow, net *Network, opt Options) (*problem, error) {
	if opt.Model == nil {
		opt.Model = ScaledModel{}
	}
	if opt.Samples == 0 {
		opt.Samples = 100
	}
	if opt.Nodes == 0 {
		opt.Nodes = 20_000
	}
	if len(w.Tasks) == 0 {
		return nil, &workflow.InfeasibleError{Why: "a workflow without tasks"}
	}
	p := &problem{w: w, net: net, opt: opt, n: len(w.Tasks), np: len(net.sites)}
	// The order matters: emptyState needs the number of files, placeInputs the empty state, times
	// the files (see keeps), and bounds all of these.
	names := p.data()
	p.work = newScratch(p)
	p.first = p.emptyState()
	if err := p.placeInputs(names); err != nil {
		return nil, err
	}
	if err := p.times(); err != nil {
		return nil, err
	}
	p.bounds()
	return p, nil
}

// data fills the files of each task and returns their names.
//
// If a workflow records no files but its tasks have bytes, the files are made up: a task writes one file
// with all of its output, and reads the files of the tasks that it waits for and one more with the rest
// of its input. The last has the task's name, and no task writes it.
func (p *problem) data() (names []string) {
	w := p.w
	p.inputs, p.made = make([][]int32, p.n), make([][]int32, p.n)
	if len(w.Files) > 0 {
		for _, f := range w.Files {
			names = append(names, f.ID)
			p.size = append(p.size, max(f.Size, 0))
		}
		written := make([]bool, len(w.Files))
		for t := range p.n {
			for _, f := range w.Outputs(t) {
				if !written[f] { // the first task that writes a file makes it
					p.made[t] = append(p.made[t], f)
				}
				written[f] = true
			}
		}
		for t := range p.n {
			p.inputs[t] = readable(w, t)
		}
	} else {
		add := func(name string, size workflow.Bytes) int32 {
			names, p.size = append(names, name), append(p.size, size)
			return int32(len(names)) - 1
		}
		for t := range p.n {
			p.made[t] = []int32{add(w.Tasks[t].ID, max(w.Tasks[t].Out, 0))}
		}
		for t := range p.n {
			rest := w.Tasks[t].In
			for _, q := range w.Graph.Preds(t) {
				p.inputs[t] = append(p.inputs[t], p.made[q]...)
				rest -= w.Tasks[q].Out
			}
			if rest > 0 {
				p.inputs[t] = append(p.inputs[t], add(w.Tasks[t].ID, rest))
			}
		}
	}
	p.reads = make([]int32, len(p.size))
	for _, in := range p.inputs {
		for _, f := range in {
			p.reads[f]++
		}
	}
	return names
}

// readable returns the input files of t without those that it writes itself. A record of a
// task often lists a file that is updated on both sides; it would wait for itself.
func readable(w *workflow.Workflow, t int) []int32 {
	var out []int32
	for _, f := range w.Inputs(t) {
		own := false
		for _, m := range w.Outputs(t) {
			own = own || m == f
		}
		if !own {
			out = append(out, f)
		}
	}
	return out
}

// placeInputs puts the files that no task writes at their sites, and counts them as used storage there.
// It returns a [*MissingInputError] for a file without a site, named with the first task that reads it,
// and a [*NetworkError] for a site that cannot hold its inputs.
func (p *problem) placeInputs(names []string) error {
	written := make([]bool, len(names))
	for _, made := range p.made {
		for _, f := range made {
			written[f] = true
		}
	}
	for t, in := range p.inputs {
		for _, f := range in {
			if written[f] {
				continue
			}
			written[f] = true
			at := 0
			if p.opt.Data != nil {
				at = p.opt.Data(names[f])
			}
			if at < 0 || at >= p.np {
				return &MissingInputError{Input: names[f], Task: p.w.Tasks[t].ID}
			}
			p.addCopy(p.first, f, int32(at), 0)
			p.first.used[at] += p.size[f]
		}
	}
	for i, x := range p.first.used {
		if c := p.net.sites[i]; x > c.Storage {
			return &NetworkError{i, -1, fmt.Sprintf("site %s holds %s of input, but its storage is %s", c.Name,
				bytesText(x), bytesText(c.Storage))}
		}
	}
	return nil
}

// times asks the model for every task, site to compute at and site for data: n·np² times. It
// is NaN where the task cannot run: no slots, too little memory, or data at a site without
// storage. A time that is negative, infinite or no number is the model's mistake and ends the
// planning.
func (p *problem) times() error {
	p.time = make([]TaskTime, p.n*p.np*p.np)
	for t := range p.n {
		task := &p.w.Tasks[t]
		for c := range p.np {
			for s := range p.np {
				x := &p.time[(t*p.np+c)*p.np+s]
				at, store := &p.net.sites[c], &p.net.sites[s]
				if at.Slots == 0 || at.Memory > 0 && task.Memory > at.Memory || store.Storage == 0 && p.keeps(t) {
					x.Compute = math.NaN()
					continue
				}
				r := Resource{Compute: at, Storage: store}
				if c != s {
					r.Route = p.net.Route(s, c)
				}
				var err error
				if *x, err = p.opt.Model.Time(task, r); err != nil {
					return err
				}
				if d := x.Compute + x.Stall; !(d >= 0) || math.IsInf(d, 1) || !(x.Compute >= 0) || !(x.Stall >= 0) {
					return fmt.Errorf("task %q at %s with its data at %s takes %v s", task.ID, at.Name, store.Name, d)
				}
			}
		}
	}
	return nil
}

// keeps reports whether task t has data at all.
func (p *problem) keeps(t int) bool {
	for _, list := range [][]int32{p.inputs[t], p.made[t]} {
		for _, f := range list {
			if p.size[f] > 0 {
				return true
			}
		}
	}
	return false
}

// duration returns how long task t takes at site c with its data at d if it shares nothing:
// the model's time and the site's delay. It is NaN where that is not possible.
func (p *problem) duration(t, c, s int) workflow.Seconds {
	x := &p.time[(t*p.np+c)*p.np+s]
	return x.Compute + x.Stall + p.net.sites[c].Delay
}

// bytesText returns an amount of data for messages, with a decimal unit.
func bytesText(n workflow.Bytes) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.4g B", n)
}
