package trace

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file reads what WfFormat says of a workflow, and wfexecution.go what it says of the
// execution. The schemas are those of github.com/wfcommons/WfFormat. Members are also read under
// the names that older versions or other writers give them.

// readWfFormat reads WfFormat JSON (wfcommons/WfFormat): 1.5 and 1.6, which keep
// specification and execution apart, 1.0 to 1.4 and its ancestor 0.1 of the
// 2016 Pegasus executions, which do not. The members are understood in any
// order and unknown ones skipped.
//
// Dependencies are those of parents and children together; where a file has
// neither, those that its files imply.
//
// Format is set last, since version and form are known at the end only. After an error b holds a
// part of the workflow and must be dropped.
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

// wfReader is what is known of the file so far. Which version it is shows at the
// end only, since members may come in any order: see check.
type wfReader struct {
	s       *jsonScanner
	b       *workflow.Builder
	version string
	split   bool // has workflow.specification or workflow.execution
	flat    bool // has workflow.tasks or workflow.jobs
	flatPos workflow.Pos
	// Members are read whole: once spec is set and another member begins, all tasks of the
	// specification are defined.
	spec  bool // has workflow.specification
	plain bool // has tasks: a plain table

	// One is enough, since tasks do not nest. addTask has used it up before the next task begins.
	names taskNames // of the task being read

	// Where the next name of each sort is looked for first; see nameNear.
	nearID, nearParent, nearChild workflow.TaskRef
	nearFile                      workflow.FileRef

	// Empty in files that follow the order of the schema.
	early []earlyRun // execution tasks that came before the specification
}

// earlyRun is what an execution says of a task that is not defined yet.
//
// The id is kept as text and not as a number: check asks the Builder by name.
type earlyRun struct {
	id   string
	task workflow.Task
	pos  workflow.Pos
}

// top reads a member of the file.
//
// It also reads the members of a plain table, whose tasks are at the top. Which of the two a file
// is check finds out.
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
		return "", r.s.literal("null")
	case c == '-' || c == 'N' || c == 'I' || c >= '0' && c <= '9':
		x, err := r.s.number()
		return strconv.FormatFloat(x, 'g', -1, 64), err
	}
	t, err := r.s.str()
	return string(t), err
}

// workflow reads a member of the workflow, in the forms of all versions.
//
// Aliases is set for tasks of the older form only: there, dependencies may use a name in place of
// an id.
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

