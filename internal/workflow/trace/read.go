package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// A Source is one input of a workflow. Name is for messages, and for records that name their task by
// their file's name; it need not be a path.
type Source struct {
	Name   string
	Reader io.Reader
}

// Read reads a workflow in any of the formats it knows, which it recognises by
// content; gzip is unpacked. Some workflows take several sources, in any order:
// a graph and the records of its tasks.
//
//	WfFormat 0.1 to 1.6   one JSON file
//	a plain table         JSON, CSV or YAML; docs/format/workflow.md
//	Pegasus, DAGMan       .dag with .dagman.out, jobstate.log or kickstart records
//	Nextflow              trace.txt with the DAG as dot or mermaid
//	Snakemake             --dag output with benchmark TSVs
//	Makeflow              .makeflowlog
//
// Malformed input is an [*InputError] with the source's name and a place.
//
// The sources are read in the order given, in the caller's goroutine. Read closes none of them.
// After an error a source may have been read in part.
// Dependencies are always inferred from files where no source has any. It panics without a source.
func Read(opt workflow.FillOptions, sources ...Source) (*workflow.Workflow, error) {
	if len(sources) == 0 {
		panic("workflow: no sources")
	}
	m := &merger{b: &workflow.Builder{}}
	for _, src := range sources {
		r, err := unpack(src)
		if err != nil {
			return nil, err
		}
		m.b.File = src.Name
		if err := m.read(src.Name, r); err != nil {
			return nil, err
		}
	}
	m.b.File = sources[0].Name
	if err := m.finish(); err != nil {
		return nil, err
	}
	opt.Infer = true
	return m.b.Build(opt)
}

// unpack returns the source's content, without gzip.
//
// One layer of gzip is taken off. An error of Peek is not looked at here: the read that follows
// asks the source again and reports it.
func unpack(src Source) (*bufio.Reader, error) {
	in := &counted{Reader: src.Reader}
	r := bufio.NewReaderSize(in, 1<<16)
	magic, _ := r.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return r, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, &workflow.InputError{File: src.Name, Msg: fmt.Sprintf("gzip: %v", err)}
	}
	return bufio.NewReaderSize(&bounded{src.Name, in, z, 0}, 1<<16), nil
}

// Packed text of real logs takes a tenth to a thirtieth of its size. A source that unpacks to more than
// mostGain times the bytes read, and to more than freeGain, is taken for a bomb.
const mostGain = 100

var freeGain int64 = 64 << 20 // tests have less

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n int64
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded reads the packed data of a source, and refuses a bomb.
type bounded struct {
	name string
	in   *counted
	z    *gzip.Reader
	out  int64
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.z.Read(p)
	b.out += int64(n)
	if b.out > freeGain && b.out > mostGain*b.in.n {
		return 0, &workflow.InputError{File: b.name, Msg: fmt.Sprintf(
			"gzip: it unpacks to more than %d times its size: if it is no bomb, unpack it first", mostGain)}
	}
	return n, err
}

// merger brings together the sources of one workflow.
//
// A merger is used for one call of Read. Tasks that a format defines by itself go into b at once; data
// that need all sources to be understood wait in graph and records until finish.
type merger struct {
	b     *workflow.Builder
	graph *drawnGraph // a DAG of tasks or processes, drawn by Snakemake or Nextflow
	drawn string      // its source
	// in the order of the sources and of their lines: of one task the later counts
	records []record
}

// record is one source's data about one run of a task.
//
// Records are kept apart from tasks because a log may be read before the graph that its tasks are in.
type record struct {
	key string // the task's name, or the source's for a benchmark
	// Nextflow only: the item that the process ran on; tasks of equal tags depend on each other
	tag  string
	task workflow.Task // Kind is the process or transformation
	// on the clock of task.Start; read only where task.Start is known
	end  workflow.Seconds
	file string
	// where the record is in file, for errors
	pos workflow.Pos
	// the sort of the record: a benchmark of Snakemake, a line of a Nextflow trace
	bench,
	nextflow bool
}

// format is a way to recognise and to read a source.
//
// is gets the first bytes of a source, without a byte order mark and leading white space. It never
// gets an empty slice. read gets the source from its first byte.
type format struct {
	name string
	is   func(head []byte) bool
	read func(m *merger, name string, r *bufio.Reader) error
}

// formats returns the formats in the order in which they are tried.
//
// The first that recognises a source reads it. Formats with a signature of their own come first;
// tables and YAML, which look like much else, come last.
func formats() []format {
	return []format{
		{"json", func(h []byte) bool { return h[0] == '{' }, (*merger).readJSON},
		{"nextflow trace", isNextflowTrace, (*merger).readNextflowTrace},
		{"snakemake benchmark", isSnakemakeBenchmark, (*merger).readSnakemakeBenchmark},
		{"dot", isDot, (*merger).readDot},
		{"mermaid", isMermaid, (*merger).readMermaid},
		{"kickstart", isKickstart, (*merger).readKickstart},
		{"dagman.out", isDagmanOut, (*merger).readDagmanOut},
		{"jobstate.log", isJobstate, (*merger).readJobstate},
		{"makeflowlog", isMakeflowLog, (*merger).readMakeflowLog},
		{"dag", isDagFile, (*merger).readDagFile},
		{"csv", isTable, (*merger).readTable},
		{"yaml", isYAML, (*merger).readYAML},
	}
}

