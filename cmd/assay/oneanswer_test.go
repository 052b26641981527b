package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/view"
)

// A model is a program without a process: it gives the values of its runs by n and the number of the run.
type model struct {
	mu    sync.Mutex
	draws *rand.Rand
	of    func(n float64, nth int, noise float64) assay.Measurement
	runs  map[float64]int
}

func (m *model) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := j.Config[0]
	m.runs[n]++
	return m.of(n, m.runs[n], 1+0.05*m.draws.NormFloat64()), nil
}

// took returns the measurement of a run of that many seconds, with its use of memory.
func took(seconds, rss float64) assay.Measurement {
	return assay.Measurement{
		Elapsed: time.Duration(seconds * 1e9), Metrics: map[string]float64{"max_rss": rss, "size": 1000 / seconds},
	}
}

// slope is faster for larger n, noisily.
func slope(n float64, _ int, noise float64) assay.Measurement {
	return took((20-n)*noise, 30e6+n*1e6*noise)
}

// answered are studies of each kind: their definitions without command and parameters, and their programs.
var answered = []struct {
	name, text string
	of         func(n float64, nth int, noise float64) assay.Measurement
}{
	{"failed", "budget: {trials: 9}\n", func(float64, int, float64) assay.Measurement {
		return assay.Measurement{Elapsed: time.Second, ExitCode: 1, Metrics: map[string]float64{}}
	}},
	{"gain", "budget: {trials: 20}\n", slope},
	{"nothing", "budget: {trials: 20}\n", func(_ float64, _ int, noise float64) assay.Measurement {
		return took(10*noise, 30e6)
	}},
	{"two", "budget: {trials: 20}\nobjective: {minimize: [elapsed, max_rss]}\n", slope},
	{"limited", "budget: {trials: 20}\nsubject_to: ['max_rss <= 41e6']\n", slope},
	{"refuted", "budget: {trials: 20}\n", func(n float64, nth int, noise float64) assay.Measurement {
		m := slope(n, nth, noise)
		if n > 12 && nth > 1 {
			m.ExitCode = 3
		}
		return m
	}},
	{"largest", "budget: {trials: 20}\nobjective: {maximize: size}\nmetrics: {size: 'stdout:/size ([0-9.]+)/'}\n", slope},
	{"one", "budget: {trials: 1}\n", slope},
}

const answeredHead = "command: [program, '{n}']\nparameters: {n: {type: int, min: 1, max: 15, default: 5}}\n"

// Commands, reports, pages, routes and the client for Python show one recommended trial, value, gain and interval of
// each kind of study: those that [result.NewStory] returns when the study ends.
func TestOneAnswer(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	at := filepath.Join(h.dir, "answers.db")
	want := map[string]*view.Answer{}
	for i, c := range answered {
		want[c.name] = h.tuned(at, c.name, c.text, uint64(i), c.of, 0)
	}
	want["stopped"] = h.tuned(at, "stopped", "budget: {trials: 20}\n", 9, slope, 4)
	want["fleet"] = h.fleetTuned(at)
	want["replay"] = h.replayed(at)
	want["external"] = h.told(at)
	if n := len(want); n != 12 || want["failed"] != nil || want["two"] != nil || !want["gain"].Shown ||
		!want["nothing"].Keep ||
		len(want["refuted"].Passed) == 0 || len(want["limited"].Limits) != 1 || want["stopped"] == nil ||
		want["fleet"] == nil {
		t.Fatalf("%d studies are not what they are for: %+v", n, want)
	}
	get := h.site(at)
	lines := map[string]view.Study{}
	for line := range strings.Lines(h.run("study ls --json --store " + at)) {
		var l view.Study
		decode(t, line, &l)
		lines[l.Study] = l
	}
	for name, a := range want {
		t.Run(name, func(t *testing.T) {
			h.commandsSay(at, name, a, lines[name])
			h.pagesSay(get, name, a)
		})
	}
	t.Run("python", func(t *testing.T) { h.pythonSays(at, want) })
}

