package web_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/internal/web"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A full is a server of everything that pages show: studies of several kinds, a queue, workers,
// tokens and an audit, for a user who may do all. It runs nothing.
type full struct {
	store *setup.Store
	given *[]assay.Config // the configurations given last
}

func (f full) Submit(context.Context, *spec.Study, string, string) (api.Info, error) {
	return api.Info{}, assay.Errorf(assay.ClassUsage, "nothing is run here")
}
func (f full) Steer(context.Context, string, assay.StudyCommand) error { return nil }
func (f full) Enqueue(_ context.Context, _ string, configs []assay.Config, _ string) error {
	*f.given = configs
	return nil
}
func (f full) Order(context.Context, string, []int64, string) error            { return nil }
func (f full) Withdraw(context.Context, string, []int64, string, string) error { return nil }

func (f full) Ask(context.Context, string, int, time.Duration) (study.Answer, error) {
	return study.Answer{}, nil
}

func (f full) Tell(context.Context, string, []study.Report) (study.Receipt, study.Result, error) {
	return study.Receipt{}, study.Result{}, nil
}

func (f full) Recall(context.Context, string, time.Duration, string, string) ([]study.Handed, error) {
	return nil, nil
}

func (f full) Restore(context.Context, string, []int64, string) error { return nil }

func (f full) Discarded() []service.Discarded {
	return []service.Discarded{{Study: "encoder", Config: "level=3", Discard: study.Discard{
		Proposal: assay.Proposal{ID: 60}, At: time.Now(),
		Withdrawal: assay.Withdrawal{Trial: 60, By: "ada", Reason: "known bad"},
	}}}
}

func (f full) Info(ctx context.Context, name string) (api.Info, error) {
	sum, err := f.store.Summary(ctx, name)
	return api.Info{Summary: sum, State: service.StateOf(sum), Running: int(sum.Counts[assay.Running])}, err
}

