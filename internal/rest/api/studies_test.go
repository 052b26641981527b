package api

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/view"
)

// Every class of error has one status, and is the same class again at the client.
func TestProblems(t *testing.T) {
	for class := assay.ClassUnknown; class <= assay.ClassLost; class++ {
		if statuses[class] == 0 {
			t.Errorf("class %v has no status", class)
		}
		p := problem(assay.WithHint(assay.Errorf(class, "what happened"), "what to do"))
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		back := &Problem{}
		if err := json.Unmarshal(b, back); err != nil {
			t.Fatal(err)
		}
		err = back.asError()
		if assay.ClassOf(err) != class || assay.HintOf(err) != "what to do" || err.Error() != "what happened" {
			t.Errorf("%v came back as %v: %v (%s)", class, assay.ClassOf(err), err, assay.HintOf(err))
		}
	}
}

// Only an author may define a program to run: each key of a definition that runs or reads
// something needs one, and none is forgotten.
func TestExecutes(t *testing.T) {
	for key, text := range map[string]string{
		"command":   "command: [x, '{n}']",
		"shell":     "shell: true\ncommand: 'x'",
		"env":       "command: [x, '{n}']\nenv: {A: b}",
		"dir":       "command: [x, '{n}']\ndir: /",
		"setup":     "command: [x, '{n}']\nsetup: [y]",
		"prepare":   "command: [x, '{n}']\nprepare: [y]",
		"cleanup":   "command: [x, '{n}']\ncleanup: [y]",
		"verify":    "command: [x, '{n}']\nverify: [y]",
		"service":   "command: [x, '{n}']\nservice: {start: [y]}",
		"files":     "command: [x, '{n}']\nfiles: {a: b}",
		"secrets":   "command: [x, '{n}']\nsecrets: {A: 'env:B'}",
		"metrics.m": "command: [x, '{n}']\nmetrics: {m: 'json:f#/a'}",
	} {
		def, _, err := spec.Parse("study.yaml", []byte(text+"\nparameters: {n: 1..3}\n"), nil)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if key != "command" && key != "shell" {
			def.Command = nil
		}
		if key == "shell" {
			def.Command = nil
		}
		if got := def.Executes(); got != key {
			t.Errorf("%s: %q", key, got)
		}
	}
	text := "command: [x, '{n}']\nmetrics: {m: 'stdout:/a([0-9])/'}\nparameters: {n: 1..3}\n"
	def, _, err := spec.Parse("study.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if def.Command = nil; def.Executes() != "" {
		t.Errorf("what a run prints is read: %q", def.Executes())
	}
}

// A study that a token is not for is not there.
func TestScope(t *testing.T) {
	r := newRig(t)
	r.keys.all["part"] = Token{Name: "part", Role: Author, Studies: []string{"tu"}}
	got := r.do(t, "part", http.MethodGet, prefix+"/studies", "", nil)
	if !strings.Contains(got.body, `"tuned"`) || strings.Contains(got.body, `"other"`) {
		t.Errorf("studies: %s", got.body)
	}
	if got := r.do(t, "part", http.MethodGet, prefix+"/queue", "", nil); strings.Contains(got.body, `"other"`) {
		t.Errorf("queue: %s", got.body)
	}
	before := r.state(t)
	for _, row := range Routes {
		if !strings.Contains(row.Path, "{study}") {
			continue
		}
		path := strings.NewReplacer("{study}", "other", "{trial}", "1").Replace(row.Path)
		if got := r.do(t, "part", row.Method, path, bodies[row.Method+" "+row.Path], nil); got.status != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", row.Method, path, got.status, got.body)
		}
	}
	submitted := bodies["POST "+prefix+"/studies"]
	if got := r.do(t, "part", http.MethodPost, prefix+"/studies", submitted, nil); got.status != http.StatusForbidden {
		t.Errorf("a study of another name: %d", got.status)
	}
	if got := r.do(t, "part", http.MethodPost, prefix+"/workers/rack/drain", "", nil); got.status != http.StatusForbidden {
		t.Errorf("drain: %d", got.status)
	}
	if before != r.state(t) {
		t.Error("something changed")
	}
}

