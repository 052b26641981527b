package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay/workflow"
)

// This file reads the trace of nextflow -with-trace and joins it with the graph of -with-dag, which
// drawn.go reads. The columns follow the Nextflow documentation, "Trace file". The trace has tasks and
// the graph has processes: which task waited for which is not recorded, and is guessed from tags.

// isNextflowTrace recognises the titles of a trace.
//
// Users choose the columns of a trace and their order, so that two that belong together are enough.
func isNextflowTrace(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	cols := bytes.Split(bytes.TrimRight(line, "\r"), []byte("\t"))
	has := func(want string) bool {
		return slices.ContainsFunc(cols, func(c []byte) bool { return string(c) == want })
	}
	return (has("task_id") || has("hash") || has("native_id")) && (has("name") || has("process"))
}

// readNextflowTrace reads a Nextflow trace: a line a task, columns by name, in people's units or raw
// (milliseconds and bytes). Tasks that completed, or were cached, count; others are attempts that were
// lost.
//
// A cell with "-" has no value. A trace without a status column counts whole.
func (m *merger) readNextflowTrace(name string, r *bufio.Reader) error {
	return m.eachRow(name, r, func(n int32, cols, f []string) error {
		row := map[string]string{}
		for i, c := range cols {
			if f[i] != "-" {
				row[c] = f[i]
			}
		}
		if s := row["status"]; s != "" && s != "COMPLETED" && s != "CACHED" {
			m.nextflowLost(row)
			return nil
		}
		return m.nextflowTask(name, row, lineCol(n, 1))
	})
}

// nextflowLost records an attempt that failed.
//
// A malformed cell counts as unknown: no estimate rests on these lines.
func (m *merger) nextflowLost(row map[string]string) {
	l := workflow.Lost{Exit: -1}
	key, process, _ := nextflowNames(row)
	l.Kind = process
	l.Name = workflow.AttemptName(key)
	if x, err := strconv.Atoi(row["exit"]); err == nil && x <= 255 {
		l.Exit = x
	}
	for _, c := range []string{"realtime", "duration"} {
		if row[c] != "" && l.Run == 0 {
			l.Run, _ = nextflowDuration(row[c])
		}
	}
	l.Memory = nextflowBytes(row["peak_rss"])
	l.AskMemory, l.AskTime = nextflowAsked(row)
	l.Killed = row["status"] == "FAILED" && wasKilled(l.Exit)
	if l.Exit == exitUSR2 || l.AskTime > 0 && l.Run >= 0.98*l.AskTime {
		l.Short = workflow.ShortOfTime
	}
	m.b.Lost = append(m.b.Lost, l)
}

// exitUSR2 is the exit status of a process that SIGUSR2 ended, which Grid Engine sends at the time
// limit.
const exitUSR2 = 140

// wasKilled reports whether an exit status belongs to a process that a signal from 2 to 17 ended,
// SIGKILL and SIGTERM among them.
func wasKilled(exit int) bool { return exit >= 130 && exit <= 145 || exit == 247 }

// nextflowAsked returns the memory and the time limit that a task was given; 0 if not recorded. The
// memory is per attempt, not per core.
func nextflowAsked(row map[string]string) (workflow.Bytes, workflow.Seconds) {
	limit, err := nextflowDuration(row["time"])
	if err != nil {
		limit = 0
	}
	return nextflowBytes(row["memory"]), limit
}

// nextflowNames returns the key of a line, its process and its tag.
//
// The key is the name and the task's number: names repeat when a task is tried again. Without a column
// for the process it is the name up to " (", and the tag is the text in the parentheses.
func nextflowNames(row map[string]string) (key, process, tag string) {
	process, tag = row["process"], row["tag"]
	if name := row["name"]; process == "" {
		var inside string
		process, inside, _ = strings.Cut(name, " (")
		if tag == "" {
			tag = strings.TrimSuffix(inside, ")")
		}
	}
	key = row["name"]
	if key == "" {
		key = fmt.Sprintf("%s (%s)", process, tag)
	}
	if id := row["task_id"]; id != "" {
		key += " #" + id
	}
	return key, process, tag
}

