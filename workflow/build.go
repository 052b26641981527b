package workflow

import (
	"errors"
	"fmt"
	"math"
)

// A Pos is a place in an input file. The zero value is no place.
type Pos struct{ Line, Column int32 }

// An InputError describes an error in a workflow's input, and its place.
type InputError struct {
	File string // "" without a file
	Pos
	Msg string // without the place
}

// Error returns "file:line:column: message", without the parts that are not known.
func (e *InputError) Error() string {
	at := ""
	if e.File != "" {
		at = e.File + ":"
	}
	if e.Line > 0 {
		at += fmt.Sprintf("%d:", e.Line)
		if e.Column > 0 {
			at += fmt.Sprintf("%d:", e.Column)
		}
	}
	if at == "" {
		return e.Msg
	}
	return at + " " + e.Msg
}

// A Builder collects the tasks, files and dependencies of a workflow, in any order and by name. It
// remembers where each was defined, so that contradictions are reported there. The zero value is ready
// to use.
type Builder struct {
	Name, System, Format string    // see Workflow
	File                 string    // the input's name, for messages
	Makespan             Seconds   // recorded; 0 if none
	Machines             []Machine // in the order of the input
	Lost                 []Lost    // attempts that failed

	// Aliases lets dependencies name tasks by their Task name too, where no
	// task has that ID and one task only has that name (WfFormat before 1.5).
	Aliases bool

	// Invariant: first, task and alias have an entry for each name in names.
	names names   // of tasks, as defined or mentioned
	first []Pos   // where the name was first mentioned
	task  []int32 // index of the task with that ID, or -1
	alias []int32 // index of the task with that name, -1 for none, -2 for several
	tasks []Task  // in the order of their definitions
	// by index of task, like tasks
	where []Pos // of tasks
	// Edges by number of name until Build, which replaces them by indices of tasks: Build is called
	// once.
	from, to []int32 // names

	// Invariant: file has an entry for each name in files.
	files names
	file  []File // with its size
	// Pairs of a task and a file, in the order of the calls; Build drops repeated ones.
	inTask, inFile   []int32
	outTask, outFile []int32 // pairs for outputs
	// see Intern
	kinds map[string]string
	// index in Machines by name
	machine  map[string]int32
	warnings []string // see Workflow
}

// Task adds a task and returns its index. The task's ID must be new. Run is NaN
// if it is not known.
//
// After an error the task is not in the Builder, but its name is.
func (b *Builder) Task(t Task, pos Pos) (int, error) {
	n := b.Ref([]byte(t.ID), pos)
	if t.ID == "" {
		return 0, b.Errorf(pos, "a task has no id")
	}
	if old := b.task[n]; old >= 0 {
		return 0, b.Errorf(pos, "duplicate task id %q, first on line %d", t.ID, b.where[old].Line)
	}
	if err := b.checkRun(t.ID, t.Run, pos); err != nil {
		return 0, err
	}
	t.ID = b.names.said[n]
	b.task[n] = int32(len(b.tasks))
	b.tasks = append(b.tasks, t)
	b.where = append(b.where, pos)
	return len(b.tasks) - 1, nil
}

// checkRun returns an error if run is a number that no run time can be. NaN
// means a missing one here, which Build deals with.
func (b *Builder) checkRun(id string, run Seconds, pos Pos) error {
	if run < 0 || math.IsInf(run, 0) {
		return b.Errorf(pos, "task %q has run time %v s", id, run)
	}
	return nil
}

// Find returns the index of the task with that ID, or -1.
func (b *Builder) Find(id string) int {
	if n := b.names.find([]byte(id)); n >= 0 {
		return int(b.task[n])
	}
	return -1
}

// At returns the task of that index, to be completed. The pointer is valid
// until the next call of Task.
func (b *Builder) At(i int) *Task { return &b.tasks[i] }

// Len returns the number of tasks so far.
func (b *Builder) Len() int { return len(b.tasks) }

// Edge makes task to wait for task from. Either may be defined later.
func (b *Builder) Edge(from, to string, pos Pos) {
	b.EdgeRef(b.Ref([]byte(from), pos), b.Ref([]byte(to), pos))
}

// SetFile sets the size of a file, which may be mentioned earlier or later.
func (b *Builder) SetFile(id string, size Bytes) {
	b.SetSize(b.FileRef([]byte(id)), size)
}

// Input records that task i reads a file, Output that it writes one.
func (b *Builder) Input(i int, file string) {
	b.InputRef(i, b.FileRef([]byte(file)))
}

// Output records that task i writes a file.
func (b *Builder) Output(i int, file string) {
	b.OutputRef(i, b.FileRef([]byte(file)))
}

// Machine returns the index of the machine of that name, which is added if it
// is new.
func (b *Builder) Machine(name string) int {
	if i, ok := b.machine[name]; ok {
		return int(i)
	}
	if b.machine == nil {
		b.machine = map[string]int32{}
	}
	b.machine[name] = int32(len(b.Machines))
	b.Machines = append(b.Machines, Machine{Name: name})
	return len(b.Machines) - 1
}

