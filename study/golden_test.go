package study_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

var update = flag.Bool("update", false, "write testdata/golden")

// A golden is a study whose record is kept in testdata/golden: each event with its bytes, the result, and the
// record of a session that resumes it after each event.
type golden struct {
	name string
	make func(t *testing.T, st assay.Store) *study.Study
	// during, if set, sends commands while the study runs. Such a record is not resumed after each event.
	during func(t *testing.T, s *study.Study)
}

// uneven gives each run a time of its own, so that no two things happen at the same instant.
type uneven struct {
	quiet bool // runs of one configuration take the same time
	code  func(x float64) int
}

func (u *uneven) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	x, id := job.Config[0], job.ID
	seconds := x/2 + 1e-3*x*x + 7e-7
	if !u.quiet {
		noise := float64((int(id.Trial)*7+id.Repeat*5+int(x))%9) / 3
		seconds += noise + 1e-3*float64(id.Trial*id.Trial) + 1e-5*float64(id.Repeat*id.Repeat)
	}
	start := time.Now()
	now := func() assay.Measurement {
		return assay.Measurement{Elapsed: time.Since(start), Metrics: map[string]float64{"score": x}}
	}
	own := time.Duration(7*id.Trial*id.Trial+int64(id.Repeat)) * time.Microsecond
	end, tick := time.After(time.Duration(seconds*1e9)), time.NewTicker(job.Interval+own)
	defer tick.Stop()
	var limit <-chan time.Time
	if job.Limit > 0 {
		limit = time.After(job.Limit)
	}
	for {
		select {
		case <-ctx.Done():
			return now(), context.Cause(ctx)
		case <-limit:
			return now(), assay.ErrLimit
		case <-end:
			m := now()
			if u.code != nil {
				m.ExitCode = u.code(x)
			}
			return m, nil
		case <-tick.C:
			if see != nil {
				see(now())
			}
		}
	}
}

// noisy is a race of many runs.
func noisy(t *testing.T, st assay.Store, trials, parallel int) *study.Study {
	s := newStudy(t, st, trials)
	s.Runner, s.Race, s.Check, s.Parallel = &uneven{}, true, 3, parallel
	s.Stopper = stop.Incumbent{Margin: 0.1}
	return s
}

var goldens = []golden{
	{name: "plain", make: func(t *testing.T, st assay.Store) *study.Study { return newStudy(t, st, 12) }},
	{name: "race", make: func(t *testing.T, st assay.Store) *study.Study { return noisy(t, st, 14, 1) }},
	{name: "parallel", make: func(t *testing.T, st assay.Store) *study.Study { return noisy(t, st, 20, 4) }},
	{name: "time", make: func(t *testing.T, st assay.Store) *study.Study {
		s := noisy(t, st, 0, 1)
		s.Budget.Time = 300 * time.Second
		return s
	}},
	{name: "quiet", make: func(t *testing.T, st assay.Store) *study.Study {
		s := noisy(t, st, 0, 1)
		s.Runner, s.Check, s.Budget.Time = &uneven{quiet: true}, 5, 400*time.Second
		return s
	}},
	{name: "limits", make: func(t *testing.T, st assay.Store) *study.Study {
		s := noisy(t, st, 14, 2)
		s.Runner = &uneven{code: func(x float64) int { return int(x) % 5 / 4 }}
		s.Goal.Limits = []assay.Limit{{Text: "score >= 8", Holds: func(metric func(string) (float64, bool)) (bool, error) {
			score, _ := metric("score")
			return score >= 8, nil
		}}}
		return s
	}},
	{name: "refuted", make: func(t *testing.T, st assay.Store) *study.Study {
		s := newStudy(t, st, 12)
		s.Race, s.Check = true, 2
		s.Command = func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil }
		s.Runner = &repeated{}
		return s
	}},
	{name: "levels", make: func(t *testing.T, st assay.Store) *study.Study {
		s := noisy(t, st, 24, 2)
		space, err := assay.NewSpace([]assay.Param{
			{Name: "x", Kind: assay.Integer, Lo: 1, Hi: 40}, {Name: "size", Kind: assay.Integer, Lo: 1, Hi: 100},
		})
		if err != nil {
			t.Fatal(err)
		}
		level := assay.Level{Param: 1, Full: 100, Name: "size", Text: "100"}
		full, err := space.Fixed(1, 100)
		if err != nil {
			t.Fatal(err)
		}
		s.Space, s.Goal.Level = space, &level
		s.Searcher = search.Fidelity(search.NewRandom(full, 1), search.FidelityOptions{Space: space, Level: level})
		return s
	}},
	{name: "front", make: func(t *testing.T, st assay.Store) *study.Study {
		s, r := frontStudy(t, st, 18)
		s.Race, s.Check = true, 3
		r.energy = func(x float64, run int) (float64, bool) { return math.Abs(x-20) + float64(run), x != 13 || run < 2 }
		return s
	}},
	{name: "workers", make: func(t *testing.T, st assay.Store) *study.Study {
		f := mixed()
		s := onFloor(t, st, f, 25)
		s.Anywhere, s.MachineClass = true, "big"
		return s
	}},
	{name: "drift", make: func(t *testing.T, st assay.Store) *study.Study {
		d := drifts()
		s := onFloor(t, st, d.floor, 90)
		s.Runner, s.Check = d, 0
		return s
	}},
	{name: "gain", make: func(t *testing.T, st assay.Store) *study.Study {
		s := noisy(t, st, 30, 3)
		s.StudyStopper = &enders{after: 9, least: 0.01}
		return s
	}},
	{name: "target", make: func(t *testing.T, st assay.Store) *study.Study {
		s := noisy(t, st, 30, 2)
		target := 4.0
		s.Budget.Target = &target
		return s
	}},
	{name: "lost", make: func(t *testing.T, st assay.Store) *study.Study {
		s := newStudy(t, st, 8)
		s.Runner = &fake{lose: 4}
		return s
	}},
	{name: "hopeless", make: func(t *testing.T, st assay.Store) *study.Study {
		s := newStudy(t, st, 12)
		s.Runner, s.Hopeless = &fake{fail: true}, 5
		return s
	}},
	{name: "commands", during: commands, make: func(t *testing.T, st assay.Store) *study.Study {
		s := farmStudy(t, st, newFarm(2), 10)
		s.Command = func(c assay.Config) (assay.Job, error) {
			return assay.Job{Config: assay.Config{c[0] + 1e-3*c[0]*c[0]}}, nil
		}
		s.Race, s.Check = true, 1
		return s
	}},
}

