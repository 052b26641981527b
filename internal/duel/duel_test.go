package duel

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A fake runs commands in no time: each takes what its name says in takes, with some
// noise.
type fake struct {
	takes map[string]float64
	noise float64
	rng   *rand.Rand
	ran   string // the names, in order
	fail  string // the command that fails
	end   func() // called before each run
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
	m := assay.Measurement{Elapsed: time.Duration(1e9 * f.takes[name] * (1 + f.noise*f.rng.NormFloat64()))}
	if name == f.fail {
		m.ExitCode, m.Stderr = 3, []byte("one\nno disk\n")
	}
	if j.Limit > 0 && m.Elapsed > j.Limit {
		return m, assay.ErrLimit
	}
	return m, nil
}

func fresh(a, b, noise float64) (*Duel, *fake) {
	f := &fake{takes: map[string]float64{"a": a, "b": b}, noise: noise, rng: rand.New(rand.NewPCG(1, 2))}
	return &Duel{Argv: [2][]string{{"a"}, {"b"}}, Metric: "elapsed", Pairs: 40, Runner: f}, f
}

// A difference that is plain is told at the first look, in the order A B, B A.
func TestTellsEarly(t *testing.T) {
	d, f := fresh(1, 0.5, 0.02)
	d.Warmup = 1
	told := 0
	d.Notify = func(pairs int) { told = pairs }
	r, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "less" || !r.Early || r.Pairs != firstLook || r.Looks != 1 || told != firstLook {
		t.Errorf("%+v, %d told", r, told)
	}
	if *r.Change > -0.45 || *r.Change < -0.55 || *r.CI[0] > *r.Change || *r.CI[1] < *r.Change || r.Level != 0.975 {
		t.Errorf("change %v in [%v, %v] of level %v", *r.Change, *r.CI[0], *r.CI[1], r.Level)
	}
	if f.ran != "ab"+strings.Repeat("abba", firstLook/2) {
		t.Errorf("runs %s", f.ran)
	}
	if r.A.Command[0] != "a" || r.B.Median > 0.6 || r.B.Median < 0.4 || *r.A.CV > 0.1 {
		t.Errorf("sides %+v and %+v", r.A, r.B)
	}
}

// Where there is no difference, all pairs are run, with a look after 8, 12, 18, 27 and
// 40 of them.
func TestTellsNothing(t *testing.T) {
	d, _ := fresh(1, 1, 0.05)
	r, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "~" || r.Early || r.Pairs != 40 || r.Looks != 5 {
		t.Errorf("%+v", r)
	}
}

// All looks together show a difference that is not there in at most 5 % of cases: in
// 400 duels of equals, 20 on the average and 36 with a probability below 1e-3.
func TestErrorOfAllLooks(t *testing.T) {
	wrong := 0
	for i := range 400 {
		d, f := fresh(1, 1, 0.05)
		f.rng = rand.New(rand.NewPCG(uint64(i), 9))
		r, err := d.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != "~" {
			wrong++
		}
	}
	if wrong > 36 {
		t.Errorf("%d of 400 duels of equals show a difference", wrong)
	}
}

// Whatever ends it, the pairs that were run count, and there is at least one.
func TestEnds(t *testing.T) {
	drain := make(chan struct{})
	close(drain)
	d, _ := fresh(1, 2, 0.01)
	d.Drain = drain
	if r, err := d.Run(t.Context()); err != nil || r.Pairs != 1 || r.Verdict != "~" {
		t.Errorf("drained: %+v, %v", r, err)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Budget = time.Nanosecond
	if r, err := d.Run(t.Context()); err != nil || r.Pairs != 1 {
		t.Errorf("without time: %+v, %v", r, err)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Pairs = 3
	if r, err := d.Run(t.Context()); err != nil || r.Pairs != 3 || r.Early {
		t.Errorf("three pairs: %+v, %v", r, err)
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
	if r, err := d.Run(t.Context()); err != nil || r.Verdict != "more" {
		t.Errorf("a failure that is ignored: %+v, %v", r, err)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Limit = 1500 * time.Millisecond
	if _, err := d.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "command B took more than 1.5") {
		t.Errorf("a run that is too long: %v", err)
	}
	d, _ = fresh(1, 2, 0.01)
	d.Metric = "energy"
	if _, err := d.Run(t.Context()); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a metric that is not there: %v", err)
	}
}
