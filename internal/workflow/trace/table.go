package trace

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// The plain tables of docs/format/workflow.md: a task has an id, run_s and
// parents, and may have kind, cores, memory_B, in_B, out_B, start_s, machine,
// auxiliary, ask_memory_B and ask_time_s; the workflow may have name, makespan_s, cores and system.

// tableColumns are the columns of a task.
var tableColumns = []string{
	"id", "kind", "run_s", "parents", "cores", "memory_B", "in_B", "out_B", "start_s",
	"machine", "auxiliary", "ask_memory_B", "ask_time_s",
}

// isTable recognises a line of titles, one of which is id, below comments.
//
// Only the first line that is neither empty nor a comment is looked at. A line of one column is no
// table: a list of names would be taken for one.
func isTable(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		cols := strings.FieldsFunc(string(line), func(r rune) bool { return r == ',' || r == '\t' || r == ';' })
		return slices.Contains(cols, "id") && len(cols) > 1
	}
	return false
}

// readTable reads CSV with a header line; tabs and semicolons separate too. Parents are separated by spaces. Lines "#
// name: value" before the header are of the workflow.
func (m *merger) readTable(name string, r *bufio.Reader) error {
	m.b.Format = "csv"
	skipped, err := m.tableHead(name, r)
	if err != nil {
		return err
	}
	limited := &rowReader{Reader: r}
	c := csv.NewReader(bufio.NewReaderSize(limited, 1<<16))
	c.Comment = '#'
	head, err := r.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return m.b.Errorf(workflow.Pos{}, "reading: %v", err)
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	// If the titles have tabs and semicolons, semicolons separate.
	for _, comma := range "\t;" {
		if bytes.ContainsRune(first, comma) {
			c.Comma = comma
		}
	}
	cols, err := c.Read()
	if err != nil {
		return m.csvError(err, skipped)
	}
	for i, col := range cols {
		if col = strings.TrimSpace(strings.TrimPrefix(col, "\ufeff")); !slices.Contains(tableColumns, col) {
			return m.b.Errorf(lineCol(skipped+1, 1), "unknown column %q; there are %s", col,
				strings.Join(tableColumns, ", "))
		}
		cols[i] = col
	}
	for {
		// The titles fix the number of cells: a row of another length is an error of c, so that row[i] exists.
		limited.n = 0
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return m.csvError(err, skipped)
		}
		line, _ := c.FieldPos(0)
		e := tableEntry{task: newTask(), pos: lineCol(skipped+int32(line), 1)}
		for i, col := range cols {
			if err := m.setColumn(&e, col, strings.TrimSpace(row[i])); err != nil {
				return err
			}
		}
		if err := m.addEntry(&e); err != nil {
			return err
		}
	}
}

// maxRow is how many bytes a row may have. The longest are those with many parents; a hundred thousand of them take
// less.
var maxRow int64 = 4 << 20 // tests have less

// A rowReader reads a table as long as none of its rows is too long: the CSV reader keeps one in memory, and may read a
// little of the next.
type rowReader struct {
	io.Reader
	n int64 // bytes since the row began
}

// Read implements [io.Reader].
func (r *rowReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.n += int64(n); r.n > maxRow {
		return 0, fmt.Errorf("a row of more than %d bytes", maxRow)
	}
	return n, err
}

// csvError gives an error of the CSV reader its place in the source, of which skipped lines were read before.
//
// The CSV reader counts lines from 1 behind the lines that tableHead took. An end of the input in
// place of the titles means that the table has none.
func (m *merger) csvError(err error, skipped int32) error {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return m.b.Errorf(lineCol(skipped+int32(p.Line), int32(p.Column)), "%v", p.Err)
	}
	if errors.Is(err, io.EOF) {
		return m.b.Errorf(workflow.Pos{}, "no tasks")
	}
	return m.b.Errorf(workflow.Pos{}, "reading: %v", err)
}

// tableHead reads the lines before the header and returns how many.
//
// It reads lines that are empty or begin with #, and leaves r at the first that is neither. A line
// without a colon is a comment. An error of r is left to the next reader.
func (m *merger) tableHead(name string, r *bufio.Reader) (int32, error) {
	n := int32(0)
	for {
		c, err := r.Peek(1)
		if err != nil || c[0] != '#' && c[0] != '\n' && c[0] != '\r' {
			return n, nil
		}
		line, err := r.ReadString('\n')
		if err != nil {
			return n, m.b.Errorf(lineCol(n+1, 1), "no tasks")
		}
		n++
		if k, v, ok := strings.Cut(strings.TrimSpace(strings.TrimLeft(line, "# ")), ":"); ok {
			if err := m.setWorkflow(k, strings.TrimSpace(v), lineCol(n, 1)); err != nil {
				return n, err
			}
		}
	}
}