// decode reads JSON.
func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// asJSON returns an answer as others read it.
func asJSON(t *testing.T, a *view.Answer) (back *view.Answer) {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(b), &back)
	return back
}

// tuned runs a study of a program without processes and returns its answer. It is stopped after a number of trials, if
// that is not 0.
func (h *house) tuned(
	at, name, text string, seed uint64, of func(float64, int, float64) assay.Measurement, stopAfter int,
) *view.Answer {
	h.t.Helper()
	def, _, err := spec.Parse(name+".yaml", []byte(answeredHead+text), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	m := &model{draws: rand.New(rand.NewPCG(seed, 7)), of: of, runs: map[float64]int{}}
	sd, err := setup.Open(h.t.Context(), def, at, name, setup.Options{Runner: m})
	if err != nil {
		h.t.Fatal(err)
	}
	defer sd.Close()
	drain, ended := make(chan struct{}), 0
	sd.Drain = drain
	m.of = func(n float64, nth int, noise float64) assay.Measurement {
		if ended++; ended == stopAfter {
			close(drain)
		}
		return of(n, nth, noise)
	}
	res, err := sd.Run(h.t.Context())
	if err != nil && stopAfter == 0 {
		h.t.Fatal(err)
	}
	s, err := story(sd.Problem, name, res)
	if err != nil {
		h.t.Fatal(err)
	}
	return asJSON(h.t, s.Answer)
}

// fleetTuned has the worker of a server make the runs.
func (h *house) fleetTuned(at string) *view.Answer {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	store, err := setup.OpenStore(ctx, at)
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	carrier := queue.NewMemory(time.Minute)
	f := queue.New(carrier, queue.Options{})
	go func() { _ = f.Serve(ctx) }()
	host, err := service.Open(ctx, service.Options{Store: store, Fleet: f})
	if err != nil {
		h.t.Fatal(err)
	}
	defer host.Close()
	w := queue.Worker{ID: "w", Name: "w", Slots: 1, Apps: []string{queue.Commands}, MachineClass: "c"}
	if _, err := f.Hello(ctx, w); err != nil {
		h.t.Fatal(err)
	}
	m := &model{draws: rand.New(rand.NewPCG(5, 7)), of: slope, runs: map[float64]int{}}
	go func() {
		for {
			d, err := carrier.Take(ctx, w.Apps, w.MachineClass)
			if err != nil {
				return
			}
			if c, err := f.Claim(ctx, d.Ticket(), w.ID); err == nil && c.Verdict == queue.Go {
				ran, _ := m.Run(ctx, c.Task.Job, nil)
				ran.Metrics["elapsed"] = ran.Elapsed.Seconds()
				_ = f.Tell(ctx, queue.Outcome{ID: c.Task.ID, Worker: w.ID, Measurement: ran})
			}
			_ = d.Done(ctx)
		}
	}()
	def, _, err := spec.Parse("fleet.yaml", []byte(answeredHead+"budget: {trials: 12}\nplace: fleet\n"), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := host.Submit(ctx, def, "fleet", "test"); err != nil {
		h.t.Fatal(err)
	}
	res, err := host.Wait(ctx, "fleet")
	if err != nil {
		h.t.Fatal(err)
	}
	p, err := setup.New(def, setup.Options{Runner: m})
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := story(p, "fleet", res)
	if err != nil {
		h.t.Fatal(err)
	}
	return asJSON(h.t, s.Answer)
}

// replayed tunes a recorded table.
func (h *house) replayed(at string) *view.Answer {
	h.t.Helper()
	var out result.Outcome
	decode(h.t, h.run("tune t.yaml --study replay --trials 9 --json --store "+at), &out)
	return out.Answer
}

// told tunes a study whose runs are made elsewhere.
func (h *house) told(at string) *view.Answer {
	h.t.Helper()
	file := h.write("external.yaml",
		"name: external\nparameters: {n: 1..15}\nbudget: {trials: 8}\nobjective: {minimize: value}\n")
	for {
		var row struct {
			ID     int64
			Config map[string]float64
		}
		code, out, errs := h.tryArgs([]string{"ask", file, "--json", "--store", at}, "")
		if code != 0 || strings.TrimSpace(out) == "" {
			if row.ID == 0 && code != 0 && !strings.Contains(errs, "over") {
				h.t.Logf("ask: %d %s", code, errs)
			}
			break
		}
		decode(h.t, out, &row)
		if row.ID == 0 {
			break
		}
		code, _, errs = h.tryArgs([]string{"tell", "external", "--store", at},
			fmt.Sprintf(`{"id": %d, "value": %g}`, row.ID, math.Abs(row.Config["n"]-6)+1))
		if code != 0 {
			h.t.Fatal(errs)
		}
	}
	var out result.Shown
	decode(h.t, h.run("study show external --json --store "+at), &out)
	if out.Answer == nil || out.Answer.Gain == "" {
		h.t.Fatalf("the external study has the answer %+v", out.Answer)
	}
	return out.Answer
}

// commandsSay compares the output of commands for a study with its answer.
func (h *house) commandsSay(at, name string, a *view.Answer, line view.Study) {
	t := h.t
	t.Helper()
	var shown result.Shown
	decode(t, h.run("study show "+name+" --json --store "+at), &shown)
	if a != nil {
		a.Run = ""
	}
	if shown.Answer != nil {
		shown.Answer.Run = "" // the paths depend on the place of the command
	}
	if !reflect.DeepEqual(shown.Answer, a) {
		t.Errorf("%s: show has %+v, the study %+v", name, shown.Answer, a)
	}
	if a == nil {
		if line.Best != nil || line.BestTrial != 0 || line.Gain != "" {
			t.Errorf("%s: ls has %+v", name, line)
		}
		return
	}
	if line.Best == nil || *line.Best != a.Value || line.BestTrial != a.Trial || line.BestRuns != a.Runs ||
		line.Gain != a.Gain || line.Keep != a.Keep {
		t.Errorf("%s: ls has %+v, want %+v", name, line, a)
	}
	code, out, errs := h.tryArgs([]string{"study", "explain", name, "--json", "--store", at}, "")
	if code != 0 {
		if name != "one" && name != "stopped" {
			t.Errorf("%s: explain ends with %d: %s", name, code, errs)
		}
	} else {
		var e result.Output
		decode(t, out, &e)
		e.Answer.Run = ""
		if !reflect.DeepEqual(e.Answer, a) || e.Best.Trial != a.Trial || e.Best.Value != a.Value ||
			max(1, e.Best.Runs) != a.Runs {
			t.Errorf("%s: explain has %+v and %+v, want %+v", name, e.Answer, e.Best, a)
		}
		text := h.run("study explain " + name + " --store " + at)
		for _, want := range []string{fmt.Sprintf("(trial %d)", a.Trial), strings.Fields(a.Gain)[0]} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: explain has no %q in\n%s", name, want, text)
			}
		}
	}
	page := filepath.Join(h.dir, name+".html")
	h.run("report " + name + " -o " + page + " --store " + at)
	h.figureSays("the report of "+name, h.read(page), a, shown.Spec)
}

