package setup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
)

// A bench program takes 12 s/cpu and 4000 round trips, in simulated time. Runs of one
// assignment differ by the noise, in turn.
type benchProgram struct {
	space *assay.Space
	clock *table.SimClock
	noise float64
	runs  map[string]int
}

func (b *benchProgram) truth(c assay.Config) assay.Measurement {
	v := b.space.Values(c)
	var cpu, rtt float64
	fmt.Sscan(fmt.Sprint(v["cpu"]), &cpu)
	fmt.Sscan(strings.TrimSuffix(fmt.Sprint(v["rtt"]), "ms"), &rtt)
	stall := 4*rtt + 0.01
	return assay.Measurement{
		Elapsed: time.Duration((12/cpu + stall) * 1e9),
		Metrics: map[string]float64{"cpu": 12, "data_flow": 30e6, "network_time": 4 * rtt, "disk_time": 0.01},
	}
}

// Run implements [assay.Runner].
func (b *benchProgram) Run(_ context.Context, j assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	m := b.truth(j.Config)
	k := j.Config.Key()
	b.runs[k]++
	m.Elapsed += time.Duration(float64(m.Elapsed) * b.noise * math.Sin(float64(7*b.runs[k]+len(b.runs))))
	return m, nil
}

// learnedStudy runs a study as New makes it, and returns its own learner,
// the learner from its record, and the record.
func learnedStudy(t *testing.T, text string, noise float64) (own, learned *costmodel.ActiveLearner,
	trials []assay.Trial, b *benchProgram,
) {
	t.Helper()
	head := "env: {AT: '{cpu}{rtt}{bandwidth}'}\ncommand: ['true']\nobjective: {minimize: elapsed}\nstop: " +
		"none\ncheck: none\nparameters:\n"
	st, _, err := spec.Parse("learn.yaml", []byte(head+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	space, err := st.Space()
	if err != nil {
		t.Fatal(err)
	}
	b = &benchProgram{space: space, clock: &table.SimClock{}, noise: noise, runs: map[string]int{}}
	p, err := New(st, Options{Runner: b, Clock: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	own = p.made.(*costmodel.ActiveLearner)
	sd, err := p.Study(t.Context(), memory(t), "bench")
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	res, err := sd.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	learned, err = Learned(t.Context(), sd.Store, "bench", st, space)
	if err != nil {
		t.Fatal(err)
	}
	return own, learned, res.Trials, b
}

const (
	restOfSpace  = "  rtt: [0ms, 2ms, 10ms, 20ms]\n  bandwidth: [20Mbit, 50Mbit, 100Mbit]\n"
	plainSpace   = "  cpu: [0.25, 0.5, 1, 1.5, 2]\n" + restOfSpace
	defaultSpace = "  cpu: {values: [0.25, 0.5, 1, 1.5, 2], default: 2}\n" + restOfSpace
	nimoSearch   = "search: {name: nimo, cores: cpu"
)

func nimoStudies() map[string]string {
	all := map[string]string{
		"auto":        plainSpace + nimoSearch + "}\nbudget: {trials: 16}\n",
		"target":      plainSpace + nimoSearch + ", target: 5}\n",
		"default":     defaultSpace + nimoSearch + "}\nbudget: {trials: 16}\n",
		"repeat 3":    plainSpace + nimoSearch + "}\nrepeat: 3\nbudget: {trials: 48}\n",
		"repeat auto": plainSpace + nimoSearch + "}\nrepeat: auto\nbudget: {trials: 48}\n",
		"repeat mean": defaultSpace + nimoSearch +
			"}\nrepeat: {runs: 3, estimator: mean}\nbudget: {trials: 48}\n",
		"published repeat":    plainSpace + nimoSearch + ", method: published}\nrepeat: 3\n",
		"published default":   defaultSpace + nimoSearch + ", method: published}\n",
		"random-set default":  defaultSpace + nimoSearch + ", method: published, error: random-set}\n",
		"published pb-set":    plainSpace + nimoSearch + ", method: published, error: pb-set}\n",
		"published in 3 runs": plainSpace + nimoSearch + ", method: published}\nbudget: {trials: 3}\n",
		"published target":    plainSpace + nimoSearch + ", method: published, error: random-set, target: 30}\n",
		"pb-set repeat auto":  plainSpace + nimoSearch + ", method: published, error: pb-set}\nrepeat: auto\n",
	}
	for _, r := range []string{"min", "max", "rand"} {
		all["reference "+r] = plainSpace + nimoSearch + ", method: published, reference: " + r + "}\n"
	}
	for _, d := range []string{"lmax-i1", "l2-i2", "lmax-i2"} {
		all["design "+d] = plainSpace + nimoSearch + ", method: published, design: " + d + "}\nbudget: {trials: 30}\n"
		all["random-set "+d] = plainSpace + nimoSearch + ", method: published, error: random-set, design: " + d +
			"}\nbudget: {trials: 30}\n"
	}
	return all
}

// A pair is a run that a model is fitted to: its assignment and its seconds.
func pairsOf(t *testing.T, space *assay.Space, l *costmodel.ActiveLearner) []string {
	t.Helper()
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for _, r := range m.Runs() {
		pairs = append(pairs, fmt.Sprintf("%s: %.9f s", space.Text(r.Config), r.Seconds))
	}
	slices.Sort(pairs)
	return pairs
}

// A learner from the record of a study has the pairs of the record and of the study's
// own learner, whatever wrappers the learner ran in.
func TestLearnedPairsAreOnRecord(t *testing.T) {
	testbed.Long(t)
	for name, text := range nimoStudies() {
		if !testbed.IsSystem() && (name == "repeat 3" || name == "repeat mean") {
			continue // learned as "repeat auto" and "published repeat" are
		}
		for _, noise := range []float64{0.05, 0}[:testbed.Times(1, 2)] {
			t.Run(fmt.Sprint(name, noise), func(t *testing.T) {
				own, learned, trials, b := learnedStudy(t, text, noise)
				record := map[string]int{}
				for _, r := range trials {
					record[fmt.Sprintf("%s: %.9f s", b.space.Text(r.Config), r.Measurement.Elapsed.Seconds())]++
				}
				got := pairsOf(t, b.space, learned)
				for _, p := range got {
					if record[p]--; record[p] < 0 {
						t.Errorf("the model has %s more often than the record", p)
					}
				}
				if want := pairsOf(t, b.space, own); !slices.Equal(got, want) {
					t.Errorf("learned from %d pairs\n%s", len(got), strings.Join(got, "\n"))
					t.Errorf("the study's own learner knows %d\n%s", len(want), strings.Join(want, "\n"))
				}
				if !strings.Contains(text, "published") && len(got) != len(trials) {
					t.Errorf("%d of %d runs serve", len(got), len(trials))
				}
				sameModel(t, b.space, own, learned)
			})
		}
	}
}

// sameModel compares the predictions of two learners.
func sameModel(t *testing.T, space *assay.Space, a, b *costmodel.ActiveLearner) {
	t.Helper()
	x, err := a.Model()
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	for c := range space.All() {
		if p, q := x.Predict(c).Seconds, y.Predict(c).Seconds; !(math.Abs(p-q) <= 1e-6*p) {
			t.Fatalf("at %s the study's own learner predicts %v s, what is learned from the record %v s",
				space.Text(c), p, q)
		}
	}
	if p, q := x.Error(), y.Error(); !(math.Abs(p-q) <= 1e-6*(1+p)) && !(math.IsNaN(p) && math.IsNaN(q)) {
		t.Errorf("the study's own learner has an error of %v %%, what is learned from the record %v %%", p, q)
	}
	if p, q := a.Converged(), b.Converged(); p != q {
		t.Errorf("the study's own learner has converged: %v; what is learned from the record: %v", p, q)
	}
}

// Without noise, a model learned from the record has the true error that the library
// has on the same table without any wrapper.
func TestLearnedErrorIsTheLibrarys(t *testing.T) {
	for name, text := range nimoStudies() {
		if strings.Contains(name, "default") || strings.Contains(name, "repeat") {
			continue // the library's learner alone has no defaults and runs nothing twice
		}
		t.Run(name, func(t *testing.T) {
			_, learned, trials, b := learnedStudy(t, text, 0)
			st, _, err := spec.Parse("learn.yaml",
				[]byte("env: {AT: '{cpu}{rtt}{bandwidth}'}\ncommand: ['true']\nobjective: {minimize: elapsed}\nparameters:\n"+text),
				nil)
			if err != nil {
				t.Fatal(err)
			}
			opts, err := (&fields{def: st, at: "search", values: st.Search.Options}).costmodel()(b.space,
				st.Search.Seed)
			if err != nil {
				t.Fatal(err)
			}
			alone := costmodel.NewActiveLearner(b.space, opts)
			ran := map[string]bool{} // an assignment that is asked for again costs a study no trial
			for len(ran) <= len(trials) {
				ps, err := alone.Ask(1)
				if errors.Is(err, assay.ErrDone) {
					break
				}
				if err != nil || len(ps) == 0 {
					t.Fatal(ps, err)
				}
				if ran[ps[0].Config.Key()] = true; len(ran) > len(trials) {
					break
				}
				if err := alone.Tell(assay.Trial{
					Proposal: ps[0], State: assay.Done,
					Measurement: b.truth(ps[0].Config),
				}); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := trueError(t, b, learned), trueError(t, b, alone); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("true error %.2f %%, by the library %.2f %%", got, want)
			}
		})
	}
}

func trueError(t *testing.T, b *benchProgram, l *costmodel.ActiveLearner) float64 {
	t.Helper()
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	var sum, n float64
	for c := range b.space.All() {
		sum += math.Abs(m.Predict(c).Seconds/b.truth(c).Elapsed.Seconds() - 1)
		n++
	}
	return 100 * sum / n
}

// With method: published the first run is the reference assignment, the least or the greatest capacity of all
// (section 3.1), and the second the first row of the screening design, which has all but one attribute at the greatest
// one. The searcher's own method begins with neither.
func TestMethodPublished(t *testing.T) {
	for reference, want := range map[string]string{
		"min": "cpu=0.25 rtt=20ms bandwidth=20Mbit", "max": "cpu=2 rtt=0ms bandwidth=100Mbit",
	} {
		text := plainSpace + nimoSearch + ", method: published, reference: " + reference + "}\nbudget: {trials: 3}\n"
		_, _, trials, b := learnedStudy(t, text, 0)
		if len(trials) != 3 || b.space.Text(trials[0].Config) != want {
			t.Fatalf("reference %s: %d trials, the first of %s, want %s",
				reference, len(trials), b.space.Text(trials[0].Config), want)
		}
		if got := b.space.Text(trials[1].Config); got != "cpu=2 rtt=0ms bandwidth=20Mbit" {
			t.Errorf("reference %s: the second run is of %s", reference, got)
		}
	}
}
