package trace

import (
	"bytes"
	"math"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file reads WfFormat's data of the tasks of a workflow.

// taskNames are the members of a task that name other things. They are kept
// by number until its id is known.
//
// Members come in any order, and edges need the id of the task: they are added by addTask. The
// slices are reused from task to task.
type taskNames struct {
	// -1 if absent
	name, id        workflow.TaskRef
	parents, childs []workflow.TaskRef
	inputs, outputs []workflow.FileRef
	// of the execution, without its path; "" if absent
	program          string
	category, taskTy string
}

// reset empties n for the next task, keeping its slices.
//
// The names of the previous task are gone after it.
func (n *taskNames) reset() *taskNames {
	*n = taskNames{
		name: -1, id: -1, parents: n.parents[:0], childs: n.childs[:0], inputs: n.inputs[:0],
		outputs: n.outputs[:0],
	}
	return n
}

// refs reads a list of names of tasks and appends their numbers to into.
//
// The task of a name need not exist yet. The name's place is kept for the case that it never does. near
// is the hint for this sort of names: see Builder.RefNear.
func (r *wfReader) refs(into []workflow.TaskRef, near *workflow.TaskRef) ([]workflow.TaskRef, error) {
	err := r.s.array(func() error {
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

// taskMember reads a member that describes a task. A type other than compute is a task that the workflow
// system added.
//
// Lists that are given twice add up. For other members the last counts.
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

// addTask adds a task that has been read, and the names in it.
//
// The id is the name where there is no id. A name that differs from the id becomes an alias, which
// counts in the older form only (see workflow). After an error some of the task may be in the Builder.
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

// kind returns the kind of a task: its category, its program, or its name without the numbering.
//
// The category was written by a person, the program is recorded, and the name is a guess. A program can
// also be set later, by the execution: see merge.
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