// repeated is a program of which two configurations fail when they are run again.
type repeated struct{ fake }

func (r *repeated) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	m, err := r.fake.Run(ctx, job, see)
	if job.ID.Repeat > 0 && job.Config[0] < 8 {
		m.ExitCode = 3
	}
	return m, err
}

// commands acts as a person who changes the study all the time.
func commands(t *testing.T, s *study.Study) {
	ctx, h := t.Context(), s.Control
	for _, do := range []func() error{
		func() error { return h.Enqueue(ctx, "ada", assay.Config{3}, assay.Config{39}) },
		func() error { return h.Withdraw(ctx, "ada", "known bad", 2) },
		func() error { return h.Withdraw(ctx, "ada", "known bad", 1) },
		func() error { return h.Pause(ctx, "ada", "lunch") },
		func() error { return h.Enqueue(ctx, "ada", assay.Config{38}) },
		func() error { return h.Restore(ctx, "ada", 1) },
		func() error { return h.Resume(ctx, "ada", "back") },
		func() error { return h.Order(ctx, 5, "ada", 4) },
		func() error { return h.SetBudget(ctx, 14, 0, "ada", "more") },
		func() error { return h.Restore(ctx, "ada", 4) },
		func() error { return h.Withdraw(ctx, "ada", "", 99) },
	} {
		time.Sleep(5*time.Second + 71*time.Millisecond)
		if err := do(); err != nil {
			t.Log(err) // the record has the effect, and so has the file
		}
		synctest.Wait()
	}
}

// The record of a study has the same bytes, event by event, and a session that was killed after any event is
// resumed to the same record. The files change only together with a deliberate change of the loop.
func TestGoldenRecords(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("+0545", 20700) // a record is in UTC wherever it is written
	defer func() { time.Local = local }()
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			var got bytes.Buffer
			inBubble(t, func(t *testing.T) { g.write(t, &got) })
			file := filepath.Join("testdata", "golden", g.name+".jsonl")
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			differ(t, got.Bytes(), want)
		})
	}
}

// differ reports the first line that is another.
func differ(t *testing.T, got, want []byte) {
	t.Helper()
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			t.Fatalf("line %d is missing: %s", i+1, w[i])
		case i >= len(w):
			t.Fatalf("line %d is new: %s", i+1, g[i])
		case !bytes.Equal(g[i], w[i]):
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
}

// write runs the study, and resumes it after each event.
func (g golden) write(t *testing.T, to *bytes.Buffer) {
	whole := store.NewMem()
	s := g.make(t, whole)
	session := begin(t, s)
	if g.during != nil {
		g.during(t, s)
	}
	result := session.wait(t)
	events := recordBytes(t, whole)
	for _, e := range events {
		fmt.Fprintf(to, "%s\n", e)
	}
	fmt.Fprintf(to, "%s\n", answerBytes(t, result))
	seen, err := study.Recall(t.Context(), g.make(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(to, "recalled %x\n", sha256.Sum256(answerBytes(t, seen)))
	if g.during != nil {
		return
	}
	for k := range events {
		st := prefix(t, whole, k)
		r := mustRun(t, g.make(t, st))
		again := recordBytes(t, st)
		sum := sha256.Sum256(append(bytes.Join(again, []byte("\n")), answerBytes(t, r)...))
		fmt.Fprintf(to, "resumed after %d: %d events, ended by %s, %x\n", k, len(again), r.EndedBy, sum[:8])
	}
}

// recordBytes are the events of the study.
func recordBytes(t *testing.T, st assay.Store) (lines [][]byte) {
	t.Helper()
	for e, err := range st.Events(t.Context(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// answerBytes are a result without the figures that depend on the machine.
func answerBytes(t *testing.T, r study.Result) []byte {
	t.Helper()
	r.Overhead, r.Trials = 0, nil
	type front struct {
		Runs  int
		Worst []float64
	}
	var fronts []front
	for _, f := range r.Front {
		fronts = append(fronts, front{f.Runs, f.Worst})
	}
	line, err := json.Marshal(struct {
		study.Result
		Worst []front
	}{r, fronts})
	if err != nil {
		t.Fatal(err)
	}
	return line
}
