package prior

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// priorSummaries is a store of studies of which only the summaries are read: the
// rest is in the knowledge base.
type priorSummaries struct {
	assay.Store
	list []assay.Summary
}

func (p priorSummaries) Summaries(context.Context, string, int) iter.Seq2[assay.Summary, error] {
	return func(yield func(assay.Summary, error) bool) {
		for _, s := range p.list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// priorFixture writes a knowledge base of n studies of m trials of 10 parameters.
func priorFixture(t testing.TB, n, m int) (Record, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "assay.db")
	sums := priorSummaries{Store: store.NewMem()}
	kb := &Base{dir: Dir(path), studies: map[string]*entry{}}
	rng := rand.New(rand.NewPCG(1, 2))
	var params []assay.Param
	for i := range 10 {
		params = append(params, assay.Param{Name: fmt.Sprintf("p%d", i), Kind: assay.Integer, Lo: 0, Hi: 31})
	}
	for s := range n {
		k := &entry{
			Name: fmt.Sprintf("study-%04d", s), Created: int64(s + 1), Told: m, Program: "prog",
			Metric: "elapsed", Unit: "s",
		}
		k.Space, k.Params = kb.intern(params)
		trials := make([]assay.Trial, m)
		for i := range trials {
			c := make(assay.Config, 10)
			for j := range c {
				c[j] = float64(rng.IntN(32))
			}
			trials[i] = assay.Trial{
				Proposal: assay.Proposal{ID: int64(i + 1), Config: c}, State: assay.Done,
				Value: 1 + rng.Float64(),
			}
		}
		for range 64 {
			k.Print = append(k.Print, rng.Float32())
		}
		if err := writeWhole(kb.trialsFile(k.Name), encodeTrials(trials, 10)); err != nil {
			t.Fatal(err)
		}
		kb.studies[k.Name] = k
		sum := assay.Summary{Study: k.Name, Created: time.Unix(0, k.Created)}
		sum.Counts = map[assay.State]int64{assay.Done: int64(m)}
		sums.list = append(sums.list, sum)
	}
	kb.writeIndex()
	return sums, Dir(path)
}

func priorProblem(t testing.TB) Running {
	t.Helper()
	r := Running{
		Study: &spec.Study{Command: []string{"/usr/bin/prog"}, Prior: spec.Prior{Auto: true}},
		Goal:  assay.Goal{Metric: "elapsed", Unit: "s", Grows: true},
	}
	var params []assay.Param
	for i := range 10 {
		params = append(params, assay.Param{Name: fmt.Sprintf("p%d", i), Kind: assay.Integer, Lo: 0, Hi: 31})
	}
	var err error
	if r.Space, err = assay.NewSpace(params); err != nil {
		t.Fatal(err)
	}
	return r
}

// BenchmarkPrior is the time that the start of tune --prior auto and study similar take with
// 1,000 studies of 1,000 trials on record.
func BenchmarkPrior(b *testing.B) {
	record, dir := priorFixture(b, 1000, 1000)
	ctx := b.Context()
	open := func(b *testing.B) *Base {
		kb, err := Open(ctx, record, dir)
		if err != nil {
			b.Fatal(err)
		}
		return kb
	}
	b.Run("auto", func(b *testing.B) {
		r := priorProblem(b)
		for b.Loop() {
			kb := open(b)
			found, _, err := kb.Resolve(ctx, r)
			if err != nil || len(found) != maxStudies {
				b.Fatal(err, len(found))
			}
			studies, err := kb.Studies(ctx, found)
			if err != nil {
				b.Fatal(err)
			}
			prune.NewKnowledge(r.Space, r.Goal, studies)
		}
	})
	b.Run("similar", func(b *testing.B) {
		for b.Loop() {
			if list, err := open(b).Similar(ctx, "study-0007"); err != nil || len(list) != 999 {
				b.Fatal(len(list), err)
			}
		}
	})
}

// A file that a knowledge base keeps is read back as it was; any other file is refused.
func TestPriorTrialsFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 4).Draw(t, "d")
		var trials []assay.Trial
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			trials = append(trials, assay.Trial{
				Proposal: assay.Proposal{
					ID:     rapid.Int64().Draw(t, "id"),
					Config: rapid.SliceOfN(rapid.Float64(), d, d).Draw(t, "config"),
				},
				State: assay.State(rapid.IntRange(1, 4).Draw(t, "state")), Value: rapid.Float64().Draw(t, "value"),
			})
		}
		b := encodeTrials(trials, d)
		got, ok := decodeTrials(b, d)
		if !ok || !slices.EqualFunc(got, trials, func(a, b assay.Trial) bool {
			return a.ID == b.ID && a.State == b.State && a.Value == b.Value && a.Config.Equal(b.Config)
		}) {
			t.Fatalf("%v became %v", trials, got)
		}
		i := rapid.IntRange(0, len(b)-1).Draw(t, "damage")
		b[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, ok := decodeTrials(b, d); ok {
			t.Fatalf("byte %d was damaged unseen", i)
		}
	})
}

func FuzzPriorTrialsFile(f *testing.F) {
	f.Add(encodeTrials([]assay.Trial{{
		Proposal: assay.Proposal{ID: 1, Config: assay.Config{1, 2}}, State: assay.Done,
		Value: 3,
	}}, 2), uint8(2))
	f.Add([]byte(trialsMagic), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, d uint8) {
		trials, ok := decodeTrials(b, int(d))
		for _, trial := range trials {
			if !ok || len(trial.Config) != int(d) || !trial.State.Final() {
				t.Fatalf("%v from %q", trial, b)
			}
		}
	})
}

// The chosen ones of many studies stand for the others: one of each kind.
func TestPriorRepresentatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	kinds := make([][]float32, 3)
	for i := range kinds {
		for range 64 {
			kinds[i] = append(kinds[i], rng.Float32())
		}
	}
	var all []*entry
	for i := range 60 {
		k := &entry{Name: fmt.Sprintf("%d-%d", i%3, i), Told: 10}
		for _, x := range kinds[i%3] {
			k.Print = append(k.Print, x+0.05*rng.Float32())
		}
		all = append(all, k)
	}
	chosen := representatives(all, 3)
	slices.Sort(chosen)
	if len(chosen) != 3 || chosen[0][0] != '0' || chosen[1][0] != '1' || chosen[2][0] != '2' {
		t.Errorf("chosen %q, want one of each kind", chosen)
	}
}

// Without a number of studies that is too large, all that fit are taken, and none
// that does not.
func TestPriorCandidates(t *testing.T) {
	record, dir := priorFixture(t, 4, 10)
	kb, err := Open(t.Context(), record, dir)
	if err != nil {
		t.Fatal(err)
	}
	kb.studies["study-0000"].Program = "other"
	kb.studies["study-0001"].Program = "" // a table
	kb.studies["study-0002"].Metric = "energy"
	p := priorProblem(t)
	if got, want := kb.candidates(p), []string{"study-0001", "study-0003"}; !slices.Equal(got, want) {
		t.Errorf("candidates %q, want %q", got, want)
	}
}
