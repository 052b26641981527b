package main

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// endless is a program that ends in its default only. Otherwise it runs until its limit, without a value.
type endless struct{}

func (endless) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	if j.Config[0] == 5 {
		return assay.Measurement{Elapsed: time.Millisecond, Metrics: map[string]float64{"size": 1}}, nil
	}
	time.Sleep(j.Limit)
	return assay.Measurement{Elapsed: j.Limit, Metrics: map[string]float64{}}, assay.ErrLimit
}

// A run that the end of the budget cuts off does not run in the ended study: lists, pages and routes have it as
// unfinished, with the reason.
func TestCutOff(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	at := filepath.Join(h.dir, "cut.db")
	def, _, err := spec.Parse("cut.yaml", []byte(answeredHead+"budget: 200ms\nobjective: {maximize: size}\n"+
		"metrics: {size: 'stdout:/size ([0-9.]+)/'}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sd, err := setup.Open(t.Context(), def, at, "cut", setup.Options{Runner: endless{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sd.Run(t.Context())
	sd.Close()
	if err != nil {
		t.Fatal(err)
	}
	if out := h.run("study trials cut --store " + at); !strings.Contains(out, "unfinished") ||
		!strings.Contains(out, "the study ended first") {
		t.Errorf("the trials:\n%s", out)
	}
	get := h.site(at)
	var d api.Detail
	decode(t, get("/api/v1/studies/cut"), &d)
	if d.Study.State != "ended" || d.Study.Trials != 2 || d.Study.Running != 0 {
		t.Errorf("the route: %+v", d.Study)
	}
	page := get("/s/cut")
	_, list, _ := strings.Cut(page, `id="running"`)
	list, _, _ = strings.Cut(list, "</section>")
	if strings.Contains(list, "data-trial") || regexp.MustCompile(`[1-9] running`).MatchString(page) ||
		!strings.Contains(page, "</span> unfinished") {
		t.Errorf("the page:\n%s", page)
	}
}