// read reads one source with the first format that recognises it.
//
// Peek takes nothing from the source. The mark of a format must be in the first 4096 bytes: a log that
// begins with more than 4096 bytes of other lines is not recognised.
func (m *merger) read(name string, r *bufio.Reader) error {
	head, err := r.Peek(4096)
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return &workflow.InputError{File: name, Msg: fmt.Sprintf("reading: %v", err)}
		}
		return &workflow.InputError{File: name, Msg: "the input is empty: no tasks"}
	}
	for _, f := range formats() {
		if f.is(head) {
			return f.read(m, name, r)
		}
	}
	return &workflow.InputError{
		File: name, Pos: lineCol(1, 1),
		Msg: "unknown format: not WfFormat or another JSON, CSV, YAML, DAGMan, kickstart, Nextflow, " +
			"Snakemake, Makeflow; a Makefile or Snakefile has no run times: give the table of a recorded run, as " +
			"examples/workflow/record writes it, or snakemake --dag with its benchmarks",
	}
}

// readJSON reads WfFormat, or a plain table as JSON.
func (m *merger) readJSON(name string, r *bufio.Reader) error {
	return readWfFormat(newJSONScanner(r, name), m.b)
}

// finish gives the tasks the data of the records.
//
// A drawn graph has labels in place of names, so that its nodes become tasks here, with the records that
// fit them. Any other graph has its tasks in the Builder already.
func (m *merger) finish() error {
	if m.graph != nil {
		if err := m.finishDrawn(); err != nil {
			return err
		}
		return nil
	}
	return m.finishRecords()
}

// finishRecords completes the tasks of a DAG with the records of the same name. Without a DAG the
// records are the tasks, and nothing waits.
//
// Records come in the order in which they were read, so that the last run of a task is the one that
// stays. A record that the DAG has no task for is counted and named in a warning, since logs also list
// jobs that the workflow system ran for itself.
func (m *merger) finishRecords() error {
	if len(m.records) == 0 {
		return nil
	}
	alone := m.b.Len() == 0
	if alone {
		m.b.Warn("records of tasks without their dependencies: all are taken to be independent")
	}
	unknown := 0
	for _, r := range m.records {
		i := m.b.Find(r.key)
		if i < 0 && alone {
			t := r.task
			t.ID = r.key
			m.b.File = r.file
			if _, err := m.b.Task(t, r.pos); err != nil {
				return err
			}
			continue
		}
		if i < 0 {
			unknown++
			continue
		}
		complete(m.b.At(i), &r.task)
	}
	if unknown > 0 {
		m.b.Warn("%d of %d records are of tasks that the DAG does not have", unknown, len(m.records))
	}
	m.makespanOfRecords()
	return nil
}

// complete sets the known fields of run in t. The last run of a task counts: earlier ones failed.
//
// Times, kind and machine are overwritten if run has them. Cores and sizes keep the larger value: 0
// means not known, and a task needs the peak over the runs.
func complete(t, run *workflow.Task) {
	if !math.IsNaN(run.Run) {
		t.Run = run.Run
	}
	if !math.IsNaN(run.Start) {
		t.Start = run.Start
	}
	if run.Kind != "" {
		t.Kind = run.Kind
	}
	if run.Machine >= 0 {
		t.Machine = run.Machine
	}
	t.Cores, t.Memory = max(t.Cores, run.Cores), max(t.Memory, run.Memory)
	t.Read, t.Written = max(t.Read, run.Read), max(t.Written, run.Written)
}

// makespanOfRecords takes the makespan from the first start to the last end, if the records have them
// and no source recorded it.
//
// Records without a start or an end are passed over. Their clock does not matter, as long as it is the
// same for all.
func (m *merger) makespanOfRecords() {
	if m.b.Makespan > 0 {
		return
	}
	first, last := math.Inf(1), math.Inf(-1)
	for _, r := range m.records {
		if math.IsNaN(r.task.Start) || math.IsNaN(r.end) {
			continue
		}
		first, last = min(first, r.task.Start), max(last, r.end)
	}
	if last > first {
		m.b.Makespan = last - first
	}
}

// newTask returns a task of which nothing is known.
//
// Zero values will not do: a run time of 0 and a start at 0 are possible, and machine 0 is a
// machine.
func newTask() workflow.Task { return workflow.Task{Run: math.NaN(), Start: math.NaN(), Machine: -1} }

// eachLine calls f for each line of r, without its end and numbered from 1. A
// line of more than 16 MiB is an error.
//
// A byte order mark is taken off the first line. An error of f ends the reading and is returned as
// it is; an error of r has the line after the last that was read.
// The limit keeps a large binary file without line breaks from being held in memory.
func eachLine(name string, r *bufio.Reader, f func(n int32, line string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 1<<16), 16<<20)
	n := int32(0)
	for s.Scan() {
		n++
		line := s.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if err := f(n, line); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return &workflow.InputError{File: name, Pos: workflow.Pos{Line: n + 1}, Msg: fmt.Sprintf("reading: %v", err)}
	}
	return nil
}

// eachRow calls f for each line of r below the first, which holds the titles, but
// for empty ones. Lines are split at tabs, each into as many cells as titles.
//
// The titles are the same slice in every call; f must not change them.
func (m *merger) eachRow(name string, r *bufio.Reader, f func(n int32, titles, cells []string) error) error {
	var titles []string
	return eachLine(name, r, func(n int32, line string) error {
		cells := strings.Split(strings.TrimRight(line, "\r"), "\t")
		switch {
		case n == 1:
			titles = cells
			return nil
		case line == "":
			return nil
		case len(cells) != len(titles):
			return m.b.Errorf(lineCol(n, 1), "%d columns under %d titles", len(cells), len(titles))
		}
		return f(n, titles, cells)
	})
}

// baseName returns the part of a source's name after the last slash.
//
// Both slashes count, since a record made on Windows may be read elsewhere.
func baseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// lineCol returns the place of a line and a column, both from 1.
func lineCol(line, column int32) workflow.Pos { return workflow.Pos{Line: line, Column: column} }