// makespan reads the recorded makespan. 0 means that there is none.
//
// The last that is read counts, wherever it stands. null means that there is none, too.
func (r *wfReader) makespan() error {
	r.s.peek()
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

// sizedFile reads {"id": …, "sizeInBytes": …} and returns the file's number, -1 if it
// has no name.
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
// null leaves x as it is. The unit is the caller's. what names the amount in an error, at the place
// of the number.
func (r *wfReader) amount(x *float64, what string) error {
	r.s.peek()
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

// taskNames are the members of a task that name other things. They are kept
// by number until its id is known.
//
// Members come in any order, and edges need the id of the task: they are added by addTask. The
// slices are reused from task to task.
type taskNames struct {
	// -1 if not said
	name, id        workflow.TaskRef
	parents, childs []workflow.TaskRef
	inputs, outputs []workflow.FileRef
	// of the execution, without its path; "" if not said
	program          string
	category, taskTy string
}

// reset empties n for the next task, keeping its slices.
//
// What the previous task named is gone after it.
func (n *taskNames) reset() *taskNames {
	*n = taskNames{
		name: -1, id: -1, parents: n.parents[:0], childs: n.childs[:0], inputs: n.inputs[:0],
		outputs: n.outputs[:0],
	}
	return n
}

// refs reads a list of names of tasks and appends their numbers to into.
//
// A name need not be that of a task yet. Its place is kept for the case that it never is. near is
// the hint for this sort of names: see Builder.RefNear.
func (r *wfReader) refs(into []workflow.TaskRef, near *workflow.TaskRef) ([]workflow.TaskRef, error) {
	err := r.s.array(func() error {
		r.s.peek()
		pos := r.s.place()
		id, err := r.s.str()
		if err != nil {
			return err
		}
		into = append(into, r.b.RefNear(near, id, pos))
		return nil
	})
	return into, err
}

// fileRefs reads a list of files, names or objects, and appends their numbers to
// into.
//
// A file object without a name is dropped, as nothing can refer to it.
func (r *wfReader) fileRefs(into []workflow.FileRef) ([]workflow.FileRef, error) {
	err := r.s.array(func() error {
		if r.s.peek() == '{' { // {"id": …, "sizeInBytes": …}, seen in the wild
			f, err := r.sizedFile()
			if f >= 0 {
				into = append(into, f)
			}
			return err
		}
		id, err := r.s.str()
		if err != nil {
			return err
		}
		into = append(into, r.b.FileRef(id))
		return nil
	})
	return into, err
}

// specTask reads a task of workflow.specification.
//
// The place of a task is its opening brace. Members of an execution are skipped.
func (r *wfReader) specTask() error {
	r.s.peek()
	pos := r.s.place()
	t := newTask()
	n := r.names.reset()
	err := r.s.object(func(key []byte) error { return r.taskMember(key, &t, n) })
	if err != nil {
		return err
	}
	return r.addTask(t, n, pos)
}

// flatTask reads a task of workflow.tasks or workflow.jobs, which holds
// everything.
//
// runMember is asked first, and reads the value if it knows the member; taskMember reads or skips
// any other.
func (r *wfReader) flatTask() error {
	r.s.peek()
	pos := r.s.place()
	t := newTask()
	n := r.names.reset()
	err := r.s.object(func(key []byte) error {
		if known, err := r.runMember(key, &t, n); known || err != nil {
			return err
		}
		return r.taskMember(key, &t, n)
	})
	if err != nil {
		return err
	}
	return r.addTask(t, n, pos)
}

// taskMember reads a member that says what a task is. A type other than compute
// is a task that the workflow system added.
//
// Lists that are given twice add up. Of other members the last counts.
func (r *wfReader) taskMember(key []byte, t *workflow.Task, n *taskNames) (err error) {
	switch string(key) {
	case "name":
		n.name, err = r.ref()
	case "id":
		n.id, err = r.ref()
	case "parents":
		n.parents, err = r.refs(n.parents, &r.nearParent)
	case "children":
		n.childs, err = r.refs(n.childs, &r.nearChild)
	case "inputFiles":
		n.inputs, err = r.fileRefs(n.inputs)
	case "outputFiles":
		n.outputs, err = r.fileRefs(n.outputs)
	case "files":
		err = r.s.array(func() error { return r.linkedFile(n) })
	case "category":
		n.category, err = r.interned()
	case "type":
		n.taskTy, err = r.interned()
		t.Auxiliary = n.taskTy != "" && n.taskTy != "compute"
	default:
		err = r.s.skip()
	}
	return err
}

// ref reads a string and returns its number as a task name.
func (r *wfReader) ref() (workflow.TaskRef, error) {
	r.s.peek()
	pos := r.s.place()
	id, err := r.s.str()
	if err != nil {
		return -1, err
	}
	return r.b.RefNear(&r.nearID, id, pos), nil
}

// interned reads a string of which there are few different ones.
func (r *wfReader) interned() (string, error) {
	t, err := r.s.str()
	if err != nil {
		return "", err
	}
	return r.b.Intern(t), nil
}

// linkedFile reads {"link": "input", "name": …, "sizeInBytes": …}.
//
// Every link that is not "input" is an output. A path is put in front of the name only if its
// member comes first: the name is looked up at once, as the bytes of it are not kept.
func (r *wfReader) linkedFile(n *taskNames) error {
	f, size, path, input := workflow.FileRef(-1), math.NaN(), "", false
	err := r.s.object(func(key []byte) error {
		switch string(key) {
		case "name", "id":
			id, err := r.s.str()
			if path != "" {
				id = append([]byte(path), id...)
			}
			f = r.b.FileRef(id)
			return err
		case "path":
			p, err := r.s.str()
			path = string(p)
			return err
		case "sizeInBytes", "size":
			return r.amount(&size, "size")
		case "link":
			link, err := r.s.str()
			input = bytes.EqualFold(link, []byte("input"))
			return err
		}
		return r.s.skip()
	})
	if err != nil || f < 0 {
		return err
	}
	if size > 0 {
		r.b.SetSize(f, size)
	}
	if input {
		n.inputs = append(n.inputs, f)
	} else {
		n.outputs = append(n.outputs, f)
	}
	return nil
}

// addTask adds a task that has been read, and what it names.
//
// The id is the name where there is no id. A name that differs from the id becomes an alias, which
// counts in the older form only (see workflow). After an error some of the task may be in the
// Builder.
func (r *wfReader) addTask(t workflow.Task, n *taskNames, pos workflow.Pos) error {
	id := n.id
	if id < 0 {
		id = n.name
	}
	if id < 0 {
		return r.b.Errorf(pos, "a task has neither id nor name")
	}
	t.ID = r.b.Said(id)
	name := t.ID
	if n.name >= 0 {
		name = r.b.Said(n.name)
	}
	t.Kind = r.kind(n, name)
	i, err := r.b.Task(t, pos)
	if err != nil {
		return err
	}
	if n.name >= 0 && n.name != id {
		r.b.Alias(n.name, i)
	}
	for _, p := range n.parents {
		r.b.EdgeRef(p, id)
	}
	for _, c := range n.childs {
		r.b.EdgeRef(id, c)
	}
	for _, f := range n.inputs {
		r.b.InputRef(i, f)
	}
	for _, f := range n.outputs {
		r.b.OutputRef(i, f)
	}
	return nil
}

// kind returns what a task is a run of: its category, its program, or what is
// left of its name.
//
// The category is what a person said, the program is recorded, and the name is a guess. A program
// can also come later, with the execution: see merge.
func (r *wfReader) kind(n *taskNames, name string) string {
	k := n.category
	if k == "" {
		k = n.program
	}
	if k == "" {
		k = kindOfName(name)
	}
	return r.b.Intern([]byte(k))
}

// kindOfName takes a numbering off a task's name: "mProject_ID0000012" and
// "align_3" become "mProject" and "align", "FASTQC (sample1)" becomes "FASTQC".
//
// Several numberings are all taken off: "map_1_2" becomes "map". A name is never taken off whole,
// so that the result is "" for "" only, or for a name that begins with " (".
func kindOfName(name string) string {
	k, _, _ := strings.Cut(name, " (")
	if i := strings.LastIndex(k, "_ID"); i > 0 && isDigits(k[i+3:]) {
		return k[:i]
	}
	for {
		i := strings.LastIndexAny(k, "_-.")
		if i <= 0 || !isDigits(k[i+1:]) {
			return k
		}
		k = k[:i]
	}
}

// isDigits reports whether s is digits only, and at least one.
//
// Digits of ASCII only: other digits number nothing in these formats.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// check reports what can be seen at the end only.
//
// It reports a mix of forms before a wrong version, which a mix would explain. Tasks in early are
// merged last, when all tasks are defined.
func (r *wfReader) check() error {
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
	told := r.version != "unknown" // where it is not, the form of the workflow tells
	// Versions are compared as text, which is right for 0.1 to 1.9.
	newer := r.version >= "1.5" && len(r.version) >= 3
	if told && (r.split && !newer || r.flat && newer) {
		return r.b.Errorf(lineCol(1, 1), "schema version is %s, but the workflow is written as in %s", r.version,
			map[bool]string{true: "1.5", false: "1.4"}[r.split])
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
