package web_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

func TestMain(m *testing.M) { testbed.Wide(3); browser.Main(m) }

const definition = `
name: encoder
command: [encode, --level, "{level}", --threads, "{threads}", --buffer, "{buffer}", --codec, "{codec}", --ratio,
  "{ratio}", "{cache?--cache}", in, out]
parameters:
  level: {type: int, min: 1, max: 19, default: 15}
  threads: {type: int, min: 1, max: 64, log: true, default: 1}
  ratio: {type: real, min: 0.001, max: 10, log: true}
  buffer: {type: ordinal, values: [1M, 4M, 16M, 64M, 256M], default: 1M}
  codec: {type: categorical, values: [gzip, zstd, "a rather long name of a codec"]}
  cache: {type: bool}
metrics: {size: {stdout: "size ([0-9]+)", unit: B}}
subject_to: [size <= 9.4e6]
objective: {minimize: elapsed}
search: {seed: 7}
budget: {time: 2h}
`

// A record is a study that was never run, and can be made to go on.
type record struct {
	t     testing.TB
	store *setup.Store
	name  string
	space *assay.Space
	rng   *rand.Rand
	at    time.Time
	spent time.Duration
	best  float64
	n     int64
	first assay.Config // nil is any
	pos   assay.Position
}

// memory returns a store that is forgotten.
func memory(t testing.TB) *setup.Store {
	t.Helper()
	s, err := setup.OpenStore(t.Context(), "memory")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newRecord puts a study on record that has no trials yet.
func newRecord(t testing.TB, store *setup.Store, name string) *record {
	t.Helper()
	r := newRecordOf(t, store, name, definition)
	r.first = assay.Config{15, 1, 1, 0, 0, 0}
	return r
}

// newRecordOf puts a study of a definition on record that has no trials yet.
func newRecordOf(t testing.TB, store *setup.Store, name, definition string) *record {
	t.Helper()
	def, _, err := spec.Parse("f.yaml", []byte(definition), nil)
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
	r := &record{t: t, store: store, name: name, rng: rand.New(rand.NewPCG(1, 2)), best: math.Inf(1)}
	r.at = time.Now().UTC().Add(-3 * time.Hour)
	if r.space, err = def.Space(); err != nil {
		t.Fatal(err)
	}
	return r
}

// append puts events on record.
func (r *record) append(events ...assay.Event) {
	r.t.Helper()
	var err error
	if r.pos, err = r.store.Append(r.t.Context(), r.name, r.pos, events...); err != nil {
		r.t.Fatal(err)
	}
}

// ask returns the next trial and the event that begins it.
func (r *record) ask() (assay.Proposal, assay.Event) {
	r.n++
	c := r.first
	if r.n > 1 || c == nil {
		c, _ = r.space.Draw(r.rng)
	}
	p := assay.Proposal{ID: r.n, Config: c}
	return p, assay.Event{At: r.at.Add(r.spent), Spent: r.spent, Asked: &p}
}

// tell returns the event that ends a trial, in one of the states.
func (r *record) tell(p assay.Proposal) assay.Event {
	c := p.Config
	v := 20 + 3*math.Abs(c[0]-6) + 160/(1+c[1]) + 4*math.Abs(c[3]-2)
	v *= math.Exp(0.06 * r.rng.NormFloat64())
	t := &assay.Trial{Proposal: p, State: assay.Done, Value: v, Started: r.at.Add(r.spent)}
	elapsed := v
	switch {
	case p.ID%17 == 11:
		t.State, t.Value, elapsed, t.Reason = assay.Failed, math.Inf(1), 0.4, "exit status 1: out of memory"
	case v > r.best*1.2 && p.ID%3 > 0:
		elapsed = r.best * 1.2
		t.State, t.Value, t.Reason = assay.Censored, elapsed, "slower than the best by a fifth"
		t.Decision = &assay.Decision{Stop: true, Reason: t.Reason, Predicted: v, At: time.Duration(elapsed * 1e9)}
	case c[0] < 3:
		t.State, t.Reason = assay.Infeasible, "size <= 9.4e6"
	default:
		r.best = min(r.best, v)
	}
	r.spent += time.Duration(elapsed * 1e9)
	t.Ended = r.at.Add(r.spent)
	t.Measurement = assay.Measurement{
		Elapsed: time.Duration(elapsed * 1e9),
		Metrics: map[string]float64{"max_rss": 2e7 + 1e6*c[3], "cpu": elapsed * 0.9, "size": 8e6},
	}
	return assay.Event{At: t.Ended, Spent: r.spent, Told: t}
}

// run puts n more trials on record.
func (r *record) run(n int) {
	r.t.Helper()
	var events []assay.Event
	for range n {
		p, asked := r.ask()
		if events = append(events, asked, r.tell(p)); len(events) >= 5000 {
			r.append(events...)
			events = nil
		}
	}
	if len(events) > 0 {
		r.append(events...)
	}
}

// ui serves the pages that only look at a store, and returns their address, with a code that is
// good once.
func ui(t testing.TB, store *setup.Store) string {
	t.Helper()
	return serveUI(t, server.UI{Store: func(context.Context) (*setup.Store, error) { return store, nil }})
}

// serveUI serves pages until the test ends.
func serveUI(t testing.TB, o server.UI) string {
	t.Helper()
	o.Version = "test"
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- server.ServeUI(ctx, o, func(p server.Shown) { ready <- p.URL }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case url := <-ready:
		return url
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return ""
}

// base returns the address without the code.
func base(url string) string {
	at, _, _ := strings.Cut(url, "/#")
	return at
}
