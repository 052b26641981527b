package planning

// The most tasks and edges of a graph that is drawn: a picture of more shows nothing.
const (
	mostDrawn = 2000
	mostEdges = 10_000
)

// A Graph holds the tasks of a workflow and their dependencies, one list a field.
type Graph struct {
	ID    []string  `json:"id"`
	Kind  []string  `json:"kind"`
	Run   []float64 `json:"run_s"`
	Level []int32   `json:"level"` // by the first way of counting levels
	// From and To are places in these lists: the task From[i] ends before To[i] begins.
	From []int32 `json:"from"`
	To   []int32 `json:"to"`
}

// Graph returns the tasks that are planned, nil if they are too many to be drawn.
func (r *Plan) Graph() *Graph {
	w := r.Workflow
	if len(w.Tasks) > mostDrawn || w.Graph.Edges() > mostEdges {
		return nil
	}
	g := &Graph{ID: []string{}, Kind: []string{}, From: []int32{}, To: []int32{}}
	g.Run = append([]float64{}, w.Runs()...)
	level := r.Options.Levelers[0].Level(w.Graph, w.Runs(), r.Plans[r.Best].Choice.Slots)
	g.Level = append([]int32{}, level...)
	for t, task := range w.Tasks {
		g.ID, g.Kind = append(g.ID, task.ID), append(g.Kind, task.Kind)
		for _, next := range w.Graph.Succs(t) {
			g.From, g.To = append(g.From, int32(t)), append(g.To, next)
		}
	}
	return g
}
