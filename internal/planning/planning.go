// Package planning is the part of `assay plan` between its options and its report: it reads workflows
// and their descriptions from a place, and plans. The files of options are read from the same place as
// the workflows, so that a server that plans uploaded files reads nothing else.
//
// Every error is of the class usage: it names the option, or the place in the file.
//
// The package shows plans as text for people, as JSON for programs, and drawn. The JSON of a plan is part of the
// command's contract: members are added, never renamed.
package planning

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/workflow"
)

// Options are the options of assay plan, as they are written. Options that name files name them at the
// place of the planner.
type Options struct {
	Slots, Levels          string
	Simulate, LongestPath  bool
	Fill                   bool // missing run times from the median of their kind
	Delay, Start, Deadline time.Duration
	Calibrate              []string
	Price, Prices, Sites   string
	Budget                 float64
	Error                  float64
	Samples                int
	Seed                   uint64
	Times, SlotTimes       []string
	Clusters               int
	Machines               []string
}

// Limits are the most that is planned; 0 is without a limit.
type Limits struct {
	Tasks int // of a workflow
	Slots int // any number of slots, and the cores of all machines
	// Work is tasks times numbers of slots, ways to count levels, offers and random sets of run times.
	Work float64
}

// A Planner plans workflows by one set of options. Make one with [New].
type Planner struct {
	Options
	At     Place
	Stdin  io.Reader // the file "-"
	Limits Limits

	opt    workflow.PlanOptions
	offers []workflow.Offer
	times  *workflow.KindModel
	slots  []int
}

// usagef returns an error of the class of mistakes in options and files.
func usagef(format string, args ...any) error { return assay.Errorf(assay.ClassUsage, format, args...) }

// mistake returns an error about a named file or value, or about its content.
func mistake(err error) error { return assay.WithClass(assay.ClassUsage, err) }

// New reads the files that the options name, and returns a planner.
func New(at Place, o Options) (*Planner, error) {
	p := &Planner{Options: o, At: at}
	var err error
	if p.slots, err = workflow.ParseSlots(o.Slots); err != nil {
		return nil, usagef("--slots %q: %v", o.Slots, err)
	}
	if p.opt.Levelers, err = ParseLevelers(o.Levels); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	p.opt.Overhead = workflow.Overhead{Level: o.Delay.Seconds(), Start: o.Start.Seconds()}
	p.opt.Deadline, p.opt.Budget = o.Deadline.Seconds(), o.Budget
	p.opt.Vary = workflow.VaryOptions{Error: o.Error, Samples: o.Samples, Seed: o.Seed}
	p.opt.Simulate = o.Simulate || len(o.Machines) > 0 || o.LongestPath
	if o.LongestPath {
		p.opt.Sim.Policy = workflow.LongestPath
	}
	if p.opt.Sim.Machines, err = workflow.ParseMachines(o.Machines); err != nil {
		return nil, usagef("--machines %v", err)
	}
	if p.offers, err = p.readOffers(); err != nil {
		return nil, mistake(err)
	}
	if p.times, err = o.KindTimes(at); err != nil {
		return nil, err
	}
	if len(o.SlotTimes) > 0 {
		if p.opt.SlotTimes, err = SlotTimes(at, o.SlotTimes); err != nil {
			return nil, mistake(err)
		}
	}
	if len(o.Calibrate) > 0 {
		if p.opt.Calibration, err = Calibration(at, o.Calibrate); err != nil {
			return nil, mistake(err)
		}
	}
	return p, nil
}

// ParseLevelers reads the option levels.
func ParseLevelers(s string) ([]workflow.NamedLeveler, error) {
	l, err := workflow.ParseLevelers(s)
	if err != nil {
		return nil, usagef("--levels %v", err)
	}
	return l, nil
}

// Check returns an error for a number out of range.
func (o Options) Check() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"delay", o.Delay}, {"start", o.Start}, {"deadline", o.Deadline}} {
		if d.value < 0 {
			return usagef("--%s %s: it is negative", d.name, d.value)
		}
	}
	switch {
	case !(o.Budget >= 0):
		return usagef("--budget %g: not a sum of at least 0", o.Budget)
	case !(o.Error >= 0 && o.Error < 1):
		return usagef("--error %g: not a number from 0, below 1", o.Error)
	case o.Samples < 1:
		return usagef("--samples %d: at least 1", o.Samples)
	case o.Clusters < 0:
		return usagef("--clusters %d: at least 1", o.Clusters)
	}
	return nil
}

// KindTimes returns the run times of the option times-from, nil if there are none.
func (o Options) KindTimes(at Place) (*workflow.KindModel, error) {
	if len(o.Times) == 0 {
		return nil, nil
	}
	times, err := KindTimes(at, o.Times)
	if err != nil {
		return nil, mistake(err)
	}
	return times, nil
}

// Calibration returns the calibration from recorded executions, nil if none were named.
func (p *Planner) Calibration() *workflow.Calibration { return p.opt.Calibration }

// readOffers returns the offers that the options name to compare, a single one without a name if they
// name none.
func (p *Planner) readOffers() ([]workflow.Offer, error) {
	name := p.Sites
	if name == "" {
		name = p.Prices
	}
	if name == "" {
		return workflow.OneOffer(p.Price)
	}
	data, err := ReadFile(p.At, name)
	if err != nil {
		return nil, err
	}
	if p.Sites != "" {
		return workflow.ReadOffers(name, data, p.Price)
	}
	return workflow.ReadPrices(name, data)
}