// A write that comes again is answered as before, and done once.
func TestIdempotency(t *testing.T) {
	r := newRig(t)
	key := func(k string) http.Header { return http.Header{"Idempotency-Key": {k}} }
	path := prefix + "/studies/tuned/trials"
	body := `{"configs":[{"n":9}]}`
	first := r.do(t, Operator, http.MethodPost, path, body, key("a"))
	once := r.state(t)
	again := r.do(t, Operator, http.MethodPost, path, body, key("a"))
	if first.status != 200 || again.status != 200 || first.body != again.body || once != r.state(t) {
		t.Errorf("again: %d %d, the same answer %v, done again %v",
			first.status, again.status, first.body == again.body, once != r.state(t))
	}
	got := r.do(t, Operator, http.MethodPost, path, `{"configs":[{"n":8}]}`, key("a"))
	if got.status != 409 || once != r.state(t) {
		t.Errorf("another body under the same key: %d", got.status)
	}
	for name, do := range map[string]func() reply{
		"another person": func() reply { return r.do(t, Author, http.MethodPost, path, body, key("a")) },
		"another key":    func() reply { return r.do(t, Operator, http.MethodPost, path, body, key("b")) },
		"no key":         func() reply { return r.do(t, Operator, http.MethodPost, path, body, nil) },
	} {
		before := r.state(t)
		if got := do(); got.status != 200 || before == r.state(t) {
			t.Errorf("%s: %d, done %v", name, got.status, before != r.state(t))
		}
	}
}

// The ETag of a study is the number of its last event.
func TestETag(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/studies/tuned", "/studies/tuned/trials", "/studies/tuned/report"} {
		first := r.do(t, Viewer, http.MethodGet, prefix+path, "", nil)
		tag := first.header.Get("ETag")
		have := http.Header{"If-None-Match": {tag}}
		if got := r.do(t, Viewer, http.MethodGet, prefix+path, "", have); tag == "" || got.status != 304 || got.body != "" {
			t.Errorf("%s with %s: %d %s", path, tag, got.status, got.body)
		}
		r.told(t, 2, 2)
		if got := r.do(t, Viewer, http.MethodGet, prefix+path, "", have); got.status != 200 || got.header.Get("ETag") == tag {
			t.Errorf("%s after an event: %d %s", path, got.status, got.header.Get("ETag"))
		}
	}
}

