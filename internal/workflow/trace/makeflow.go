package trace

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file reads the .makeflowlog of Makeflow (CCTools). It is a log of transactions: each line records
// the new state of one node. Comments, which begin with #, describe the graph.

// isMakeflowLog recognises the transaction log of Makeflow.
//
// A log may begin with other comments, so that the first bytes are searched for a node too.
func isMakeflowLog(head []byte) bool {
	return bytes.HasPrefix(head, []byte("# NODE")) || bytes.HasPrefix(head, []byte("# STARTED")) ||
		bytes.Contains(head, []byte("\n# NODE\t"))
}

// readMakeflowLog reads NODE, PARENTS and CATEGORY comments and the lines
// "time node state job …", with times in microseconds and states 1 for running
// and 2 for complete (Makeflow manual, "transaction log format").
//
// Times are since 1970. The states 0, 3 and 4 (waiting, failed, aborted) end no run: a node that
// failed is run again, and its next line with state 1 replaces the start.
func (m *merger) readMakeflowLog(name string, r *bufio.Reader) error {
	m.b.Format, m.b.System = "makeflowlog", "Makeflow"
	began := map[string]workflow.Seconds{}
	return eachLine(name, r, func(n int32, line string) error {
		f := strings.Fields(line)
		pos := lineCol(n, 1)
		if len(f) >= 3 && f[0] == "#" {
			return m.makeflowComment(f[1:], pos)
		}
		if len(f) < 3 || f[0][0] == '#' {
			return nil
		}
		us, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			return m.b.Errorf(pos, "%q is not a time in microseconds", f[0])
		}
		switch f[2] {
		case "1":
			began[f[1]] = us / 1e6
		case "2":
			m.ran(name, f[1], began, us/1e6, pos)
		}
		return nil
	})
}

// makeflowComment reads the fields of a comment line that describes a node.
//
// f is the line without its #, with two fields at least. NODE has the number and the command, whose
// program is the kind until a CATEGORY that is not the default names a better one. PARENTS has the
// number of the node and the numbers of its parents, which may be defined later. Other comments are
// ignored.
func (m *merger) makeflowComment(f []string, pos workflow.Pos) error {
	switch f[0] {
	case "NODE":
		t := newTask()
		t.ID = f[1]
		if len(f) > 2 {
			t.Kind = baseName(f[2])
		}
		_, err := m.b.Task(t, pos)
		return err
	case "CATEGORY":
		if i := m.b.Find(f[1]); i >= 0 && len(f) > 2 && f[2] != "default" {
			m.b.At(i).Kind = f[2]
		}
	case "PARENTS":
		for _, p := range f[2:] {
			m.b.Edge(p, f[1], pos)
		}
	}
	return nil
}
