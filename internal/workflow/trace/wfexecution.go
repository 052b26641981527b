package trace

import (
	"bytes"
	"math"

	"github.com/assay-run/assay/workflow"
)

// This file reads WfFormat's data of an execution: how tasks ran, and on which machines.

// runMember reads a member that describes the run of a task, and reports whether it was one.
//
// It reads the value if known is true, also with an error, and leaves it unread otherwise. A run time of
// null stays unknown. The first of several machines counts, since a Task has one. A machine may be named
// before its description or without any.
func (r *wfReader) runMember(key []byte, t *workflow.Task, n *taskNames) (known bool, err error) {
	switch string(key) {
	case "runtimeInSeconds", "runtime":
		pos := r.s.place()
		if t.Run, err = r.s.number(); err == nil && (t.Run < 0 || math.IsInf(t.Run, 0)) {
			err = r.b.Errorf(pos, "run time is %v s", t.Run)
		}
	case "command":
		err = r.s.object(func(key []byte) error {
			if string(key) != "program" || r.s.peek() != '"' {
				return r.s.skip()
			}
			p, err := r.s.str()
			n.program = r.program(p)
			return err
		})
	case "coreCount", "cores":
		err = r.amount(&t.Cores, "core count")
	case "memoryInBytes":
		err = r.amount(&t.Memory, "memory")
	// Kilobytes are taken as 1000 bytes.
	case "memory": // KB up to 1.3
		if err = r.amount(&t.Memory, "memory"); err == nil {
			t.Memory *= 1000
		}
	case "readBytes", "bytesRead":
		err = r.amount(&t.Read, "bytes read")
	case "writtenBytes", "bytesWritten":
		err = r.amount(&t.Written, "bytes written")
	case "machine":
		if r.s.peek() != '"' {
			return true, r.s.skip()
		}
		var m string
		if m, err = r.interned(); err == nil {
			t.Machine = int32(r.b.Machine(m))
		}
	case "machines":
		err = r.s.array(func() error {
			m, err := r.s.str()
			if err == nil && t.Machine < 0 {
				t.Machine = int32(r.b.Machine(string(m)))
			}
			return err
		})
	default:
		return false, nil
	}
	return true, err
}

// program returns the name of a program without its path, and "" for a script.
//
// A command line, or a script in place of a program, is no kind: every task would be of its own. So
// is a name of more than 200 bytes.
func (r *wfReader) program(p []byte) string {
	if len(p) > 200 || bytes.ContainsAny(p, " \n\t") {
		return ""
	}
	if i := bytes.LastIndexByte(p, '/'); i >= 0 {
		p = p[i+1:]
	}
	return r.b.Intern(p)
}

// execTask reads a task of workflow.execution.
//
// If the specification has been read, its task is completed at once; otherwise the record waits in
// early. The names of r are free to be used, since the task of a specification has been added by then.
func (r *wfReader) execTask() error {
	pos := r.s.place()
	t := newTask()
	n := r.names.reset()
	err := r.s.object(func(key []byte) error {
		if string(key) == "id" {
			var err error
			n.id, err = r.ref()
			return err
		}
		known, err := r.runMember(key, &t, n)
		if known || err != nil {
			return err
		}
		return r.s.skip()
	})
	if err != nil {
		return err
	}
	if n.id < 0 {
		return r.b.Errorf(pos, "a task of the execution has no id")
	}
	t.Kind = n.program
	if i := r.b.Defined(n.id); i >= 0 {
		return r.merge(i, t, pos)
	}
	if r.spec {
		return r.b.Errorf(pos, "task %q of the execution is not in the specification", r.b.Said(n.id))
	}
	r.early = append(r.early, earlyRun{r.b.Said(n.id), t, pos})
	return nil
}

// merge completes task i with the data of the execution.
//
// A second entry for a task is an error, whether the first had a run time or not. The start stays
// unknown: the start time in WfFormat is not read.
func (r *wfReader) merge(i int, run workflow.Task, pos workflow.Pos) error {
	t := r.b.At(i)
	if i >= len(r.merged) {
		r.merged = append(r.merged, make([]bool, i+1-len(r.merged))...)
	}
	if r.merged[i] {
		return r.b.Errorf(pos, "duplicate task id %q in the execution", t.ID)
	}
	r.merged[i] = true
	t.Run, t.Cores, t.Memory, t.Machine = run.Run, run.Cores, run.Memory, run.Machine
	t.Read, t.Written = run.Read, run.Written
	if run.Kind != "" {
		t.Kind = run.Kind
	}
	return nil
}

// machine reads a machine. The member memory is kilobytes and memoryInBytes bytes; both are understood
// in any version, and so are the names of the members of cpu.
//
// A machine without a nodeName is dropped, since no task can name it. A second description replaces the
// first. The number that tasks have for a machine stays the same.
func (r *wfReader) machine() error {
	var m workflow.Machine
	err := r.s.object(func(key []byte) (err error) {
		switch string(key) {
		case "nodeName":
			m.Name, err = r.text()
		case "memoryInBytes":
			err = r.amount(&m.Memory, "memory")
		case "memory":
			if err = r.amount(&m.Memory, "memory"); err == nil {
				m.Memory *= 1000
			}
		case "cpu":
			if r.s.peek() != '{' {
				return r.s.skip()
			}
			err = r.s.object(func(key []byte) error { return r.cpu(key, &m) })
		default:
			err = r.s.skip()
		}
		return err
	})
	if err != nil || m.Name == "" {
		return err
	}
	r.b.Machines[r.b.Machine(m.Name)] = m
	return nil
}

// cpu reads a member of a machine's cpu.
//
// The clock rate is in MHz and is left out where it is text. The bound on cores keeps the
// conversion to int defined.
func (r *wfReader) cpu(key []byte, m *workflow.Machine) error {
	switch string(key) {
	case "coreCount", "count":
		cores := 0.0
		if err := r.amount(&cores, "core count"); err != nil {
			return err
		}
		m.Cores = int(min(cores, math.MaxInt32))
		return nil
	case "speedInMHz", "speed":
		if r.s.peek() == '"' {
			return r.s.skip()
		}
		return r.amount(&m.MHz, "clock rate")
	}
	return r.s.skip()
}
