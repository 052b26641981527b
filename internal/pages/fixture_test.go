package pages

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

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

// fixture is a store with studies that were never run: trials in every state, and runs at the
// end.
type fixture struct {
	*store.Mem
	t testing.TB
}

func newFixture(t testing.TB) fixture { return fixture{store.NewMem(), t} }

// add puts a study of n trials on record. speed is the factor of its run times.
func (f fixture) add(name, text string, n int, speed float64) {
	f.t.Helper()
	def, _, err := spec.Parse("f.yaml", []byte(text), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.Create(f.t.Context(), name, stored); err != nil {
		f.t.Fatal(err)
	}
	space, err := def.Space()
	if err != nil {
		f.t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	cost := func(c assay.Config) float64 {
		v := 20 + 3*math.Abs(c[0]-6) + 160/(1+c[1]) + 4*math.Abs(c[3]-2)
		if c[4] == 1 {
			v *= 0.7
		}
		return speed * v * math.Exp(0.06*rng.NormFloat64())
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var spent time.Duration
	best, bestConfig, bestID := math.Inf(1), assay.Config(nil), int64(0)
	first := assay.Config{15, 1, 1, 0, 0, 0}
	var events []assay.Event
	end := func(id int64, c assay.Config, state assay.State, value, elapsed float64) *assay.Trial {
		t := &assay.Trial{Proposal: assay.Proposal{ID: id, Config: c}, State: state, Value: value, Started: at.Add(spent)}
		spent += time.Duration(elapsed * float64(time.Second))
		t.Ended = at.Add(spent)
		t.Measurement = assay.Measurement{
			Elapsed: time.Duration(elapsed * float64(time.Second)),
			Metrics: map[string]float64{"max_rss": 2e7 + 1e6*c[3], "cpu": elapsed * 0.9, "size": 8e6 + 8e4*(19-c[0])},
		}
		spent += 300 * time.Millisecond
		return t
	}
	for i := range n {
		c := first
		if i > 0 {
			c, _ = space.Draw(rng)
		}
		v, id := cost(c), int64(i+1)
		var t *assay.Trial
		switch {
		case i%17 == 11:
			t = end(id, c, assay.Failed, math.Inf(1), 0.4)
			t.Reason = "exit status 1: out of memory"
		case v > best*1.2 && i%3 > 0:
			t = end(id, c, assay.Censored, best*1.2, best*1.2)
			t.Measurement.Elapsed = time.Duration(best * 1.2 * float64(time.Second))
			t.Reason = "slower than the best by a fifth"
			t.Decision = &assay.Decision{Stop: true, Reason: t.Reason, Predicted: v, At: t.Measurement.Elapsed}
		case c[0] < 3:
			t = end(id, c, assay.Infeasible, v, v)
			t.Measurement.Metrics["size"] = 9.6e6
			t.Reason = "size <= 9.4e6"
		default:
			t = end(id, c, assay.Done, v, v)
			if v < best {
				best, bestConfig, bestID = v, c, id
			}
		}
		events = append(events, assay.Event{At: t.Started, Asked: &t.Proposal},
			assay.Event{At: t.Ended, Spent: spent, Told: t})
	}
	for _, restored := range []bool{false, true} { // the judgement of an earlier study on the last value of buffer
		cut := assay.Pruned{
			Param: "buffer", Values: []string{"256M"}, Study: "earlier", Correlation: 0.9, Threshold: 50,
			Restored: restored,
		}
		if !restored {
			cut.Values = []string{"1M", "256M"}
		}
		events = append(events, assay.Event{At: at, Spent: spent, Pruned: &cut})
	}
	for range 7 {
		for id, c := range map[int64]assay.Config{1: first, bestID: bestConfig} {
			v := cost(c)
			events = append(events, assay.Event{At: at, Spent: spent, Checked: end(id, c, assay.Done, v, v)})
		}
	}
	events = append(events, assay.Event{At: at, Spent: spent, Ended: &assay.End{By: "budget"}})
	if _, err := f.Append(f.t.Context(), name, 0, events...); err != nil {
		f.t.Fatal(err)
	}
}

// page returns the report of studies.
func (f fixture) page(o Options, names ...string) []byte {
	f.t.Helper()
	var studies []*Study
	for _, name := range names {
		s, err := Read(f.t.Context(), f, name, o)
		if err != nil {
			f.t.Fatal(err)
		}
		studies = append(studies, s)
	}
	var b bytes.Buffer
	if err := Write(&b, studies, o); err != nil {
		f.t.Fatal(err)
	}
	return b.Bytes()
}

// addHostile puts a study on record with a few trials, all of whose texts are hostile.
func (f fixture) addHostile(name string, def *spec.Study) {
	f.t.Helper()
	stored, err := json.Marshal(def)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.Create(f.t.Context(), name, stored); err != nil {
		f.t.Fatal(err)
	}
	var events []assay.Event
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := range 12 {
		t := &assay.Trial{
			Proposal: assay.Proposal{ID: int64(i + 1), Config: assay.Config{float64(i % 2), float64(i%9 + 1)}},
			State:    assay.Done, Value: float64(5 + i), Reason: hostile, Started: at, Ended: at,
		}
		t.Measurement = assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{"m": t.Value, hostile: 1}}
		events = append(events, assay.Event{At: at, Asked: &t.Proposal}, assay.Event{At: at, Spent: time.Second, Told: t})
	}
	if _, err := f.Append(f.t.Context(), name, 0, events...); err != nil {
		f.t.Fatal(err)
	}
}
