package trace

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/stats"
)

// This file reads the records of Snakemake: the graph of snakemake --dag (drawn.go reads the drawing)
// and a TSV file for each task with a benchmark: directive. The columns are those in
// snakemake/benchmark.py. A benchmark does not name its task, but people put the rule and its wildcards
// into the file's name.

// readSnakemakeBenchmark reads the output of a rule's benchmark: directive: columns s, h:m:s, max_rss
// (MB), …, io_in, io_out (MB). Repetitions are several rows; the median counts. The source's name
// identifies the task.
//
// Memory is the largest of the repetitions, and bytes read and written are from the last row that has
// them. MB are 2^20 bytes, as psutil's numbers are divided there. The start of a task is not recorded.
func (m *merger) readSnakemakeBenchmark(name string, r *bufio.Reader) error {
	var run []float64
	t := newTask()
	err := m.eachRow(name, r, func(n int32, cols, f []string) error {
		for i, c := range cols {
			x, err := strconv.ParseFloat(f[i], 64)
			if c == "s" && (err != nil || !(x >= 0)) {
				return m.b.Errorf(lineCol(n, 1), "run time is %q", f[i])
			}
			if err != nil || !(x >= 0) {
				continue // "-" and "NA" where psutil saw nothing
			}
			switch c {
			case "s":
				run = append(run, x)
			case "max_rss":
				t.Memory = max(t.Memory, x*(1<<20))
			case "io_in":
				t.Read = x * (1 << 20)
			case "io_out":
				t.Written = x * (1 << 20)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(run) == 0 {
		return m.b.Errorf(lineCol(1, 1), "a benchmark without a run")
	}
	// The place is line 2, the first run: line 1 has the titles.
	t.Run = stats.Median(run)
	m.records = append(m.records, record{key: name, task: t, file: name, pos: lineCol(2, 1), bench: true})
	return nil
}

// finishSnakemake makes a task of each node of snakemake --dag, whose label is
// the rule and a "wildcard: value" on each further line, and gives it the
// benchmark whose name has the rule and every value in it.
//
// The id of a task is its label on one line, made unique with the number of the node. Nodes take
// benchmarks in the order of the drawing, and each benchmark is taken once. A task without one
// keeps an unknown run time.
func (m *merger) finishSnakemake() error {
	g := m.graph
	m.b.Format = "dot"
	if g.name == "snakemake_dag" || len(m.records) > 0 {
		m.b.Format, m.b.System = "snakemake", "Snakemake"
	}
	ids := make([]string, len(g.nodes))
	used := make([]bool, len(m.records))
	for i, n := range g.nodes {
		lines := strings.Split(strings.TrimSpace(n.label), "\n")
		t := newTask()
		t.Kind = lines[0]
		ids[i] = strings.Join(lines, " ")
		if ids[i] == "" {
			ids[i], t.Kind = n.id, n.id
		}
		for slices.Contains(ids[:i], ids[i]) { // Snakemake numbers nodes, labels may repeat
			ids[i] = fmt.Sprintf("%s #%s", ids[i], n.id)
		}
		t.ID = ids[i]
		if k := m.benchmarkOf(lines, used); k >= 0 {
			used[k] = true
			complete(&t, &m.records[k].task)
		} else if !g.hasOutputs(i) && lines[0] == "all" {
			t.Run = 0 // the target rule runs nothing
		}
		if _, err := m.b.Task(t, n.pos); err != nil {
			return err
		}
	}
	for k, e := range g.edges {
		m.b.Edge(ids[e[0]], ids[e[1]], g.at[k])
	}
	for k, r := range m.records {
		if !used[k] {
			m.b.Warn("%s is the benchmark of no task in the graph", r.file)
		}
	}
	return nil
}

// hasOutputs reports whether an edge leaves node i.
//
// It goes over all edges. It is asked only for nodes without a benchmark.
func (g *drawnGraph) hasOutputs(i int) bool {
	return slices.ContainsFunc(g.edges, func(e [2]int) bool { return e[0] == i })
}

// benchmarkOf returns the record not used yet whose name fits the lines of a label best: it has the rule
// and all values as words; or -1.
//
// The shortest name fits best: a longer one has words for more wildcards than the label. If lengths are
// equal, the first read counts.
func (m *merger) benchmarkOf(lines []string, used []bool) int {
	best, length := -1, 0
	for k, r := range m.records {
		if used[k] || !r.bench {
			continue
		}
		name := strings.TrimSuffix(r.key, ".tsv")
		ok := hasWord(name, lines[0])
		for _, l := range lines[1:] {
			if _, value, found := strings.Cut(l, ": "); found {
				ok = ok && hasWord(name, value)
			}
		}
		if ok && (best < 0 || len(name) < length) {
			best, length = k, len(name)
		}
	}
	return best
}

// hasWord reports whether s holds word between separators.
//
// Letters and digits of ASCII make words, everything else separates: "_" does, so that "map_A"
// holds "A". The empty word is nowhere.
func hasWord(s, word string) bool {
	letter := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for from := 0; word != ""; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !letter(s[i-1])) && (end == len(s) || !letter(s[end])) {
			return true
		}
		from = i + 1
	}
	return false
}