// setWorkflow sets a table's value for the workflow. Unknown names are comments.
//
// The value is text in every form of the table. cores is kept as one machine with that many: a Workflow
// has no count of its own.
func (m *merger) setWorkflow(key, value string, pos workflow.Pos) error {
	switch key {
	case "name":
		m.b.Name = value
	case "system":
		m.b.System = value
	case "makespan_s":
		x, err := workflow.ParseNumber(value)
		if err != nil {
			return m.b.Errorf(pos, "makespan_s: %v", err)
		}
		m.b.Makespan = x
	case "cores":
		x, err := workflow.ParseNumber(value)
		if err != nil || x != math.Trunc(x) || x > 1e7 {
			return m.b.Errorf(pos, "cores: %q is not a whole number", value)
		}
		m.b.Machines[m.b.Machine("machine")].Cores = int(x)
	}
	return nil
}

// tableEntry is a task of a table and those it waits for.
//
// Parents are by id and may be defined later. pos is where the entry begins; the edges to its
// parents have the same place.
type tableEntry struct {
	task    workflow.Task
	parents []string
	pos     workflow.Pos
}

// setColumn sets a table's value in one column of a task. An empty cell has no effect.
//
// All forms of the table use it, with values as text. An unknown column is an error, so that a
// misspelled title is not taken for an unknown run time. An error names the task only if its id came
// before.
func (m *merger) setColumn(e *tableEntry, col, value string) error {
	t := &e.task
	numbers := map[string]*float64{
		"run_s": &t.Run, "start_s": &t.Start, "cores": &t.Cores, "memory_B": &t.Memory, "ask_memory_B": &t.AskMemory,
		"ask_time_s": &t.AskTime, "in_B": &t.In, "out_B": &t.Out,
	}
	if x := numbers[col]; x != nil {
		if value == "" {
			return nil
		}
		v, err := workflow.ParseNumber(value)
		if err != nil {
			return m.b.Errorf(e.pos, "%s of task %q: %v", col, t.ID, err)
		}
		*x = v
		return nil
	}
	switch col {
	case "id":
		t.ID = value
	case "kind":
		t.Kind = m.b.Intern([]byte(value))
	case "parents":
		e.parents = strings.Fields(value)
	case "machine":
		if value != "" {
			t.Machine = int32(m.b.Machine(value))
		}
	case "auxiliary":
		b, err := strconv.ParseBool(value)
		if err != nil && value != "" {
			return m.b.Errorf(e.pos, "auxiliary of task %q: %q is neither true nor false", t.ID, value)
		}
		t.Auxiliary = b
	default:
		return m.b.Errorf(e.pos, "unknown member %q of a task; there are %s", col, strings.Join(tableColumns, ", "))
	}
	return nil
}

// addEntry adds a task of a table. Without a kind, the kind is its id without the numbering.
//
// It is called once all columns are set: the kind depends on the id, whichever is written first.
func (m *merger) addEntry(e *tableEntry) error {
	if e.task.Kind == "" {
		e.task.Kind = m.b.Intern([]byte(kindOfName(e.task.ID)))
	}
	if _, err := m.b.Task(e.task, e.pos); err != nil {
		return err
	}
	for _, p := range e.parents {
		m.b.Edge(p, e.task.ID, e.pos)
	}
	return nil
}

// plainTask reads a task of the JSON form.
//
// Values become text and go through setColumn, so that JSON and CSV mean the same. A merger without
// sources is enough for that, since setColumn uses its Builder only. A null is an empty cell.
func (r *wfReader) plainTask() error {
	m := merger{b: r.b}
	e := tableEntry{task: newTask(), pos: r.s.place()}
	err := r.s.object(func(key []byte) error {
		// A copy: key is not valid once the value has been read.
		col := string(key)
		if col == "parents" {
			return r.s.array(func() error {
				p, err := r.s.str()
				e.parents = append(e.parents, string(p))
				return err
			})
		}
		var value string
		var err error
		switch r.s.peek() {
		case 't':
			value, err = "true", r.s.skip()
		case 'f':
			value, err = "false", r.s.skip()
		default:
			value, err = r.text()
		}
		if err != nil {
			return err
		}
		return m.setColumn(&e, col, value)
	})
	if err != nil {
		return err
	}
	return m.addEntry(&e)
}

// plainMember reads a member of the JSON form's workflow.
//
// The place is the place of the value.
func (r *wfReader) plainMember(key string) error {
	pos := r.s.place()
	value, err := r.text()
	if err != nil {
		return err
	}
	return (&merger{b: r.b}).setWorkflow(key, value, pos)
}
