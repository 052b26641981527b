package abtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
)

// A fake runs commands in no time: each takes the seconds of its name in takes, with some
// noise.
type fake struct {
	takes map[string]float64
	noise func(*rand.Rand) float64 // a factor
	rng   *rand.Rand
	ran   string // the names, in order
	fail  string // the command that fails
	hook  *assay.Failure
	end   func() // called before each run
	cpu   func(*rand.Rand) float64
}

func (f *fake) Run(ctx context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	if f.end != nil {
		f.end()
	}
	if err := ctx.Err(); err != nil {
		return assay.Measurement{}, err
	}
	name := j.Argv[0]
	f.ran += name
	m := assay.Measurement{Elapsed: time.Duration(1e9 * f.takes[name] * f.noise(f.rng))}
	if f.cpu != nil {
		m.Metrics = map[string]float64{"cpu": f.takes[name] * f.cpu(f.rng)}
	}
	m.Failure = f.hook
	if name == f.fail {
		m.ExitCode, m.Stderr = 3, []byte("one\nno disk\n")
	}
	if j.Limit > 0 && m.Elapsed > j.Limit {
		return m, assay.ErrLimit
	}
	return m, nil
}

func gauss(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return max(0.05, 1+sd*r.NormFloat64()) }
}

func fresh(a, b, noise float64) (*Duel, *fake) {
	f := &fake{
		takes: map[string]float64{"a": a, "b": b}, noise: gauss(noise), rng: rand.New(rand.NewPCG(1, 2)),
	}
	return &Duel{
		Commands: []Command{{"A", job("a")}, {"B", job("b")}}, Metric: "elapsed", Unit: "s", Pairs: 40, Runner: f,
	}, f
}

func job(name string) assay.Job { return assay.Job{Argv: []string{name}} }

// run runs a duel of two commands.
func run(t *testing.T, d *Duel) Result {
	t.Helper()
	all, err := d.Run(t.Context())
	if err != nil || len(all) != len(d.Commands)-1 {
		t.Fatalf("%d results, %v", len(all), err)
	}
	return all[0]
}

func gate(t *testing.T, text string) *Gate {
	t.Helper()
	g, err := ParseGate(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A difference that is plain is shown at the first look.
func TestTellsEarly(t *testing.T) {
	d, f := fresh(1, 0.5, 0.02)
	d.Warmup = 1
	told := 0
	d.Notify = func(pairs, _ int) { told = pairs }
	r := run(t, d)
	if r.Verdict != "less" || !r.Early || r.Pairs != stats.FirstLook || r.Looks != 1 || told != stats.FirstLook {
		t.Errorf("%+v, %d told", r, told)
	}
	if *r.Change > -0.45 || *r.Change < -0.55 || *r.CI[0] > *r.Change || *r.CI[1] < *r.Change || r.Level != 0.975 {
		t.Errorf("change %v in [%v, %v] of level %v", *r.Change, *r.CI[0], *r.CI[1], r.Level)
	}
	if len(f.ran) != 2+2*stats.FirstLook {
		t.Errorf("runs %s", f.ran)
	}
	if r.A.Command[0] != "a" || r.B.Median > 0.6 || r.B.Median < 0.4 || *r.A.CV > 0.1 {
		t.Errorf("sides %+v and %+v", r.A, r.B)
	}
}

// Each round has every command once; which comes first is drawn, from the seed alone.
func TestOrderIsDrawn(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		d, f := fresh(1, 1, 0.05)
		d.Seed = seed
		r := run(t, d)
		first := 0
		for i := 0; i < len(f.ran); i += 2 {
			if f.ran[i] == f.ran[i+1] {
				t.Fatalf("a round without one of the commands: %s", f.ran)
			}
			if f.ran[i] == 'a' {
				first++
			}
		}
		if r.Pairs == 40 && (first < 8 || first > 32) { // 1 in 20,000
			t.Errorf("seed %d: A is first in %d of 40 rounds", seed, first)
		}
		orders[f.ran[:16]] = true
		again, g := fresh(1, 1, 0.05)
		again.Seed = seed
		if run(t, again); g.ran != f.ran {
			t.Errorf("seed %d: another order", seed)
		}
	}
	if len(orders) < 15 {
		t.Errorf("%d orders of 20 seeds", len(orders))
	}
}

// All pairs are run if there is no difference, with a look after 8, 12, 18, 27 and
// 40 of them.
func TestTellsNothing(t *testing.T) {
	d, _ := fresh(1, 1, 0.05)
	r := run(t, d)
	if r.Verdict != "~" || r.Early || r.Pairs != 40 || r.Looks != 5 || r.Outcome != "" {
		t.Errorf("%+v", r)
	}
}

// Several commands are compared with the first, and one of which enough is known runs no more.
func TestSeveral(t *testing.T) {
	d, f := fresh(1, 1, 0.05)
	f.takes["c"] = 2
	d.Commands = append(d.Commands, Command{"C", job("c")})
	all, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Verdict != "~" || all[0].Pairs != 40 || all[1].Verdict != "more" || all[1].Pairs > 12 {
		t.Errorf("%+v", all)
	}
	if n := strings.Count(f.ran, "c"); n != all[1].Pairs {
		t.Errorf("C ran %d times for %d pairs", n, all[1].Pairs)
	}
	// The error is shared: the first look of two comparisons has half of it each.
	if want := 1 - 0.025/2; all[1].Pairs == 8 && all[1].Level != want {
		t.Errorf("level %v, want %v", all[1].Level, want)
	}
}

// Whatever ends it, the pairs that were run count, and there is at least one.
func TestEnds(t *testing.T) {
	drain := make(chan struct{})
	close(drain)
	d, _ := fresh(1, 2, 0.01)
	d.Drain = drain
	if r := run(t, d); r.Pairs != 1 || r.Verdict != "~" {
		t.Errorf("drained: %+v", r)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Budget = time.Nanosecond
	if r := run(t, d); r.Pairs != 1 {
		t.Errorf("without time: %+v", r)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Pairs = 3
	if r := run(t, d); r.Pairs != 3 || r.Early {
		t.Errorf("three pairs: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d, f := fresh(1, 2, 0.01)
	f.end = cancel
	if _, err := d.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFailures(t *testing.T) {
	d, f := fresh(1, 2, 0.01)
	f.fail = "b"
	_, err := d.Run(t.Context())
	if err == nil || err.Error() != "command B failed with exit code 3: no disk" ||
		assay.HintOf(err) != "see --ignore-failure" {
		t.Errorf("a command that fails: %v (%s)", err, assay.HintOf(err))
	}
	d, f = fresh(1, 2, 0.01)
	f.fail, d.Ignore = "b", true
	if r := run(t, d); r.Verdict != "more" {
		t.Errorf("a failure that is ignored: %+v", r)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Commands[1].Job.Limit = 1500 * time.Millisecond
	if _, err := d.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "command B took more than 1.5") {
		t.Errorf("a run that is too long: %v", err)
	}
	d, f = fresh(1, 2, 0.01)
	f.hook = assay.NewFailure("prepare", "prepare failed", nil, []byte("no disk\n"))
	if _, err := d.Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": prepare failed\n  no disk") {
		t.Errorf("a hook that fails: %v", err)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Metric = "energy"
	if _, err := d.Run(t.Context()); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a metric that is not there: %v", err)
	}
}