// figureSays compares the first figure of a page with an answer.
func (h *house) figureSays(where, page string, a *view.Answer, def *spec.Study) {
	h.t.Helper()
	goal, err := def.Goal()
	if err != nil {
		h.t.Fatal(err)
	}
	text := html.UnescapeString(page)
	big := report.Metric(a.Value, goal.Unit) + "</div>"
	_, figure, _ := strings.Cut(text, `class="figure"><div class="big"`)
	_, figure, _ = strings.Cut(figure, ">")
	if !strings.HasPrefix(figure, big) {
		h.t.Errorf("%s begins with %.60q, want %q", where, figure, big)
	}
	what, _, _ := strings.Cut(strings.TrimPrefix(figure, big), "</div>")
	if !strings.Contains(what, fmt.Sprintf("trial %d", a.Trial)) ||
		a.Runs > 1 && !strings.Contains(what, fmt.Sprint(a.Runs, " runs")) {
		h.t.Errorf("%s: %q, want trial %d, %d runs", where, what, a.Trial, a.Runs)
	}
	if gain := strings.Join(strings.Fields(a.Gain), " "); !strings.Contains(strings.Join(strings.Fields(text), " "),
		gain) {
		h.t.Errorf("%s has no %q", where, a.Gain)
	}
}

// site serves the pages and the routes of a store, and returns a function that reads the content at a path.
func (h *house) site(at string) (get func(path string) string) {
	h.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- server.ServeUI(ctx, server.UI{Version: "test", Store: func(ctx context.Context) (*setup.Store, error) {
			return setup.ReadStore(ctx, at)
		}}, func(p server.Shown) { ready <- p.URL })
	}()
	h.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
	})
	base, code, _ := strings.Cut(<-ready, "/#code=")
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	if r, err := client.PostForm(base+"/login", url.Values{"code": {code}}); err != nil {
		h.t.Fatal(err)
	} else {
		r.Body.Close()
	}
	return func(path string) string {
		h.t.Helper()
		r, err := client.Get(base + path)
		if err != nil {
			h.t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			h.t.Fatalf("%s: %s, %v: %s", path, r.Status, err, b)
		}
		return string(b)
	}
}