// Warn adds a warning that travels with the workflow.
func (b *Builder) Warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// Errorf returns an [*InputError] of the Builder's File at pos.
func (b *Builder) Errorf(pos Pos, format string, args ...any) error {
	return &InputError{File: b.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// resolve returns the task that name n means.
//
// An ID goes before an alias. The error is at the first mention of the name, as the places of
// further ones are not kept.
func (b *Builder) resolve(n int32) (int32, error) {
	if t := b.task[n]; t >= 0 {
		return t, nil
	}
	if t := b.alias[n]; b.Aliases && t >= 0 {
		return t, nil
	} else if b.Aliases && t == -2 {
		return 0, b.Errorf(b.first[n], "several tasks are named %q", b.names.said[n])
	}
	return 0, b.Errorf(b.first[n], "a dependency names task %q, which is not defined", b.names.said[n])
}

// FillOptions selects how missing run times are filled in.
type FillOptions struct {
	// Fill replaces a missing run time by the median of its kind, or of all
	// tasks if its kind has none. Workflow.Filled counts them.
	Fill bool
	// Allow leaves them NaN, for a RunModel to supply.
	Allow bool
	// Infer derives dependencies from files, each reader waiting for the file's writer, if none was given.
	Infer bool
}

// Build returns the workflow. It reports, as an [*InputError], no tasks, a
// dependency on a task that is not defined, a cycle (by a shortest one), too
// many dependencies, and missing run times.
//
// The workflow takes over the slices of the Builder, which is not to be used afterwards, also after
// an error. If opt.Fill is set, missing run times are replaced in place.
func (b *Builder) Build(opt FillOptions) (*Workflow, error) {
	if len(b.tasks) == 0 {
		return nil, b.Errorf(Pos{}, "no tasks")
	}
	if len(b.from) > 2*MaxEdges { // WfFormat lists each twice
		return nil, b.Errorf(Pos{}, "%s", tooManyEdges(len(b.from)))
	}
	for k := range b.from {
		var err error
		if b.from[k], err = b.resolve(b.from[k]); err != nil {
			return nil, err
		}
		if b.to[k], err = b.resolve(b.to[k]); err != nil {
			return nil, err
		}
	}
	w := &Workflow{
		Name: b.Name, System: b.System, Format: b.Format, Tasks: b.tasks, Files: b.file, Machines: b.Machines,
		Makespan: b.Makespan, Warnings: b.warnings, Lost: b.Lost,
	}
	if !(w.Makespan > 0) {
		w.Makespan = math.NaN()
	}
	n := len(b.tasks)
	w.inputs = newCSR(n, b.inTask, b.inFile).compact(len(b.file))
	w.outputs = newCSR(n, b.outTask, b.outFile).compact(len(b.file))
	if len(b.from) == 0 && opt.Infer {
		b.infer(w)
	}
	g, err := NewGraph(n, b.from, b.to)
	if err != nil {
		return nil, b.graphError(err)
	}
	w.Graph = g
	sumFiles(w)
	return w, b.missing(w, opt)
}

// infer adds the dependencies that files imply.
//
// The last of several writers of a file counts. A task that reads a file that it writes does not
// wait for itself. Repeated edges are left to NewGraph. b.from and b.to hold tasks here, since Build has
// resolved them.
func (b *Builder) infer(w *Workflow) {
	writer := make([]int32, len(w.Files))
	for f := range writer {
		writer[f] = -1
	}
	for t := range w.Tasks {
		for _, f := range w.Outputs(t) {
			writer[f] = int32(t)
		}
	}
	for t := range w.Tasks {
		for _, f := range w.Inputs(t) {
			if p := writer[f]; p >= 0 && p != int32(t) {
				b.from, b.to = append(b.from, p), append(b.to, int32(t))
			}
		}
	}
}

// graphError gives a cycle its tasks' names and the place of its first task.
func (b *Builder) graphError(err error) error {
	var cycle *CycleError
	if !errors.As(err, &cycle) {
		return b.Errorf(Pos{}, "%v", err)
	}
	msg := ""
	for _, t := range cycle.Tasks {
		msg += fmt.Sprintf("%q -> ", b.tasks[t].ID)
	}
	first := cycle.Tasks[0]
	return b.Errorf(b.where[first], "tasks wait for each other: %s%q", msg, b.tasks[first].ID)
}

// sumFiles sets In and Out of tasks that have files.
//
// A task without files keeps the sizes in the input. A size that is not known counts as 0.
func sumFiles(w *Workflow) {
	for t := range w.Tasks {
		if in := w.Inputs(t); len(in) > 0 {
			w.Tasks[t].In = 0
			for _, f := range in {
				w.Tasks[t].In += w.Files[f].Size
			}
		}
		if out := w.Outputs(t); len(out) > 0 {
			w.Tasks[t].Out = 0
			for _, f := range out {
				w.Tasks[t].Out += w.Files[f].Size
			}
		}
	}
}

// missing fills or reports missing run times.
//
// Without a single run time even Fill has no median to fill with. The error is at the first task
// without one. Fill goes before Allow.
func (b *Builder) missing(w *Workflow, opt FillOptions) error {
	if opt.Allow && !opt.Fill {
		return nil
	}
	first, n := -1, 0
	for t := range w.Tasks {
		if math.IsNaN(w.Tasks[t].Run) {
			if n++; first < 0 {
				first = t
			}
		}
	}
	if n == 0 {
		return nil
	}
	if n == len(w.Tasks) {
		return b.Errorf(Pos{}, "no run times: the input describes a workflow but no execution of it; "+
			"give the records of an execution with it, with a comma between them")
	}
	if !opt.Fill {
		return b.Errorf(b.where[first],
			"task %q has no run time (%d of %d tasks have none; they can be filled from their kind's median)",
			w.Tasks[first].ID, n, len(w.Tasks))
	}
	w.Filled = fillMissing(w)
	return nil
}
