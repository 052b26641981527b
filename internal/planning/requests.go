package planning

// This file implements `assay plan --write`: it fits requests for the tasks of recorded
// executions, reports the results that they would have had, and writes them for Nextflow, Snakemake and
// Slurm.
//
// Names of kinds come from traces. They are data: no name that a trace has can become a part of the code
// that is written.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/workflow/request"
	"github.com/assay-run/assay/workflow"
)

// retries is the number of retries of a task in the written files: the fourth attempt has eight times
// the first request.
const retries = 3

// mostParts bounds into how many parts executions are put to be left out.
const mostParts = 10

// RequestOptions are the options of assay plan --write.
type RequestOptions struct {
	Failures float64 // share of tasks that may fail at first
	Assume   string  // memory asked for now where that is not recorded
}

// A RequestFormat is a way to write requests.
type RequestFormat struct {
	Name string
	// File is the name of the file that is written into a folder; "" if it is a file of its own.
	File string
	// sized: requests can depend on the size of the input
	sized bool
	write func(b *strings.Builder, p *RequestPlan)
}

// RequestFormats returns the ways to write requests.
func RequestFormats() []RequestFormat {
	return []RequestFormat{
		{"nextflow.config", "", false, writeNextflow},
		{"snakemake-profile", "config.yaml", true, writeSnakemake},
		{"sbatch", "", true, writeSbatch},
	}
}

// RequestFormatNames returns their names, for messages.
func RequestFormatNames() string {
	var names []string
	for _, f := range RequestFormats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// ParseRequestFormat reads NAME or NAME=FILE.
func ParseRequestFormat(s string) (f RequestFormat, file string, err error) {
	name, file, has := strings.Cut(s, "=")
	i := slices.IndexFunc(RequestFormats(), func(f RequestFormat) bool { return f.Name == name })
	if i < 0 || has && file == "" {
		return RequestFormat{}, "", assay.Errorf(assay.ClassUsage, "--write %q: want one of %s, or NAME=FILE", s,
			RequestFormatNames())
	}
	return RequestFormats()[i], file, nil
}

// A RequestPlan holds the requests and their results.
type RequestPlan struct {
	Executions int            `json:"executions"`
	Kinds      []request.Kind `json:"kinds"`
	// Assumed is the memory that tasks are held to have asked for whose request was not recorded:
	// AssumedTasks of the tasks of Now.
	Assumed      workflow.Bytes `json:"assumed_memory_B"`
	AssumedTasks int            `json:"assumed_tasks"`

	Now request.Tally `json:"now"` // as it was recorded
	// After is with these requests; LeftOut with each execution sized by the others, nil with one
	// execution.
	After   request.Tally  `json:"after"`
	LeftOut *request.Tally `json:"after_left_out,omitempty"`
	Notes   []string       `json:"notes"`
}

// MakeRequests fits requests to recorded executions and counts their results.
func MakeRequests(at Place, args []string, f RequestFormat, o RequestOptions) (*RequestPlan, error) {
	assumed, ok := workflow.ParseBytes(o.Assume)
	if !ok || !(assumed > 0) {
		return nil, assay.Errorf(assay.ClassUsage, "--assume %q: want an amount of memory, as 8GB", o.Assume)
	}
	if !(o.Failures > 0 && o.Failures < 1) {
		return nil, assay.Errorf(assay.ClassUsage, "--failures %g: not a share between 0 and 1", o.Failures)
	}
	runs, err := Sized(at, args)
	if err != nil {
		return nil, assay.WithClass(assay.ClassUsage, err)
	}
	executions := make([]request.Execution, len(runs))
	for i, r := range runs {
		executions[i] = request.Execution{Workflow: r.Workflow, Config: r.Config}
	}
	uses := request.Uses(executions)
	if len(uses) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "%s: no task with a kind and a run time", strings.Join(args, ", "))
	}
	p := makePlan(uses, len(runs), f, o.Failures, assumed)
	p.notes(uses, o)
	return p, nil
}

// makePlan fits and counts.
func makePlan(
	uses []request.Use, executions int, f RequestFormat, failures float64, assumed workflow.Bytes,
) *RequestPlan {
	p := &RequestPlan{Executions: executions, Assumed: assumed, Notes: []string{}}
	opt := request.Options{Failures: failures, NoSizes: !f.sized}
	fitted := request.Fit(uses, opt)
	p.Kinds = fitted.Kinds
	unasked := request.Constant(assumed)
	p.Now = request.CountRecorded(uses, unasked)
	p.After = request.Count(uses, fitted.Rules, unasked)
	if t, ok := request.Judge(uses, request.Fitted(opt), request.ByExecution, mostParts, unasked); ok {
		p.LeftOut = &t
	}
	return p
}

// notes adds the remarks of the plan.
func (p *RequestPlan) notes(uses []request.Use, o RequestOptions) {
	failures := o.Failures
	note := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	noPeak, noSize := 0, 0
	for i := range uses {
		if uses[i].AskMemory == 0 {
			p.AssumedTasks++
		}
		if uses[i].Memory == 0 {
			noPeak++
		}
		if uses[i].In == 0 {
			noSize++
		}
	}
	if p.AssumedTasks > 0 {
		note("%d of %d tasks have no recorded request of memory: now is %s for them (--assume)", p.AssumedTasks, len(uses),
			o.Assume)
	}
	if noPeak > 0 {
		note("%d of %d tasks have no recorded peak of memory, and count for time only", noPeak, len(uses))
	}
	if noSize > 0 {
		note("%d of %d tasks have no recorded input size: the requests of their kinds do not depend on it", noSize, len(uses))
	}
	few := 0
	for _, k := range p.Kinds {
		if k.Memory.Cautious || k.Time.Cautious {
			few++
		}
	}
	if few > 0 {
		note("%d of %d kinds, marked ~, have too few tasks to show that at most %.3g %% fail: "+
			"their requests are bounds with a margin, not below the largest use seen", few, len(p.Kinds), 100*failures)
	}
	if p.LeftOut == nil {
		note("only one execution: the result on another is not known")
	} else if share := p.LeftOut.FailedShare(); share > failures {
		note("with executions left out %.3g %% of the tasks fail at first, more than the %.3g %% asked for: "+
			"the executions differ more than their tasks show", 100*share, 100*failures)
	}
}

// Write writes the requests in a format, with their results as comments.
func (f RequestFormat) Write(w io.Writer, p *RequestPlan) error {
	var b strings.Builder
	f.write(&b, p)
	_, err := io.WriteString(w, b.String())
	return err
}

// Mark is in the first lines of the written file. It distinguishes a file of the user's own from one
// that may be written over.
const Mark = "written by assay plan --write"

// comments writes the head of a file: its mark and the results of the requests, a line each after a
// comment sign. Text of [report.Table] has no line breaks in its cells.
func comments(b *strings.Builder, sign string, p *RequestPlan, more ...string) {
	fmt.Fprintf(b, "%s Requests of memory and time, %s.\n", sign, Mark)
	for _, l := range more {
		fmt.Fprintf(b, "%s %s\n", sign, l)
	}
	var t strings.Builder
	p.text(&t)
	for l := range strings.Lines(t.String()) {
		fmt.Fprintln(b, strings.TrimRight(sign+" "+strings.TrimRight(l, "\n"), " "))
	}
}