// Rows and columns agree, page by page.
func TestTrials(t *testing.T) {
	r := newRig(t)
	var rows []view.Trial
	var ids []int64
	var values view.Numbers
	for after := int64(0); ; {
		q := prefix + "/studies/tuned/trials?limit=3&after=" + itoa(int(after))
		var page, columns Trials
		if err := json.Unmarshal([]byte(r.do(t, Viewer, http.MethodGet, q, "", nil).body), &page); err != nil {
			t.Fatal(err)
		}
		got := r.do(t, Viewer, http.MethodGet, q+"&format=columns&fields=value,metrics", "", nil)
		if err := json.Unmarshal([]byte(got.body), &columns); err != nil {
			t.Fatal(err)
		}
		rows, ids = append(rows, page.Rows...), append(ids, columns.Columns.ID...)
		values = append(values, columns.Columns.Value...)
		if columns.Columns.Reason != nil || columns.Next != page.Next || len(columns.Columns.Config["n"]) != len(page.Rows) {
			t.Errorf("columns %s", got.body)
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	if len(rows) != 4 || !slices.Equal(ids, []int64{1, 2, 3, 4}) || !math.IsNaN(values[1]) || values[2] != 3 ||
		*rows[2].Value != 3 {
		t.Errorf("%d rows, ids %v", len(rows), ids)
	}
	if rows[1].State != "running" || rows[1].Ended != nil || rows[2].Config["n"] != 3.0 {
		t.Errorf("rows %+v", rows)
	}
}

// The client returns the same as the server, errors included.
func TestClient(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	c := r.client(t, "admin")
	all, err := c.Studies(ctx)
	if err != nil || len(all) != 3 || all[2].Study != "tuned" || all[2].Trials != 4 || *all[2].Best != 1 {
		t.Errorf("studies %+v: %v", all, err)
	}
	if d, err := c.Study(ctx, "tuned"); err != nil || !strings.Contains(string(d.Spec), `"name":"tuned"`) {
		t.Errorf("study %s: %v", d.Spec, err)
	}
	if s, err := c.SetState(ctx, "tuned", "pause", "why"); err != nil || s.State != "paused" {
		t.Errorf("pause: %+v %v", s, err)
	}
	if _, err := c.SetPriority(ctx, "tuned", 3); err != nil {
		t.Error(err)
	}
	if _, err := c.Enqueue(ctx, "tuned", []map[string]any{{"n": "7"}, {"n": 8}}); err != nil {
		t.Error(err)
	}
	if _, err := c.Move(ctx, "tuned", []int64{2}, Change{Do: "first"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Move(ctx, "tuned", []int64{2}, Change{Do: "discard", Reason: "bad"}); err != nil {
		t.Error(err)
	}
	if w, err := c.Order(ctx, "rack", "evict"); err != nil || len(w) != 1 || !r.fleet.orders[0].Evict {
		t.Errorf("evict: %v %v", w, err)
	}
	if q, err := c.Queue(ctx, "", 10); err != nil || q.Total != 2 || len(q.Entries) != 2 {
		t.Errorf("queue: %v %v", q, err)
	}
	if s, err := c.AddToken(ctx, NewToken{Name: "t", Role: Viewer}); err != nil || s.Secret != "secret-t" {
		t.Errorf("token: %v %v", s, err)
	}
	if err := c.Revoke(ctx, "t"); err != nil {
		t.Error(err)
	}
	if got, err := c.Tokens(ctx); err != nil || len(got) != 5 {
		t.Errorf("tokens: %v %v", got, err)
	}
	if a, err := c.Server(ctx); err != nil || a.Version != "test" {
		t.Errorf("server: %v %v", a, err)
	}
	for what, f := range map[string]struct {
		class assay.Class
		err   error
	}{
		"no study":      {assay.ClassNotFound, second(c.Study(ctx, "nothing"))},
		"no worker":     {assay.ClassNotFound, second(c.Order(ctx, "nothing", "drain"))},
		"no trial":      {assay.ClassNotFound, second(c.Move(ctx, "tuned", []int64{99}, Change{Do: "first"}))},
		"no such value": {assay.ClassUsage, second(c.Enqueue(ctx, "tuned", []map[string]any{{"n": 1000}}))},
		"another study": {assay.ClassConflict, second(c.Submit(ctx, Submission{
			Name: "tuned", File: "command: [y, '{n}']\nparameters: {n: 1..3}",
		}))},
		"a flaw":         {assay.ClassUsage, second(c.Submit(ctx, Submission{File: "command: [y]\nparametres: {n: 1..3}"}))},
		"no right":       {assay.ClassUsage, r.client(t, "viewer").Revoke(ctx, "admin")},
		"a wrong token":  {assay.ClassUsage, r.client(t, "nobody").Revoke(ctx, "admin")},
		"a token twice":  {assay.ClassConflict, second(c.AddToken(ctx, NewToken{Name: "viewer", Role: Viewer}))},
		"a name of many": {assay.ClassNotFound, second(c.Study(ctx, "a/b\nc"))},
	} {
		if f.err == nil || assay.ClassOf(f.err) != f.class || strings.Contains(f.err.Error(), "\n\n") {
			t.Errorf("%s: class %v: %v", what, assay.ClassOf(f.err), f.err)
		}
	}
	r.at.Close()
	if _, err := c.Studies(ctx); assay.ClassOf(err) != assay.ClassUnavailable {
		t.Errorf("a server that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Studies(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// client returns a client of a rig with a token.
func (r *rig) client(t *testing.T, token string) *Client {
	t.Helper()
	c, err := NewClient(ClientOptions{Address: "unix:/nowhere", Token: "secret-" + token})
	if err != nil {
		t.Fatal(err)
	}
	c.base, c.address = r.at.URL, r.at.URL
	c.http.Transport, c.stream.Transport = r.at.Client().Transport, r.at.Client().Transport
	return c
}

// A server makes no run a job of a batch system, whichever role asks: its own workers make them.
func TestBatchSystemsAreRefused(t *testing.T) {
	for _, place := range []string{"{on: slurm, setup: ['touch x']}", "{on: slurm}"} {
		def, _, err := spec.Parse("study.yaml", []byte("app: a\nparameters: {n: 1..3}\nplace: "+place+"\n"), nil)
		if err != nil {
			text := "command: [x, '{n}']\nparameters: {n: 1..3}\nplace: " + place + "\n"
			def, _, err = spec.Parse("study.yaml", []byte(text), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := hosted(def); err == nil || !strings.Contains(err.Error(), "runs its studies on its workers") {
			t.Errorf("place: %s: %v", place, err)
		}
	}
}

// A study has the owner who submitted it, also before its first trial. A study that began in a terminal has none.
func TestOwner(t *testing.T) {
	r := newRig(t)
	file := "command: [x, '{n}']\nparameters: {n: 1..3}\n"
	if _, err := r.clientOf(Author).Submit(t.Context(), Submission{Name: "ours", File: file}); err != nil {
		t.Fatal(err)
	}
	def, err := spec.Decode([]byte(defined))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := setup.Encode(def, "begun", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.host.store.Create(t.Context(), "begun", stored); err != nil {
		t.Fatal(err)
	}
	p := assay.Proposal{ID: 1, Config: assay.Config{1}}
	resumed := assay.Event{Steered: &assay.StudyCommand{Do: "run", By: "test"}}
	if err := r.host.append(t.Context(), "begun", assay.Event{Asked: &p}, resumed); err != nil {
		t.Fatal(err)
	}
	all, err := r.clientOf(Viewer).Studies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]string{}
	for _, s := range all {
		owners[s.Study] = s.Owner
	}
	if owners["ours"] != string(Author) || owners["tuned"] != "test" || owners["begun"] != "" {
		t.Errorf("owners: %v", owners)
	}
}
