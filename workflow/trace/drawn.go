package trace

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// drawnGraph is a graph as workflow systems draw it: nodes with labels.
type drawnGraph struct {
	name  string
	nodes []drawnNode
	index map[string]int
	edges [][2]int
	at    []workflow.Pos // of edges
}

// drawnNode is a node and where it was first mentioned. Its label may come later.
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
	dotHead  = regexp.MustCompile(`^(?s)(//[^\n]*\n|\s)*(strict\s+)?digraph\b`)
	dotEdge  = regexp.MustCompile(`"?([\w.]+)"?\s*->\s*"?([\w.]+)"?`)
	dotNode  = regexp.MustCompile(`^\s*"?([\w.]+)"?\s*\[(.*)\]`)
	dotLabel = regexp.MustCompile(`\blabel\s*=\s*"((?:[^"\\]|\\.)*)"`)
	dotName  = regexp.MustCompile(`digraph\s+"?(\w+)"?`)
)

// isDot recognises a directed graph of Graphviz.
func isDot(head []byte) bool { return dotHead.Match(head) }

// readDot reads the dot output of snakemake --dag and of nextflow -with-dag: one
// node or edge a line.
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
			if slices.Contains([]string{"graph", "node", "edge"}, d[1]) {
				return nil
			}
			i := g.node(d[1], lineCol(n, 1))
			if l := dotLabel.FindStringSubmatch(d[2]); l != nil {
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

// newDrawn begins the graph of the workflow. A second one is an error: nobody
// knows how they belong together.
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
	mermaidHead = regexp.MustCompile(`^(?:---\n(?s:.*?)---\s*)?(flowchart|graph)\s+\w\w\b`)
	mermaidNode = regexp.MustCompile(`^\s*(\w+)\s*(?:\(\[|\[\[|\(\(|\[|\(|\{)"?([^\])}"]*)"?`)
	mermaidEdge = regexp.MustCompile(`(\w+)\s*-->\s*(?:\|[^|]*\|)?\s*(\w+)`)
)

// isMermaid recognises a mermaid flowchart.
func isMermaid(head []byte) bool { return mermaidHead.Match(head) }

// readMermaid reads the mermaid flowchart of nextflow -with-dag.
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
