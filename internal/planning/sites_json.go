package planning

import (
	"io"

	"github.com/assay-run/assay/internal/workflow/site"
)

// WriteSitesJSON writes the plan as an object, several as an array of them.
func WriteSitesJSON(w io.Writer, all []*Sites) error { return writeJSON(w, all, (*Sites).json) }

// The JSON of a plan over sites; see docs/format/sites.md.
type (
	sitesJSON struct {
		Workflow    string         `json:"workflow"`
		Tasks       int            `json:"tasks"`
		Best        sitesPlanJSON  `json:"best"`
		Others      []sitesRowJSON `json:"others"`
		NotPossible []sitesNotJSON `json:"not_possible"`
		Bound       float64        `json:"bound_s"`
		Exact       bool           `json:"exact"`
		Nodes       int            `json:"nodes"`
		Cut         int            `json:"cut"`
		Notes       []string       `json:"notes,omitempty"`
	}
	sitesRowJSON struct {
		Name      string        `json:"name"`
		Makespan  float64       `json:"makespan_s"`
		Low       float64       `json:"low_s"`
		High      float64       `json:"high_s"`
		Staged    float64       `json:"staged_B"`
		Remote    float64       `json:"remote_B"`
		Dominated bool          `json:"dominated"`
		Path      sitesPathJSON `json:"path"`
		Why       string        `json:"why"`
	}
	sitesPathJSON struct {
		Compute float64 `json:"compute_s"`
		Local   float64 `json:"local_io_s"`
		Remote  float64 `json:"remote_io_s"`
		Staging float64 `json:"staging_s"`
		Waiting float64 `json:"waiting_s"`
	}
	sitesPlanJSON struct {
		sitesRowJSON
		Tasks    []sitesTaskJSON  `json:"tasks"`
		Stagings []sitesStageJSON `json:"stagings"`
	}
	sitesTaskJSON struct {
		ID      string  `json:"id"`
		Compute string  `json:"compute"`
		Data    string  `json:"data"`
		Ready   float64 `json:"ready_s"`
		Arrived float64 `json:"arrived_s"`
		Start   float64 `json:"start_s"`
		End     float64 `json:"end_s"`
	}
	sitesStageJSON struct {
		For   string  `json:"for"`
		From  string  `json:"from"`
		To    string  `json:"to"`
		Bytes float64 `json:"bytes_B"`
		Start float64 `json:"start_s"`
		End   float64 `json:"end_s"`
	}
	sitesNotJSON struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
)

// sitesRow returns the fields that are shown of every plan.
func sitesRow(p *site.Plan) sitesRowJSON {
	return sitesRowJSON{
		p.Name, p.Makespan, p.Low, p.High, p.Staged, p.Remote, p.Dominated,
		sitesPathJSON{p.Path.Compute, p.Path.Local, p.Path.Remote, p.Path.Staging, p.Path.Waiting},
		p.Why,
	}
}

// json returns the object of one plan. Lists are empty, never null.
func (r *Sites) json() sitesJSON {
	s := r.Plans
	name := func(i int) string { return r.Network.Sites()[i].Name }
	j := sitesJSON{
		Workflow: r.Workflow.Name, Tasks: len(r.Workflow.Tasks), Best: sitesPlanJSON{
			sitesRowJSON: sitesRow(s.Best),
			Tasks:        []sitesTaskJSON{}, Stagings: []sitesStageJSON{},
		},
		Others: []sitesRowJSON{}, NotPossible: []sitesNotJSON{},
		Bound: s.Bound, Exact: s.Exact, Nodes: s.Nodes, Cut: s.Cut, Notes: r.Notes,
	}
	for _, d := range s.Best.Decisions {
		j.Best.Tasks = append(j.Best.Tasks, sitesTaskJSON{
			r.Workflow.Tasks[d.Task].ID, name(d.Compute),
			name(d.Storage), d.Ready, d.Arrived, d.Start, d.End,
		})
	}
	for _, x := range s.Best.Stagings {
		j.Best.Stagings = append(j.Best.Stagings, sitesStageJSON{
			r.Workflow.Tasks[x.For].ID, name(x.From),
			name(x.To), x.Bytes, x.Start, x.End,
		})
	}
	for _, p := range s.Others {
		j.Others = append(j.Others, sitesRow(p))
	}
	for _, u := range s.Unfits {
		j.NotPossible = append(j.NotPossible, sitesNotJSON{u.Name, u.Why})
	}
	return j
}