// nextflowTask adds the record of one line, by its titles.
//
// The run time is realtime, from start to end; duration, which has the wait in the queue too,
// counts only where realtime is not recorded. Start is the submission where that is recorded: a
// makespan has the first wait in it. A malformed duration is an error; any other malformed cell is
// as good as unknown.
func (m *merger) nextflowTask(file string, row map[string]string, pos workflow.Pos) error {
	t := newTask()
	var key, tag string
	key, t.Kind, tag = nextflowNames(row)
	var err error
	for _, c := range []string{"realtime", "duration"} {
		if row[c] != "" && math.IsNaN(t.Run) {
			if t.Run, err = nextflowDuration(row[c]); err != nil {
				return m.b.Errorf(pos, "%s of %q: %v", c, key, err)
			}
		}
	}
	end := math.NaN()
	if s := nextflowTime(row["submit"]); !math.IsNaN(s) {
		t.Start = s
	}
	if s := nextflowTime(row["start"]); !math.IsNaN(s) && math.IsNaN(t.Start) {
		t.Start = s
	}
	if s := nextflowTime(row["complete"]); !math.IsNaN(s) {
		end = s
	}
	t.Cores, _ = strconv.ParseFloat(row["cpus"], 64)
	t.Memory = nextflowBytes(row["peak_rss"])
	t.AskMemory, t.AskTime = nextflowAsked(row)
	t.Read, t.Written = nextflowBytes(row["rchar"]), nextflowBytes(row["wchar"])
	if h := row["hostname"]; h != "" {
		t.Machine = int32(m.b.Machine(h))
	}
	m.records = append(m.records, record{key: key, tag: tag, task: t, end: end, file: file, pos: pos, nextflow: true})
	m.b.Format, m.b.System = "nextflow", "Nextflow"
	return nil
}

// In the pattern ms comes before m and s: the first alternative that fits is taken.
var durationPart = regexp.MustCompile(`(\d+(?:\.\d+)?)\s*(ms|d|h|m|s)`)