// Plan plans the workflow that arg names, under every offer.
func (p *Planner) Plan(arg string) (*Plan, error) {
	w, err := Read(p.At, arg, p.Stdin, workflow.FillOptions{Fill: p.Fill, Allow: p.times != nil})
	if err != nil {
		return nil, mistake(err)
	}
	r := &Plan{
		Options: p.opt, Offers: p.offers, Priced: p.Price != "" || p.Prices != "" || p.Sites != "",
	}
	if w.Filled > 0 {
		r.Note("%d of %d run times were missing and are their kind's median", w.Filled, len(w.Tasks))
	}
	w, notes, err := p.Refine(w, p.times)
	if err != nil {
		return nil, err
	}
	r.Workflow, r.Notes = w, append(r.Notes, notes...)
	if r.Options.Slots = p.slots; r.Options.Slots == nil {
		r.Options.Slots = workflow.DefaultSlots(w)
	}
	if err := p.within(r); err != nil {
		return nil, err
	}
	if err := calibrated(r); err != nil {
		return nil, err
	}
	if r.Comparison, err = workflow.Compare(w, r.Offers, r.Options); err != nil {
		return nil, mistake(err)
	}
	r.NoteSimulation()
	return r, nil
}

// within returns an error if a plan is beyond the limits.
func (p *Planner) within(r *Plan) error {
	tasks, cores, sets := len(r.Workflow.Tasks), 0.0, 1
	machines := [][]workflow.MachineGroup{r.Options.Sim.Machines}
	for _, o := range r.Offers {
		machines = append(machines, o.Machines)
	}
	for _, all := range machines {
		for _, m := range all {
			cores = max(cores, float64(m.Count)*max(1, m.Cores))
		}
	}
	if p.Error > 0 {
		sets = p.Samples
	}
	most := slices.Max(r.Options.Slots)
	work := float64(tasks) * float64(len(r.Options.Slots)*len(r.Options.Levelers)*len(r.Offers)) * float64(sets)
	switch l := p.Limits; {
	case l.Tasks > 0 && tasks > l.Tasks:
		return usagef("the workflow has %d tasks: at most %d are planned here", tasks, l.Tasks)
	case l.Slots > 0 && (most > l.Slots || cores > float64(l.Slots)):
		return usagef("%.0f slots: at most %d are planned here", max(float64(most), cores), l.Slots)
	case l.Work > 0 && work > l.Work:
		return usagef("%d tasks on %d numbers of slots by %d ways for %d prices and %d sets of run times are too many here",
			tasks, len(r.Options.Slots), len(r.Options.Levelers), len(r.Offers), sets)
	}
	return nil
}

// Refine turns a workflow that was read into the workflow to plan, with the run times of times-from,
// which may be nil, and the jobs of clusters. The notes list its oddities.
func (o Options) Refine(w *workflow.Workflow, times *workflow.KindModel) (_ *workflow.Workflow, notes []string,
	err error,
) {
	notes = append(notes, w.Warnings...)
	if times != nil {
		var n int
		if w, n = workflow.Predicted(w, times, nil); n < len(w.Tasks) {
			notes = append(notes, fmt.Sprintf("%d of %d tasks are of a kind that --times-from does not know",
				len(w.Tasks)-n, len(w.Tasks)))
		}
	}
	if err := w.Check(); err != nil {
		return nil, nil, mistake(err)
	}
	if o.Clusters > 0 {
		w, err = workflow.Cluster(w, workflow.TopDown{}, o.Clusters)
	}
	return w, notes, err
}

// calibrated predicts the recorded execution, and notes the assumptions.
func calibrated(r *Plan) error {
	c := r.Options.Calibration
	if c == nil {
		if r.Options.Overhead == (workflow.Overhead{}) {
			r.Note("no overhead is assumed: the site's delays are not known (--calibrate, --delay)")
		}
		return nil
	}
	s, err := c.Predict(r.Workflow, workflow.TopDown{}, 0)
	if err != nil {
		return err
	}
	r.Recorded = &s
	if c.Configs == 1 {
		r.Note("calibrated from one configuration only: intervals are a guess")
	}
	return nil
}

// Runs combines recorded executions: with ranges into the range of their predictions, else into the mean
// of all. The option levels names one way to count levels.
func (p *Planner) Runs(args []string, ranges bool) (*Runs, error) {
	if len(p.opt.Levelers) != 1 {
		return nil, usagef("--levels %s: one way to count levels at a time", p.Levels)
	}
	r := &Runs{Method: p.opt.Levelers[0].Name}
	var err error
	if r.Runs, err = Executions(p.At, args); err != nil {
		return nil, mistake(err)
	}
	if p.slots == nil {
		for _, w := range r.Runs {
			p.slots = append(p.slots, workflow.DefaultSlots(w)...)
		}
	}
	if err := p.several(r, ranges); err != nil {
		return nil, mistake(err)
	}
	return r, nil
}

// several predicts from each execution of r.
func (p *Planner) several(r *Runs, ranges bool) (err error) {
	l := p.opt.Levelers[0].Leveler
	if ranges {
		model := workflow.ByLevels(l, p.opt.Overhead)
		if p.opt.Calibration != nil {
			model = p.opt.Calibration.Estimator(l)
		}
		r.Ranges, err = workflow.Range(r.Runs, p.slots, model)
		return err
	}
	slots, vary := workflow.RunSlots(r.Runs, p.slots), p.opt.Vary
	if r.Error = vary.Error; r.Error == 0 {
		vary.Samples = 1 // all would be the same
	}
	if c := p.opt.Calibration; c != nil {
		r.Average, err = c.Average(r.Runs, l, slots, vary)
		return err
	}
	r.Average, err = workflow.Average(r.Runs, l, p.opt.Overhead, slots, vary)
	return err
}
