package workflow

import (
	"fmt"
	"math"
)

// Seconds is a length of time. NaN means not known.
type Seconds = float64

// Bytes is an amount of data. Sums over a large workflow exceed the digits that matter, so it is not an
// integer.
type Bytes = float64

// A Task is one program run of a workflow.
type Task struct {
	ID      string  // unique in the workflow
	Kind    string  // the program or rule it is a run of; "" if not known
	Run     Seconds // its run time; NaN if not known
	Start   Seconds // when it began, since the workflow's start; NaN if not known
	Cores   float64 // processors it keeps busy; 0 if not known, which counts as 1
	Memory  Bytes   // its largest resident set; 0 if not known
	In, Out Bytes   // sizes of its input and output files together
	// The request to the batch system; 0 if not known.
	AskMemory Bytes
	AskTime   Seconds // its limit
	Read      Bytes   // bytes read, if measured
	Written   Bytes   // bytes written, if measured
	Machine   int32   // index in Workflow.Machines, or -1

	// Auxiliary marks a task that the workflow system added: staging,
	// clean-up, making directories.
	Auxiliary bool
}

// A File is a file that tasks read or write.
type File struct {
	ID   string // unique in the workflow
	Size Bytes  // 0 if not known
}

// A Machine is a computer that ran, or can run, tasks.
type Machine struct {
	Name   string  // as recorded
	Cores  int     // as recorded, often hardware threads; 0 if not known
	Memory Bytes   // 0 if not known
	Speed  float64 // relative to the machine of the recorded run times; 0 counts as 1
	MHz    float64 // clock rate as recorded; 0 if not known
}

// A Workflow is a directed acyclic graph of tasks, with the known data of one execution of it. It is
// immutable once built, and safe for concurrent use.
type Workflow struct {
	Name     string    // as recorded
	System   string    // the workflow system that ran it, "Pegasus 4.9.3"; "" if not known
	Format   string    // the format of its source, "wfformat-1.5"
	Tasks    []Task    // by index, as in Graph
	Files    []File    // of all tasks
	Machines []Machine // of the recorded execution
	Makespan Seconds   // of the recorded execution; NaN if none was recorded
	Graph    *Graph    // of the dependencies

	Lost []Lost // attempts that failed, in the order in which they were recorded

	Filled   int      // run times that were missing and filled from their kind
	Warnings []string // oddities of the input, for people

	inputs, outputs csr // files of each task
}

// Inputs returns the indices in w.Files of the files that task t reads. The
// slice must not be changed.
func (w *Workflow) Inputs(t int) []int32 { return w.inputs.row(t) }

// Outputs returns the indices in w.Files of the files that task t writes. The
// slice must not be changed.
func (w *Workflow) Outputs(t int) []int32 { return w.outputs.row(t) }

// Runs returns a copy of the tasks' run times.
func (w *Workflow) Runs() []Seconds {
	run := make([]Seconds, len(w.Tasks))
	for i := range w.Tasks {
		run[i] = w.Tasks[i].Run
	}
	return run
}

// WithRuns returns w with other run times. It shares everything else with w.
// It panics if there is not one run time per task.
func (w *Workflow) WithRuns(run []Seconds) *Workflow {
	if len(run) != len(w.Tasks) {
		panic("workflow: slice length mismatch")
	}
	v := *w
	v.Tasks = make([]Task, len(w.Tasks))
	copy(v.Tasks, w.Tasks)
	for i := range run {
		v.Tasks[i].Run = run[i]
	}
	return &v
}

// Check returns an error that names the first task whose run time is missing,
// negative or infinite, which no estimate can use.
func (w *Workflow) Check() error {
	for i := range w.Tasks {
		if r := w.Tasks[i].Run; !(r >= 0) || math.IsInf(r, 1) {
			return fmt.Errorf("task %q has run time %v s", w.Tasks[i].ID, r)
		}
	}
	return nil
}

// Cores returns the processors of the machines that ran tasks, or of all
// machines if none is named by a task; 0 if no machine was recorded. Recorded
// cores are hardware threads more often than slots: see [Calibrate].
func (w *Workflow) Cores() int {
	used := make([]bool, len(w.Machines))
	any := false
	for i := range w.Tasks {
		if m := w.Tasks[i].Machine; m >= 0 {
			used[m], any = true, true
		}
	}
	n := 0
	for i, m := range w.Machines {
		if used[i] || !any {
			n += max(m.Cores, 1)
		}
	}
	return n
}

// Work returns the sum of the run times, the makespan on one slot.
func (w *Workflow) Work() Seconds {
	sum := 0.0
	for i := range w.Tasks {
		sum += w.Tasks[i].Run
	}
	return sum
}