// nextflowDuration reads "1h 2m 3.4s", "120ms", or raw milliseconds.
//
// Parts add up in any order. Any text beside parts and spaces is an error.
func nextflowDuration(s string) (workflow.Seconds, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && x >= 0 && !math.IsInf(x, 0) {
		return x / 1000, nil
	}
	unit := map[string]float64{"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3}
	sum, rest := 0.0, durationPart.ReplaceAllString(s, "")
	parts := durationPart.FindAllStringSubmatch(s, -1)
	if len(parts) == 0 || strings.TrimSpace(rest) != "" {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	for _, p := range parts {
		x, err := strconv.ParseFloat(p[1], 64)
		if err != nil || math.IsInf(x, 0) {
			return 0, fmt.Errorf("%q is not a duration", s)
		}
		sum += x * unit[p[2]]
	}
	return sum, nil
}

// nextflowTime reads "2023-03-21 15:54:38.123" or raw milliseconds since 1970; NaN if s is neither.
//
// Raw numbers between 1e11 and 1e14 are the years 1973 to 5138; other numbers are no times in
// milliseconds. A date has no zone and is taken as UTC: only differences are used.
func nextflowTime(s string) workflow.Seconds {
	if x, err := strconv.ParseFloat(s, 64); err == nil && x > 1e11 && x < 1e14 {
		return x / 1000
	}
	t, err := time.Parse("2006-01-02 15:04:05", s) // takes a fraction too
	if err != nil {
		return math.NaN()
	}
	return workflow.Seconds(t.UnixMilli()) / 1000
}

// nextflowBytes reads "1.2 GB", which Nextflow means as 2^30, or raw bytes; 0 if
// s is neither.
//
// A unit that is not known counts as bytes.
func nextflowBytes(s string) workflow.Bytes {
	number, unit, _ := strings.Cut(s, " ")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return 0
	}
	i := slices.Index([]string{"B", "KB", "MB", "GB", "TB", "PB"}, unit)
	return x * math.Pow(1024, float64(max(i, 0)))
}

// finishNextflow joins the tasks of the trace with the graph of processes. A node whose label is a
// process of the trace stands for its tasks; others are channels and operators, which are passed
// through. A task waits for the tasks of the processes before its own that have the same tag, if one
// has; and for all of them otherwise.
//
// Graphs name a process without the workflows that it is nested in, which the trace puts in front with
// colons. If several processes fit a label this way, the one with the shortest name counts, and of two
// of equal length the first in the alphabet. A process that the graph does not have gets a warning, and
// its tasks wait for nothing.
func (m *merger) finishNextflow() error {
	g := m.graph
	tasks := map[string][]int{} // records of a process, by its full name
	for k, r := range m.records {
		tasks[r.task.Kind] = append(tasks[r.task.Kind], k)
	}
	names := slices.Sorted(maps.Keys(tasks))
	proc := make([]string, len(g.nodes))
	known := map[string]bool{}
	for i, n := range g.nodes {
		for _, p := range names {
			if n.label == p || strings.HasSuffix(p, ":"+n.label) && n.label != "" &&
				(proc[i] == "" || len(p) < len(proc[i])) {
				proc[i] = p
			}
		}
		known[proc[i]] = true
	}
	for _, r := range m.records {
		t := r.task
		t.ID = r.key
		m.b.File = r.file
		if _, err := m.b.Task(t, r.pos); err != nil {
			return err
		}
		if !known[t.Kind] {
			m.b.Warn("process %q is not in the graph", t.Kind)
			known[t.Kind] = true
		}
	}
	// From here on places are in the graph, where the edges are.
	m.b.File = m.drawn
	before := g.processesBefore(proc)
	for i, p := range proc {
		if p == "" {
			continue
		}
		for _, q := range before[i] {
			m.nextflowEdges(tasks[q], tasks[p], g.nodes[i].pos)
		}
	}
	m.makespanOfRecords()
	return nil
}

// nextflowEdges lets each record of to wait for the records of from.
//
// from and to are indices in records. pos is the node of to's process. Without tags in common it adds
// from times to edges: a process may gather all that another made.
func (m *merger) nextflowEdges(from, to []int, pos workflow.Pos) {
	byTag := map[string][]int{}
	for _, k := range from {
		byTag[m.records[k].tag] = append(byTag[m.records[k].tag], k)
	}
	for _, k := range to {
		wait := from
		if same := byTag[m.records[k].tag]; m.records[k].tag != "" && same != nil {
			wait = same
		}
		for _, p := range wait {
			m.b.Edge(m.records[p].key, m.records[k].key, pos)
		}
	}
}

// processesBefore returns for each node that is a process the processes that lead
// to it without another in between.
//
// proc has the process of each node, "" for channels and operators, through which the search goes
// on backwards. A process is never before itself, even on a cycle: a Nextflow graph of processes
// may have one where tasks have none. The results are sorted, so that equal inputs give equal
// edges.
func (g *drawnGraph) processesBefore(proc []string) [][]string {
	into := make([][]int, len(g.nodes))
	for _, e := range g.edges {
		into[e[1]] = append(into[e[1]], e[0])
	}
	out := make([][]string, len(g.nodes))
	for i := range g.nodes {
		if proc[i] == "" {
			continue
		}
		seen := make([]bool, len(g.nodes))
		todo := slices.Clone(into[i])
		for len(todo) > 0 {
			n := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[n] || n == i {
				continue
			}
			seen[n] = true
			if proc[n] == "" {
				todo = append(todo, into[n]...)
			} else if !slices.Contains(out[i], proc[n]) && proc[n] != proc[i] {
				out[i] = append(out[i], proc[n])
			}
		}
		slices.Sort(out[i])
	}
	return out
}
