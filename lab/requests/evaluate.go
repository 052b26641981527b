// Package requests judges requests for the tasks of workflows, by leaving recorded executions out: our
// own rules beside the rules of papers.
package requests

import (
	"fmt"
	"maps"
	"slices"

	"github.com/assay-run/assay/internal/workflow/request"
	"github.com/assay-run/assay/internal/workflow/trace"
)

// A Method is a way to size tasks.
type Method struct {
	Name  string
	About string
	request.Sizer
}

// Methods returns the methods to compare, for a share of tasks that may fail.
func Methods(failures float64) []Method {
	o := request.Options{Failures: failures}
	flat := o
	flat.NoSizes = true
	return []Method{
		{"assay", "memory and time, by input size where that helps", request.Fitted(o)},
		{"assay, no sizes", "the same where requests cannot depend on the input", request.Fitted(flat)},
		{"assay, memory", "memory alone, by input size", memoryAlone(request.Fitted(o))},
		{"Witt 95 %", "the 95th percentile of the peaks", wittPercentile(0.95)},
		{"Witt 99 %", "the 99th percentile of the peaks", wittPercentile(0.99)},
		{"Witt LR", "a line over the input size and a deviation", perKind(wittRegression)},
		{"Ponder", "its rules", perKind(ponder)},
	}
}

// memoryAlone returns a sizer without requests of time.
func memoryAlone(s request.Sizer) request.Sizer {
	return func(seen []request.Use) func(*request.Use) (memory, time request.Rule) {
		rules := s(seen)
		return func(u *request.Use) (memory, time request.Rule) {
			m, _ := rules(u)
			return m, request.Rule{}
		}
	}
}

// An Outcome is the result of a method on the executions of an application.
type Outcome struct {
	Method string `json:"method"`
	request.Tally
	Share float64 `json:"failed_share"`
	// Relative is the waste, relative to the waste now.
	Relative float64 `json:"wasted_of_now"`
}

// An App is an application, or all of them.
type App struct {
	Name       string `json:"application"`
	Executions int    `json:"executions"`
	Configs    int    `json:"configs"`
	Kinds      int    `json:"kinds"`
	// Asked is whether the requests of these executions were recorded.
	Asked    bool      `json:"requests_recorded"`
	Now      Outcome   `json:"now"`
	Outcomes []Outcome `json:"methods"`
}

// A Report is an evaluation.
type Report struct {
	Hold    string `json:"hold"` // execution or config
	Assumed string `json:"assumed_request"`
	Apps    []App  `json:"applications"`
	All     App    `json:"all"`
	// Single are applications no kind of whose tasks is in two executions or configurations: nothing can
	// be left out.
	Single []string `json:"single,omitempty"`
}

// Evaluate sizes the tasks of each execution from the others of its application. With byConfig the
// repetitions of an execution are left out with it.
func Evaluate(runs []trace.Recorded, methods []Method, byConfig bool, unasked request.Rule) (*Report, error) {
	apps := map[string][]request.Execution{}
	for _, r := range runs {
		apps[r.App] = append(apps[r.App], request.Execution{Workflow: r.Workflow, Config: r.Config})
	}
	group, hold := request.ByExecution, "execution"
	if byConfig {
		group, hold = request.ByConfig, "config"
	}
	rep := &Report{Hold: hold, Assumed: fmt.Sprintf("%g GB", unasked.High/1e9), All: App{Name: "all"}}
	for _, name := range slices.Sorted(maps.Keys(apps)) {
		uses := request.Uses(apps[name])
		uses = slices.DeleteFunc(uses, func(u request.Use) bool { return u.Memory == 0 })
		a, ok := evaluate(name, uses, methods, group, unasked)
		if !ok {
			rep.Single = append(rep.Single, name)
			continue
		}
		rep.Apps = append(rep.Apps, a)
		rep.All.add(a)
	}
	if len(rep.Apps) == 0 {
		return nil, fmt.Errorf("no application with two %ss that have the peak memory of tasks", hold)
	}
	rep.All.finish()
	return rep, nil
}

// evaluate evaluates the methods on one application; false if nothing can be left out.
func evaluate(
	name string, uses []request.Use, methods []Method, group func(*request.Use) int, unasked request.Rule,
) (App, bool) {
	a := App{Name: name}
	executions, configs, kinds := map[int]bool{}, map[int]bool{}, map[string]bool{}
	first, shared := map[string]int{}, false
	for i := range uses {
		u := &uses[i]
		if g, ok := first[u.Kind]; ok {
			shared = shared || g != group(u)
		} else {
			first[u.Kind] = group(u)
		}
		executions[u.Execution], configs[u.Config], kinds[u.Kind] = true, true, true
		a.Asked = a.Asked || u.AskMemory > 0
	}
	if !shared {
		return a, false
	}
	a.Executions, a.Configs, a.Kinds = len(executions), len(configs), len(kinds)
	a.Now = Outcome{Method: "now", Tally: request.CountRecorded(uses, unasked)}
	for _, m := range methods {
		t, ok := request.Judge(uses, m.Sizer, group, 0, unasked)
		if !ok {
			return a, false
		}
		a.Outcomes = append(a.Outcomes, Outcome{Method: m.Name, Tally: t})
	}
	a.finish()
	return a, true
}

// add adds the counts of an application.
func (a *App) add(o App) {
	a.Executions += o.Executions
	a.Configs += o.Configs
	a.Kinds += o.Kinds
	a.Asked = a.Asked || o.Asked
	a.Now.Method = o.Now.Method
	a.Now.Tally.Add(o.Now.Tally)
	if a.Outcomes == nil {
		a.Outcomes = make([]Outcome, len(o.Outcomes))
	}
	for i := range o.Outcomes {
		a.Outcomes[i].Method = o.Outcomes[i].Method
		a.Outcomes[i].Tally.Add(o.Outcomes[i].Tally)
	}
}

// finish sets the values that follow from the counts.
func (a *App) finish() {
	a.Now.Share, a.Now.Relative = a.Now.FailedShare(), 1
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		o.Share = o.FailedShare()
		if a.Now.Wasted > 0 {
			o.Relative = o.Wasted / a.Now.Wasted
		}
	}
}
