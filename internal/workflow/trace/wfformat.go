package trace

import (
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file reads WfFormat's data of a workflow, wftask.go its data of the tasks, and wfexecution.go its
// data of the execution. The schemas are at github.com/wfcommons/WfFormat. Members are also read under
// the names that older versions or other writers give them.

// readWfFormat reads WfFormat JSON (wfcommons/WfFormat): 1.5 and 1.6, which keep specification and
// execution apart, 1.0 to 1.4 and its ancestor 0.1 of the 2016 Pegasus executions, which do not. The
// members are understood in any order and unknown ones skipped.
//
// Dependencies are parents and children together; in a file with neither, the dependencies that its
// files imply.
//
// Format is set last, since version and form are known at the end only. After an error b holds a part of
// the workflow and must be dropped.
func readWfFormat(s *jsonScanner, b *workflow.Builder) error {
	r := wfReader{s: s, b: b, version: "unknown"}
	if err := s.object(r.top); err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	b.Format = "wfformat-" + r.version
	if r.plain {
		b.Format = "json"
	}
	return nil
}

// wfReader is the state of reading a file. Its version is known at the end only, since members may be in
// any order: see check.
type wfReader struct {
	s       *jsonScanner
	b       *workflow.Builder
	version string
	split   bool // has workflow.specification or workflow.execution
	flat    bool // has workflow.tasks or workflow.jobs
	flatPos workflow.Pos
	// Members are read whole: once spec is set and another member begins, all tasks of the specification are defined.
	spec  bool // has workflow.specification
	plain bool // has tasks: a plain table

	// One is enough, since tasks do not nest. addTask has used it up before the next task begins.
	names taskNames // of the task being read

	// The place where the next name of each sort is looked for first; see nameNear.
	nearID, nearParent, nearChild workflow.TaskRef
	nearFile                      workflow.FileRef

	// Empty in files that follow the order of the schema.
	early []earlyRun // execution tasks that came before the specification

	merged []bool // by task: merged with the execution; may be shorter than the tasks
}

// earlyRun is an execution's data of a task that is not defined yet.
//
// The id is kept as text and not as a number: check asks the Builder by name.
type earlyRun struct {
	id   string
	task workflow.Task
	pos  workflow.Pos
}

// top reads a member of the file.
//
// It also reads the members of a plain table, whose tasks are at the top. Which of the two a file is check finds out.
func (r *wfReader) top(key []byte) (err error) {
	switch string(key) {
	case "name":
		r.b.Name, err = r.text()
	case "schemaVersion":
		r.version, err = r.text()
	case "runtimeSystem", "wms":
		name, version := "", ""
		err = r.s.object(func(key []byte) (err error) {
			switch string(key) {
			case "name":
				name, err = r.text()
			case "version":
				version, err = r.text()
			default:
				err = r.s.skip()
			}
			return err
		})
		r.b.System = strings.TrimSpace(name + " " + version)
	case "workflow":
		err = r.s.object(r.workflow)
	case "tasks":
		r.plain = true
		err = r.s.array(r.plainTask)
	case "makespan_s", "cores", "system":
		err = r.plainMember(string(key))
	default:
		err = r.s.skip()
	}
	return err
}

// text reads a string, or a number as its digits, or null as "".
//
// Some writers give versions and node names as numbers.
func (r *wfReader) text() (string, error) {
	switch c := r.s.peek(); {
	case c == 'n':
		return "", r.s.skip()
	case c == '-' || c == 'N' || c == 'I' || c >= '0' && c <= '9':
		x, err := r.s.number()
		return strconv.FormatFloat(x, 'g', -1, 64), err
	}
	t, err := r.s.str()
	return string(t), err
}

// workflow reads a member of the workflow, in the forms of all versions.
//
// Aliases is set for tasks of the older form only: there, dependencies may use a name in place of an id.
func (r *wfReader) workflow(key []byte) error {
	switch string(key) {
	case "specification":
		r.split, r.spec = true, true
		return r.s.object(r.specification)
	case "execution":
		r.split = true
		return r.s.object(r.execution)
	case "tasks", "jobs":
		r.flat, r.flatPos = true, r.s.place()
		r.b.Aliases = true
		return r.s.array(r.flatTask)
	case "makespanInSeconds", "makespan":
		return r.makespan()
	case "machines":
		return r.s.array(r.machine)
	}
	return r.s.skip()
}

// makespan reads the recorded makespan. 0 means not recorded.
//
// The last that is read counts, wherever it stands. null means not recorded, too.
func (r *wfReader) makespan() error {
	pos := r.s.place()
	x, err := r.s.number()
	if err != nil {
		return err
	}
	if x < 0 {
		return r.b.Errorf(pos, "makespan is %v s", x)
	}
	r.b.Makespan = x
	return nil
}

// specification reads a member of workflow.specification (1.5 and later).
func (r *wfReader) specification(key []byte) error {
	switch string(key) {
	case "tasks":
		return r.s.array(r.specTask)
	case "files":
		return r.s.array(r.listedFile)
	}
	return r.s.skip()
}

// execution reads a member of workflow.execution (1.5 and later).
func (r *wfReader) execution(key []byte) error {
	switch string(key) {
	case "makespanInSeconds", "makespan":
		return r.makespan()
	case "tasks":
		return r.s.array(r.execTask)
	case "machines":
		return r.s.array(r.machine)
	}
	return r.s.skip()
}

// sizedFile reads {"id": …, "sizeInBytes": …} and returns the file's number, -1 if it has no name.
//
// A size of 0 or null is not kept: the file may have its size elsewhere. The hint nearFile is for
// lists of files in the order of their first mention.
func (r *wfReader) sizedFile() (workflow.FileRef, error) {
	f, size := workflow.FileRef(-1), math.NaN()
	err := r.s.object(func(key []byte) error {
		switch string(key) {
		case "id", "name":
			id, err := r.s.str()
			f = r.b.FileRefNear(&r.nearFile, id)
			return err
		case "sizeInBytes", "size":
			return r.amount(&size, "size")
		}
		return r.s.skip()
	})
	if f >= 0 && size > 0 {
		r.b.SetSize(f, size)
	}
	return f, err
}

// listedFile is sizedFile in the list of a workflow's files.
func (r *wfReader) listedFile() error {
	_, err := r.sizedFile()
	return err
}

// amount reads a number that is not negative.
//
// null leaves x as it is. The unit is the caller's. The argument "what" names the amount in an error, at
// the place of the number.
func (r *wfReader) amount(x *float64, what string) error {
	pos := r.s.place()
	v, err := r.s.number()
	if err != nil {
		return err
	}
	if v < 0 {
		return r.b.Errorf(pos, "%s is %v", what, v)
	}
	if !math.IsNaN(v) {
		*x = v
	}
	return nil
}

// check reports errors that show at the end only.
//
// It reports a mix of forms before a wrong version, which a mix would explain. Tasks in early are merged
// last, when all tasks are defined.
func (r *wfReader) check() error {
	if err := r.checkForm(); err != nil {
		return err
	}
	for _, e := range r.early {
		i := r.b.Find(e.id)
		if i < 0 {
			if r.spec {
				return r.b.Errorf(e.pos, "task %q of the execution is not in the specification", e.id)
			}
			return r.b.Errorf(e.pos, "workflow.execution without workflow.specification")
		}
		if err := r.merge(i, e.task, e.pos); err != nil {
			return err
		}
	}
	return nil
}

// checkForm checks that the file has one of the forms, and the one of its version.
func (r *wfReader) checkForm() error {
	if r.plain && (r.split || r.flat) {
		return r.b.Errorf(lineCol(1, 1), "both tasks and a workflow: is this WfFormat or a plain table?")
	}
	if !r.plain && !r.split && !r.flat {
		return r.b.Errorf(lineCol(1, 1), "neither a workflow nor tasks: no tasks")
	}
	if r.split && r.flat {
		return r.b.Errorf(r.flatPos,
			"schema version %s mixes the tasks of WfFormat 1.4 with the specification and execution of 1.5", r.version)
	}
	stated := r.version != "unknown" // otherwise the form of the workflow decides
	// Versions are compared as text, which is right for 0.1 to 1.9.
	newer := r.version >= "1.5" && len(r.version) >= 3
	if stated && (r.split && !newer || r.flat && newer) {
		return r.b.Errorf(lineCol(1, 1), "schema version is %s, but the workflow is written as in %s", r.version,
			map[bool]string{true: "1.5", false: "1.4"}[r.split])
	}
	return nil
}
