package trace

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file reads graphs in the languages of drawing programs: dot (Graphviz) and mermaid. Only the
// output of Snakemake and Nextflow is understood, line by line with regular expressions: one statement a
// line, and node names of letters, digits, _ and dots.

// drawnGraph is a graph as workflow systems draw it: nodes with labels.
//
// Which workflow system drew it shows in the records, or in the name of the graph. The nodes become
// tasks when all sources are read.
type drawnGraph struct {
	// of a dot graph; Snakemake calls it snakemake_dag
	name string
	// in the order of their first mention, which is the order of tasks
	nodes []drawnNode
	// index in nodes by id; nil before the first node
	index map[string]int
	// from and to, as indices in nodes
	edges [][2]int
	at    []workflow.Pos // of edges
}

// drawnNode is a node and where it was first mentioned. Its label may come later.
//
// The id is of the drawing only. The label identifies the node: a rule and its wildcards, or a process.
// It is "" for a node that only edges mention.
type drawnNode struct {
	id, label string
	pos       workflow.Pos
}

// node returns the index of the node with that id, which is added if it is new.
func (g *drawnGraph) node(id string, pos workflow.Pos) int {
	if i, ok := g.index[id]; ok {
		return i
	}
	if g.index == nil {
		g.index = map[string]int{}
	}
	g.index[id] = len(g.nodes)
	g.nodes = append(g.nodes, drawnNode{id: id, pos: pos})
	return len(g.nodes) - 1
}

var (
	// The languages are specified at graphviz.org/doc/info/lang.html.
	dotHead  = regexp.MustCompile(`^(?s)(//[^\n]*\n|\s)*(strict\s+)?digraph\b`)
	dotEdge  = regexp.MustCompile(`"?([\w.]+)"?\s*->\s*"?([\w.]+)"?`)
	dotNode  = regexp.MustCompile(`^\s*"?([\w.]+)"?\s*\[(.*)\]`)
	dotLabel = regexp.MustCompile(`\blabel\s*=\s*"((?:[^"\\]|\\.)*)"`)
	dotName  = regexp.MustCompile(`digraph\s+"?(\w+)"?`)
)

// isDot recognises a directed graph of Graphviz.
func isDot(head []byte) bool { return dotHead.Match(head) }

// readDot reads the dot output of snakemake --dag and of nextflow -with-dag: one node or edge a line.
//
// open is whether a brace is open, by the last line that has one: a file that ends inside of the graph
// was cut short, and a part of a graph would plan too few tasks in silence.
func (m *merger) readDot(name string, r *bufio.Reader) error {
	g, err := m.newDrawn(name)
	if err != nil {
		return err
	}
	open := false
	err = eachLine(name, r, func(n int32, line string) error {
		if d := dotName.FindStringSubmatch(line); d != nil {
			g.name = d[1]
		}
		open = (open || strings.Contains(line, "{")) && !strings.HasSuffix(strings.TrimSpace(line), "}")
		if d := dotNode.FindStringSubmatch(line); d != nil && !strings.Contains(line, "->") {
			// Not nodes, but defaults for the drawing.
			if slices.Contains([]string{"graph", "node", "edge"}, d[1]) {
				return nil
			}
			i := g.node(d[1], lineCol(n, 1))
			if l := dotLabel.FindStringSubmatch(d[2]); l != nil {
				// Escapes of a label: \l ends a line that is set to the left.
				g.nodes[i].label = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`, `\l`, "\n").Replace(l[1])
			}
			return nil
		}
		g.addEdges(dotEdge, line, n)
		return nil
	})
	if err == nil && open {
		return m.b.Errorf(workflow.Pos{}, "the graph has no closing brace: it is cut short")
	}
	return err
}

// newDrawn begins the graph of the workflow. A second graph is an error: its relation to the first is
// unknown.
//
// A graph and a DAG file or table can still come together; then the tasks of both are added.
func (m *merger) newDrawn(name string) (*drawnGraph, error) {
	if m.graph != nil {
		return nil, m.b.Errorf(workflow.Pos{}, "a second graph; the first is %s", m.drawn)
	}
	m.graph, m.drawn = &drawnGraph{}, name
	return m.graph, nil
}

// addEdges adds the edges that a pattern finds on line n, and reports whether there is one: groups 1 and 2
// of the pattern are the ends. In a chain such as a -> b -> c the end of one edge is the start of the next,
// so that the search goes on there.
func (g *drawnGraph) addEdges(pattern *regexp.Regexp, line string, n int32) bool {
	any := false
	for {
		e := pattern.FindStringSubmatchIndex(line)
		if e == nil {
			return any
		}
		from, to := g.node(line[e[2]:e[3]], lineCol(n, 1)), g.node(line[e[4]:e[5]], lineCol(n, 1))
		g.edges, g.at = append(g.edges, [2]int{from, to}), append(g.at, lineCol(n, 1))
		any, line = true, line[e[4]:]
	}
}

var (
	// A front matter between lines of --- may come first. \w\w is the direction, such as TD.
	mermaidHead = regexp.MustCompile(`^(?:---\n(?s:.*?)---\s*)?(flowchart|graph)\s+\w\w\b`)
	// The brackets are the shape of a node; the text between them is its label.
	mermaidNode = regexp.MustCompile(`^\s*(\w+)\s*(?:\(\[|\[\[|\(\(|\[|\(|\{)"?([^\])}"]*)"?`)
	// |text| behind the arrow labels the edge.
	mermaidEdge = regexp.MustCompile(`(\w+)\s*-->\s*(?:\|[^|]*\|)?\s*(\w+)`)
)

// isMermaid recognises a mermaid flowchart.
func isMermaid(head []byte) bool { return mermaidHead.Match(head) }

// readMermaid reads the mermaid flowchart of nextflow -with-dag.
//
// A line with an edge defines no label, even if mermaid allows both on one: Nextflow writes them
// apart. A subgraph is a frame in the drawing and no node.
func (m *merger) readMermaid(name string, r *bufio.Reader) error {
	g, err := m.newDrawn(name)
	if err != nil {
		return err
	}
	return eachLine(name, r, func(n int32, line string) error {
		if g.addEdges(mermaidEdge, line, n) {
			return nil
		}
		if d := mermaidNode.FindStringSubmatch(line); d != nil && d[1] != "subgraph" {
			g.nodes[g.node(d[1], lineCol(n, 1))].label = strings.TrimSpace(d[2])
		}
		return nil
	})
}

// finishDrawn makes tasks of a drawn graph and the records.
//
// One line of a Nextflow trace is enough to make it a graph of processes. Without a trace a graph
// is read as Snakemake's, where each node is a task.
func (m *merger) finishDrawn() error {
	m.b.File = m.drawn
	for _, r := range m.records {
		if r.nextflow {
			return m.finishNextflow()
		}
	}
	return m.finishSnakemake()
}

// isSnakemakeBenchmark recognises the first columns of a benchmark.
func isSnakemakeBenchmark(head []byte) bool { return bytes.HasPrefix(head, []byte("s\th:m:s\t")) }
