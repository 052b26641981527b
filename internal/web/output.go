package web

import (
	"context"
	"encoding/json"
	"net/http"
)

// mostOutput is how many bytes of each output of a run a page shows.
const mostOutput = "65536"

// An output is the output of a run, as in the API.
type output struct {
	State  string  `json:"state"`
	Stdout printed `json:"stdout"`
	Stderr printed `json:"stderr"`
}

type printed struct {
	Text string `json:"text"`
	Part string `json:"part"`
}

// Live reports whether more output may follow.
func (o output) Live() bool { return o.State != "ended" }

// Nothing reports whether nothing was printed so far.
func (o output) Nothing() bool { return o.Stdout.Text == "" && o.Stderr.Text == "" }

// keptFiles are the files that were kept of a run.
type keptFiles struct {
	State string `json:"state"`
	Files []struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
		Here bool   `json:"here"`
	} `json:"files"`
	Left []struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	} `json:"left"`
}

// ask requests an optional resource of the API. It reports whether the server has it.
func (s *site) ask(ctx context.Context, path string, out any) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://assay/api/v1"+path, nil)
	if err != nil {
		return false
	}
	a, err := (&http.Client{Transport: inProcess{s.o.API}}).Do(r)
	if err != nil {
		return false
	}
	defer a.Body.Close()
	return a.StatusCode == http.StatusOK && json.NewDecoder(a.Body).Decode(out) == nil
}
