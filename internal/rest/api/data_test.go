package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/spec"
)

// clientOf returns a client of the rig with the token of a role.
func (r *rig) clientOf(role Role) *Client {
	return &Client{base: r.at.URL, token: "secret-" + string(role), http: r.at.Client(), stream: r.at.Client()}
}

// lab puts a study on record that ran a program on cpu and mem, whose time is f.
func (r *rig) lab(t testing.TB, name string, f func(cpu, mem float64) float64) {
	t.Helper()
	ctx := context.Background()
	def, err := spec.Decode([]byte(`{"version":1,"command":["true","{cpu}","{mem}"],"parameters":[` +
		`{"name":"cpu","type":"int","min":1,"max":8},{"name":"mem","type":"int","min":1,"max":4}],` +
		`"objective":{"metric":"elapsed"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.host.Submit(ctx, def, name, "test"); err != nil {
		t.Fatal(err)
	}
	id := int64(0)
	told := func(cpu, mem float64, checked bool, more float64) {
		seconds := f(cpu, mem) + more
		end := assay.Trial{
			Proposal: assay.Proposal{ID: id, Config: assay.Config{cpu, mem}}, State: assay.Done, Value: seconds,
			Measurement: assay.Measurement{Elapsed: time.Duration(seconds * float64(time.Second))},
			Started:     time.Unix(1700000000, 0), Ended: time.Unix(1700000001, 0),
		}
		e := assay.Event{Told: &end}
		if checked {
			e = assay.Event{Checked: &end}
		}
		if err := r.host.append(ctx, name, e); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(cpu, mem float64) {
		id++
		p := &assay.Proposal{ID: id, Config: assay.Config{cpu, mem}}
		if err := r.host.append(ctx, name, assay.Event{Asked: p}); err != nil {
			t.Fatal(err)
		}
	}
	for _, cpu := range []float64{1, 2, 4, 8} {
		for _, mem := range []float64{1, 2, 4} {
			ask(cpu, mem)
			told(cpu, mem, false, 0)
		}
	}
	for i := range 4 { // the best and the first again
		told(8, 4, true, 0.01*float64(i))
		id = 1
		told(1, 1, true, 0.01*float64(i))
		id = 12
	}
}

func amdahl(cpu, mem float64) float64 { return 4 + 40/cpu + 8/mem }

func TestCompare(t *testing.T) {
	r := newRig(t)
	r.lab(t, "before", amdahl)
	r.lab(t, "after", func(cpu, mem float64) float64 { return 0.8 * amdahl(cpu, mem) })
	out, err := r.clientOf(Viewer).Compare(t.Context(), "before", "after")
	if err != nil {
		t.Fatal(err)
	}
	if !out.Alike || len(out.Studies) != 2 || len(out.Versus) != 1 {
		t.Fatalf("%+v", out)
	}
	v := out.Versus[0]
	if v.A != "before" || v.B != "after" || v.Verdict != "less" || v.Runs != [2]int{4, 4} {
		t.Errorf("%+v", v)
	}
	if v.Change == nil || !(*v.Change < -0.19 && *v.Change > -0.21) || v.CI95[0] == nil || !(*v.CI95[0] <= *v.Change) ||
		!(*v.CI95[1] < 0) {
		t.Errorf("change %v in %v, want about -0.2 and an interval below 0", v.Change, v.CI95)
	}
	if s := out.Studies[0]; s.Config != "cpu=8 mem=4" || s.Value == nil || s.Trials.Done != 12 || s.Gain == nil {
		t.Errorf("%+v", s)
	}
	if p := out.Params; len(p) != 2 || p[0].Name != "cpu" || p[0].Values[1] != "8" || p[0].Differs {
		t.Errorf("%+v", p)
	}
	// The report has the same words.
	got := r.do(t, Viewer, http.MethodGet, prefix+"/compare?s=before&s=after", "", nil)
	if !strings.Contains(got.body, "% less elapsed than before, 95 % interval") {
		t.Errorf("%d %s", got.status, got.body)
	}
	other, err := r.clientOf(Viewer).Compare(t.Context(), "before", "tuned")
	if err != nil || len(other.Params) != 3 || other.Versus[0].Change != nil ||
		!strings.HasPrefix(other.Versus[0].Text, "not compared") {
		t.Errorf("%v %+v", err, other)
	}
	for query, want := range map[string]int{
		"": 422, "?s=before": 422, "?s=before&s=none": 404, "?s=before&s=": 422, "?s=before,after": 422,
		"?s=tuned&s=tuned": 200, "?" + strings.Repeat("s=tuned&", 8) + "s=tuned": 422,
	} {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/compare"+query, "", nil); got.status != want {
			t.Errorf("%s: %d, want %d: %s", query, got.status, want, got.body)
		}
	}
	r.keys.all["part"] = Token{Name: "part", Role: Viewer, Studies: []string{"be"}}
	if got := r.do(t, "part", http.MethodGet, prefix+"/compare?s=before&s=after", "", nil); got.status != 404 {
		t.Errorf("a study that the token is not for: %d", got.status)
	}
}

// A parameter that is not in force at the best configuration is no part of it.
func TestCompareConditions(t *testing.T) {
	r := newRig(t)
	def, _, err := spec.Parse("f.yaml", []byte("command: [x, '{mode}', '{n}']\nparameters:\n  mode: [a, b]\n"+
		"  n: {type: int, min: 1, max: 4, when: mode == 'a'}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.host.Submit(t.Context(), def, "when", "test"); err != nil {
		t.Fatal(err)
	}
	space, err := def.Space()
	if err != nil {
		t.Fatal(err)
	}
	c, err := space.Parse(map[string]string{"mode": "b"})
	if err != nil {
		t.Fatal(err)
	}
	end := assay.Trial{Proposal: assay.Proposal{ID: 1, Config: c}, State: assay.Done, Value: 2}
	end.Measurement.Elapsed = 2 * time.Second
	if err := r.host.append(t.Context(), "when", assay.Event{Asked: &end.Proposal}, assay.Event{Told: &end}); err != nil {
		t.Fatal(err)
	}
	out, err := r.clientOf(Viewer).Compare(t.Context(), "when", "tuned")
	if err != nil || out.Studies[0].Config != "mode=b" || fmt.Sprint(out.Params) != "[{mode [b ] true} {n [ 1] true}]" {
		t.Errorf("%v: %+v", err, out)
	}
}

func TestKnowledge(t *testing.T) {
	r := newRig(t)
	r.lab(t, "before", amdahl)
	r.lab(t, "after", func(cpu, mem float64) float64 { return 0.8 * amdahl(cpu, mem) })
	c := r.clientOf(Viewer)
	families, apart, err := c.Knowledge(t.Context())
	if err != nil || len(families) != 2 || len(families[0].Studies) != 2 || *families[0].Correlation[0][1] < 0.99 {
		t.Errorf("%v %+v", err, families)
	}
	if len(apart) != 2 || apart[0].Study != "asked" || apart[1].Study != "other" {
		t.Errorf("apart %+v", apart)
	}
	p, err := c.Pruned(t.Context(), "before", 6)
	if err != nil || p.After != 6 || len(p.Helpers) != 1 || p.Helpers[0].Study != "after" || p.Later != 6 {
		t.Errorf("%v %+v", err, p)
	}
	similar, err := c.Similar(t.Context(), "before")
	if err != nil || len(similar) != 4 || similar[0].Study != "after" {
		t.Errorf("%v %+v", err, similar)
	}
	// Another's studies neither help nor stand in the map.
	r.keys.all["part"] = Token{Name: "part", Role: Viewer, Studies: []string{"be"}}
	for _, path := range []string{"/knowledge", "/studies/before/pruned", "/studies/before/similar"} {
		got := r.do(t, "part", http.MethodGet, prefix+path, "", nil)
		if got.status != 200 || strings.Contains(got.body, `:"after"`) || strings.Contains(got.body, "tuned") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

const fanned = "id,run_s,parents\na,10,\nb,20,a\nc,30,a\nd,5,b c\n"

// A plan is the same as the command's for the same file and options.
func TestPlan(t *testing.T) {
	r := newRig(t)
	c := r.clientOf(Viewer)
	got, err := c.Plan(t.Context(), PlanRequest{
		Files: map[string]string{"w.csv": fanned}, Slots: "1,2,4", Price: "0.01", Deadline: "60s", Error: 0.1,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "w.csv")
	if err := os.WriteFile(file, []byte(fanned), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planning.New(planning.Disk, planning.Options{
		Slots: "1,2,4", Levels: "tda,bua", Price: "0.01", Deadline: time.Minute, Error: 0.1, Samples: 100, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Plan(file)
	if err != nil {
		t.Fatal(err)
	}
	var want, has strings.Builder
	if err := planning.WriteJSON(&want, []*planning.Plan{made}); err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(&has)
	enc.SetIndent("", " ")
	if err := enc.Encode(got.Plan); err != nil {
		t.Fatal(err)
	}
	if has.String() != want.String() {
		t.Errorf("%s\nthe command says\n%s", has.String(), want.String())
	}
	if got.Plan.Recommendation.Slots != 2 || got.Plan.Estimates[0].Low >= got.Plan.Estimates[0].High {
		t.Errorf("%+v", got.Plan)
	}
	g := got.Graph
	if g == nil || fmt.Sprint(g.ID, g.Level, g.From, g.To) != "[a b c d] [0 1 1 2] [0 0 1 2] [1 2 3 3]" {
		t.Errorf("graph %+v", g)
	}
}

// A file that a request names is among its files: nothing of the machine is read, whatever the name is.
func TestPlanReadsNothing(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("id,run_s\nsecret,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	near, err := filepath.Abs("plan.go")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	c := r.clientOf(Viewer)
	for _, name := range []string{
		secret, near, "plan.go", "./plan.go", "../api/plan.go", "/etc/passwd", "w.csv/../" + secret, ".", "/", "",
		"w.csv," + secret, "-", "file://" + secret,
	} {
		files := map[string]string{"w.csv": fanned, "other": "x"}
		for option, q := range map[string]PlanRequest{
			"workflow":   {Files: files, Workflow: name},
			"calibrate":  {Files: files, Workflow: "w.csv", Calibrate: []string{name}},
			"times_from": {Files: files, Workflow: "w.csv", Times: []string{name}},
			"slot_times": {Files: files, Workflow: "w.csv", SlotTimes: []string{name}},
			"prices":     {Files: files, Workflow: "w.csv", Prices: name},
			"sites":      {Files: files, Workflow: "w.csv", Sites: name},
		} {
			out, err := c.Plan(t.Context(), q)
			if err == nil && (option == "prices" || option == "sites") && name == "" {
				continue // it is not given
			}
			if err == nil || assay.ClassOf(err) != assay.ClassUsage || strings.Contains(err.Error(), "secret,7") {
				t.Errorf("%s %q: %v %+v", option, name, err, out)
			}
		}
	}
}

// A request that would take too long, or has no finite answer, is refused in words.
func TestPlanLimits(t *testing.T) {
	r := newRig(t)
	c := r.clientOf(Viewer)
	var many strings.Builder
	many.WriteString("id,run_s\n")
	for i := range 20_001 {
		fmt.Fprintf(&many, "t%d,1\n", i)
	}
	w := map[string]string{"w.csv": fanned}
	for want, q := range map[string]PlanRequest{
		"20001 tasks":      {Files: map[string]string{"w.csv": many.String()}},
		"slots: at most":   {Files: w, Slots: "1,1073741824"},
		"not a duration":   {Files: w, Deadline: "soon"},
		"which of the 2":   {Files: map[string]string{"a": fanned, "b": fanned}},
		"w.csv:2:1":        {Files: map[string]string{"w.csv": "id,run_s\na,x\n"}},
		"no finite answer": {Files: w, Price: "1e308"},
		"--slots":          {Files: w, Slots: "many"},
	} {
		if _, err := c.Plan(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := c.Plan(t.Context(), PlanRequest{Files: w, Machines: []string{"100000000x64"}}); err == nil {
		t.Error("a hundred million machines are planned")
	}
	for size, want := range map[int]int{maxBody: http.StatusOK, maxPlan: http.StatusRequestEntityTooLarge} {
		body, err := json.Marshal(PlanRequest{Files: map[string]string{"w.csv": fanned + strings.Repeat("\n", size/2)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.do(t, Viewer, http.MethodPost, prefix+"/plan", string(body), nil); got.status != want {
			t.Errorf("%d bytes: %d, want %d: %.200s", len(body), got.status, want, got.body)
		}
	}
}

// The model is the same as from assay learn --from, and predicts as assay predict does.
func TestModel(t *testing.T) {
	r := newRig(t)
	r.lab(t, "lab", amdahl)
	c := r.clientOf(Viewer)
	m, err := c.Model(t.Context(), "lab")
	if err != nil {
		t.Fatal(err)
	}
	if m.Study != "lab" || m.Runs != 20 || len(m.Measured) != 20 || m.Error == nil || len(m.Predictors) == 0 {
		t.Errorf("%+v", m)
	}
	for _, run := range m.Measured {
		if run.Without == nil || run.Seconds <= 0 || run.At["cpu"] == "" {
			t.Errorf("%+v", run)
		}
	}
	if a := m.Attributes; len(a) != 2 || a[0].Name != "cpu" || *a[0].Max != 8 {
		t.Errorf("%+v", a)
	}
	ps, err := c.Predict(t.Context(), "lab", Prediction{
		At: []map[string]any{{"cpu": 4, "mem": "2"}, {"cpu": 32, "mem": 2}}, Explain: true,
	})
	if err != nil || len(ps) != 2 {
		t.Fatal(ps, err)
	}
	if p := ps[0]; !(p.Seconds > 0.8*18 && p.Seconds < 1.2*18) || !(p.Low < p.Seconds) || *p.High < p.Seconds ||
		len(p.Beyond) > 0 {
		t.Errorf("%+v, want about 18 s", p)
	}
	if p := ps[1]; len(p.Beyond) != 1 ||
		!strings.HasPrefix(p.Beyond[0], "cpu=32 is beyond the 8 that was run by 3.4 times") ||
		p.Elasticities["cpu"] >= 0 {
		t.Errorf("%+v, want an extrapolation", p)
	}
	f, ok := r.models.find("lab", 1+24+8)
	if !ok {
		t.Fatal("the model is not kept")
	}
	same, err := result.Predict(f.model, map[string]string{"cpu": "4", "mem": "2"}, costmodel.Machine(nil))
	if err != nil || same.Seconds != ps[0].Seconds || same.Low != ps[0].Low {
		t.Errorf("%v, %v; the command says %v", err, ps[0], same)
	}
	for body, want := range map[string]string{
		`{"at":[{"cpu":4}]}`:                                      "no value for attribute",
		`{"at":[{"cpu":4,"mem":1,"x":1}]}`:                        "no attribute",
		`{"at":[{"cpu":"fast","mem":1}]}`:                         "cpu",
		`{"at":[{"cpu":[1],"mem":1}]}`:                            "a value is a number",
		`{"at":[{"cpu":4,"mem":1}],"on":{}}`:                      "on: ",
		`{"at":[{"cpu":4,"mem":1}],"learned_on":{"cpu_speed":1}}`: "learned_on",
	} {
		got := r.do(t, Viewer, http.MethodPost, prefix+"/studies/lab/predict", body, nil)
		if got.status != 422 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s, want %q", body, got.status, got.body, want)
		}
	}
	for _, path := range []string{"/model", "/predict"} {
		method, body := http.MethodGet, ""
		if path == "/predict" {
			method, body = http.MethodPost, `{"at":[{"n":1}]}`
		}
		if got := r.do(t, Viewer, method, prefix+"/studies/other"+path, body, nil); got.status != 409 {
			t.Errorf("%s of a study without a run: %d %s", path, got.status, got.body)
		}
	}
	// A study that has grown has another model.
	before := m.Runs
	r.lab2(t, "lab")
	if m, err = c.Model(t.Context(), "lab"); err != nil || m.Runs != before+1 {
		t.Errorf("after one more run: %d runs, %v", m.Runs, err)
	}
}

// lab2 has one more trial of a study of lab.
func (r *rig) lab2(t testing.TB, name string) {
	t.Helper()
	c := assay.Config{6, 3}
	end := assay.Trial{
		Proposal: assay.Proposal{ID: 13, Config: c}, State: assay.Done, Value: amdahl(6, 3),
		Measurement: assay.Measurement{Elapsed: time.Duration(amdahl(6, 3) * float64(time.Second))},
	}
	events := []assay.Event{{Asked: &end.Proposal}, {Told: &end}}
	if err := r.host.append(context.Background(), name, events...); err != nil {
		t.Fatal(err)
	}
}

// The values that are kept are the most recently used ones.
func TestRecent(t *testing.T) {
	m := &recent[int]{}
	for i := range mostRecent {
		m.keep(fmt.Sprint(i), 1, i)
	}
	if _, ok := m.find("0", 1); !ok {
		t.Fatal("the first is gone")
	}
	m.keep("new", 1, 9)
	if _, ok := m.find("1", 1); ok || len(m.kept) != mostRecent {
		t.Errorf("%d are kept, and the least recently used among them: %v", len(m.kept), ok)
	}
	if _, ok := m.find("0", 1); !ok {
		t.Error("a value that was used since is gone")
	}
	if _, ok := m.find("0", 2); ok {
		t.Error("a value of other events is found")
	}
}

// The list of studies has the names of applications that tickets have.
func TestOwnCommand(t *testing.T) {
	if spec.OwnCommand != queue.Commands {
		t.Errorf("%q, and tickets have %q", spec.OwnCommand, queue.Commands)
	}
}