// pagesSay compares the pages and the routes of a study with its answer.
func (h *house) pagesSay(get func(string) string, name string, a *view.Answer) {
	t := h.t
	t.Helper()
	var d api.Detail
	decode(t, get("/api/v1/studies/"+name), &d)
	var whole struct {
		Answer *view.Answer `json:"answer"`
	}
	decode(t, get("/api/v1/studies/"+name+"/answer"), &whole)
	if whole.Answer != nil {
		whole.Answer.Run = ""
	}
	if !reflect.DeepEqual(whole.Answer, a) {
		t.Errorf("%s: the route has %+v, want %+v", name, whole.Answer, a)
	}
	if a == nil {
		return
	}
	s := d.Study
	if s.Best == nil || *s.Best != a.Value || s.BestTrial != a.Trial || s.BestRuns != a.Runs || s.Gain != a.Gain ||
		s.Keep != a.Keep {
		t.Errorf("%s: the list has %v, trial %d, %d runs, %q, want %+v", name, s.Best, s.BestTrial, s.BestRuns, s.Gain, a)
	}
	def, err := spec.Decode(d.Spec)
	if err != nil {
		t.Fatal(err)
	}
	h.figureSays("the page of "+name, get("/s/"+name), a, def)
	var e result.Output
	if name != "one" && name != "stopped" { // which have too few trials
		decode(t, get("/api/v1/studies/"+name+"/explain?curves=true"), &e)
		if e.Best.Trial != a.Trial || e.Best.Value != a.Value {
			t.Errorf("%s: the model is explained at %+v, want %+v", name, e.Best, a)
		}
	}
}

// pythonSays compares the results of the client for Python for the studies with their answers.
func (h *house) pythonSays(at string, want map[string]*view.Answer) {
	python, err := exec.LookPath("python3")
	if err != nil {
		testbed.Lacks(h.t, "python3")
	}
	clients, err := filepath.Abs("../../clients/python")
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(h.t.Context(), python, "-c", `
import json, sys
import assay
from assay._desk import Command
desk = Command(sys.argv[1], None)
out = {name: desk.answer(name) for name in sys.argv[2:]}
s = assay.load_study("external", storage=sys.argv[1])
assert s.answer == out["external"] and s.best_value == s.answer["value"] and s.best_trial.id == s.answer["trial"]
json.dump(out, sys.stdout)
`, at)
	for name := range want {
		cmd.Args = append(cmd.Args, name)
	}
	cmd.Env = append(cmd.Environ(), "PYTHONPATH="+clients, "PYTHONDONTWRITEBYTECODE=1", "ASSAY_SERVER=")
	b, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%v: %s", err, b)
	}
	var got map[string]*view.Answer
	decode(h.t, string(b), &got)
	for name, a := range want {
		if g := got[name]; g != nil {
			g.Run = ""
		}
		if !reflect.DeepEqual(got[name], a) {
			h.t.Errorf("%s: Python has %+v, want %+v", name, got[name], a)
		}
	}
}