func (f full) Infos(ctx context.Context) (all []api.Info, err error) {
	for sum, err := range f.store.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		i, err := f.Info(ctx, sum.Study)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// A fleet has two machines, of which one is at a run.
type fleet struct{}

func (fleet) Reported(name string, trial int64) []queue.Reported {
	if name != "encoder" || trial != 61 {
		return nil
	}
	r := queue.Reported{
		ID: assay.RunID{Study: name, Trial: trial, Attempt: 1}, Placed: true, Worker: "rack-07",
		So: assay.Measurement{Elapsed: 40 * time.Second}, Curve: queue.Curve{Metrics: map[string][]float64{}},
	}
	for i := range 40 {
		r.Curve.At = append(r.Curve.At, time.Duration(i+1)*time.Second)
		r.Curve.Metrics["cpu"] = append(r.Curve.Metrics["cpu"], float64(i)*0.9)
		r.Curve.Metrics["max_rss"] = append(r.Curve.Metrics["max_rss"], 2e7*(1+float64(i%7)/9))
	}
	return []queue.Reported{r}
}

func (fleet) Live(string, int64) (queue.Live, bool) { return queue.Live{}, false }

func (fleet) Needs(string, func(string) bool) error { return nil }

func (fleet) Queue() []queue.Entry {
	since := time.Now().Add(-time.Minute)
	return []queue.Entry{
		{
			ID: assay.RunID{Study: "encoder", Trial: 61, Attempt: 1}, Study: "encoder", App: "encode", State: "placed",
			Worker: "rack-07", MachineClass: "9f3a", Since: since,
		},
		{
			ID: assay.RunID{Study: "encoder", Trial: 62, Attempt: 1}, Study: "encoder", App: "encode", State: "open",
			Since: since,
		},
	}
}

func (fleet) Workers() []queue.WorkerState {
	return []queue.WorkerState{
		{
			Worker: queue.Worker{ID: "w1", Name: "rack-07", Slots: 2, Apps: []string{"encode"}, MachineClass: "9f3a"},
			Heard:  time.Now(),
		},
		{
			Worker: queue.Worker{ID: "w2", Name: "rack-08", Slots: 4, Apps: []string{"encode", "blast"}, MachineClass: "9f3b"},
			Heard:  time.Now(),
		},
	}
}
func (fleet) Order(string, queue.Order) error { return nil }
func (fleet) Unschedulable(string) string     { return "" }

// keys are two tokens.
type keys struct{}

func (keys) Who(context.Context, string, string) (api.Who, error) {
	return api.Who{}, assay.Errorf(assay.ClassUsage, "no token is taken here")
}

func (keys) Tokens(context.Context) ([]api.Token, error) {
	soon := time.Now().Add(72 * time.Hour)
	return []api.Token{
		{Name: "lab", Role: api.Operator, Studies: []string{"enc"}, Expires: &soon}, {Name: "everyone", Role: api.Viewer},
	}, nil
}
func (keys) Add(context.Context, api.Token, string) (string, error) { return "secret", nil }
func (keys) Revoke(context.Context, string, string) error           { return nil }

// hostile is a name that means something to a program that takes it for more than a text.
const hostile = "a \"b\" <img src=x onerror=alert(1)>&'c' {{.}} \u202e${1}"

// everything fills a store with studies: four of an encoder with live trials, of which two are alike
// and end with repeated runs, and one that shows the cost of resources.
func everything(t testing.TB) *setup.Store {
	t.Helper()
	store := memory(t)
	for i, name := range []string{"before", "after"} {
		r := newRecord(t, store, name)
		r.rng = rand.New(rand.NewPCG(uint64(i), 5))
		r.run(200)
		r.again(1 - 0.2*float64(i))
	}
	r := newRecord(t, store, "encoder")
	r.run(60)
	p, asked := r.ask()
	run := assay.RunID{Study: "encoder", Trial: p.ID, Attempt: 1}
	start := &assay.Start{RunID: run, Worker: "rack-07", MachineClass: "9f3a"}
	r.append(asked, assay.Event{At: time.Now(), Started: start})
	newRecord(t, store, hostile).run(40)
	lab(t, store, "resources")
	newRecord(t, store, "empty")
	return store
}

// again has the first and the best trial of a study run again.
func (r *record) again(factor float64) {
	r.t.Helper()
	var first, best assay.Trial
	for row, err := range r.store.Trials(r.t.Context(), r.name, 0, 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		t := row.Trial
		if first.ID == 0 {
			first = t
		}
		if t.State == assay.Done && (best.ID == 0 || t.Value < best.Value) {
			best = t
		}
	}
	for i := range 5 {
		for _, t := range []assay.Trial{first, best} {
			x := t.Value * factor * (1 + 0.004*float64(i))
			t.State, t.Value, t.Decision = assay.Done, x, nil
			t.Measurement.Elapsed = time.Duration(x * 1e9)
			r.append(assay.Event{At: time.Now(), Spent: r.spent, Checked: &t})
		}
	}
}

const labDefinition = `
name: resources
command: [blast, --threads, "{cpu}", --mem, "{mem}", --rtt, "{rtt}", db, query]
parameters: {cpu: {type: int, min: 1, max: 16}, mem: {type: ordinal, values: [1GB, 2GB, 4GB]}, rtt: {type: real,
  min: 0.5, max: 50}}
objective: {minimize: elapsed}
search: {seed: 3}
`

// lab puts a study on record of a program whose time is made of computing, the network and the disk.
func lab(t testing.TB, store *setup.Store, name string) {
	t.Helper()
	def, _, err := spec.Parse("f.yaml", []byte(labDefinition), nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), name, stored); err != nil {
		t.Fatal(err)
	}
	var events []assay.Event
	at, id := time.Now().Add(-time.Hour), int64(0)
	for _, cpu := range []float64{1, 2, 4, 8} {
		for _, rtt := range []float64{1, 10, 20} {
			id++
			mem := float64(id % 3)
			seconds := 4 + 40/cpu + 0.3*rtt + 3/(1+mem)
			took := time.Duration(seconds * 1e9)
			p := assay.Proposal{ID: id, Config: assay.Config{cpu, mem, rtt}}
			m := assay.Measurement{Elapsed: took, Metrics: map[string]float64{"cpu": 2 + 0.9*seconds - 0.2*rtt}}
			events = append(events, assay.Event{At: at, Asked: &p}, assay.Event{At: at.Add(took), Told: &assay.Trial{
				Proposal: p, State: assay.Done, Value: seconds, Measurement: m, Started: at, Ended: at.Add(took),
			}})
			at = at.Add(took)
		}
	}
	if _, err := store.Append(t.Context(), name, 0, events...); err != nil {
		t.Fatal(err)
	}
}

// serveAll serves all pages of a store to an administrator, and returns their address, and a function that
// makes one with a code that is good once.
func serveAll(t testing.TB, store *setup.Store) (at string, enter func() string) {
	t.Helper()
	return serveGiven(t, store, new([]assay.Config))
}

// serveGiven is serveAll, and stores the given configurations in given.
func serveGiven(t testing.TB, store *setup.Store, given *[]assay.Config) (at string, enter func() string) {
	t.Helper()
	host := full{store, given}
	a := api.New(api.Options{
		Studies: host, Trials: host, External: host, Fleet: fleet{}, Runs: fleet{}, Store: store, Keys: keys{},
		Audit: func(int) ([]api.Decision, error) {
			return []api.Decision{{At: time.Now(), By: "ada", Do: "token added"}}, nil
		},
		About: api.About{Version: "test", Store: "memory", Listen: []string{}},
	})
	admin := api.Who{Name: "ada", Role: api.Admin}
	site, err := web.New(web.Options{
		API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a.Handler().ServeHTTP(w, r.WithContext(api.As(r.Context(), admin)))
		}),
		Open: true, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(site)
	t.Cleanup(func() {
		_ = a.Close(context.Background())
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL, func() string { return srv.URL + "/#code=" + site.Code("") }
}
