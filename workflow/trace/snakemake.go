package trace

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/stats"
)

// readSnakemakeBenchmark reads what a rule's benchmark: directive wrote: columns
// s, h:m:s, max_rss (MB), …, io_in, io_out (MB). Repetitions are several
// rows; the median counts. Which task it is of the source's name tells.
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
	t.Run = stats.Median(run)
	m.records = append(m.records, record{key: name, task: t, file: name, pos: lineCol(2, 1), bench: true})
	return nil
}

// finishSnakemake makes a task of each node of snakemake --dag, whose label is
// the rule and a "wildcard: value" on each further line, and gives it the
// benchmark whose name has the rule and every value in it.
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
func (g *drawnGraph) hasOutputs(i int) bool {
	return slices.ContainsFunc(g.edges, func(e [2]int) bool { return e[0] == i })
}

// benchmarkOf returns the record not used yet whose name fits the lines of a
// label best: it has the rule and all values as words; or -1.
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
