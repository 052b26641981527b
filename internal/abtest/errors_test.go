package abtest

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// A machine makes a series of factors, by which one run after the other takes longer.
type machine func(rng *rand.Rand) func() float64

// machines are kinds of noise, from the harmless to the adverse.
func machines(t testing.TB) map[string]machine {
	plain := func(sd float64) machine {
		return func(r *rand.Rand) func() float64 {
			return func() float64 { return math.Exp(sd * r.NormFloat64()) }
		}
	}
	return map[string]machine{
		"normal": plain(0.05),
		// One run in ten takes up to many times as long.
		"heavy tail": func(r *rand.Rand) func() float64 {
			return func() float64 {
				x := math.Exp(0.03 * r.NormFloat64())
				if r.Float64() < 0.1 {
					x *= math.Pow(1-r.Float64(), -0.7)
				}
				return x
			}
		},
		"drift": func(r *rand.Rand) func() float64 {
			at := 0.0
			return func() float64 {
				at += 0.001 + 0.02*r.NormFloat64()
				return math.Exp(at + 0.03*r.NormFloat64())
			}
		},
		// Another program comes and goes.
		"bursts": func(r *rand.Rand) func() float64 {
			busy := false
			return func() float64 {
				if r.Float64() < 0.1 {
					busy = !busy
				}
				x := math.Exp(0.03 * r.NormFloat64())
				if busy {
					x *= 1.5
				}
				return x
			}
		},
		// Every second run is slower, which A B, A B would take for a difference, and every
		// fourth, which A B, B A would.
		"every second": every(2),
		"every fourth": every(4),
		"recorded":     recorded(t, "testdata/busy.txt"),
	}
}

func every(period int) machine {
	return func(r *rand.Rand) func() float64 {
		n := 0
		return func() float64 {
			n++
			x := math.Exp(0.03 * r.NormFloat64())
			if n%period == 0 {
				x *= 1.08
			}
			return x
		}
	}
}

// recorded is noise of a busy machine: processor times of one command that was run again and
// again. A series begins anywhere in it.
func recorded(t testing.TB, file string) machine {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var x []float64
	for s := bufio.NewScanner(f); s.Scan(); {
		var v float64
		if _, err := fmt.Sscan(s.Text(), &v); err == nil {
			x = append(x, v)
		}
	}
	if len(x) < 1000 {
		t.Fatalf("%s: %d values", file, len(x))
	}
	return func(r *rand.Rand) func() float64 {
		i := r.IntN(len(x))
		return func() float64 {
			i++
			return x[i%len(x)]
		}
	}
}

// duels counts the outcomes of n gates: B takes ratio times as long as A.
func duels(t *testing.T, m machine, text string, ratio float64, n int) map[Outcome]int {
	t.Helper()
	count := map[Outcome]int{}
	for i := range n {
		next := m(rand.New(rand.NewPCG(uint64(i), 11)))
		d, f := fresh(0.01, 0.01*ratio, 0)
		f.noise = func(*rand.Rand) float64 { return next() }
		d.Pairs, d.Seed, d.Gate = 0, uint64(i), gate(t, text)
		count[run(t, d).Outcome]++
	}
	return count
}

// rare is the greatest number that something happens in n cases which happens in 1 of 100,
// but for 1 of 10,000 such tests.
func rare(n int) int {
	p, sum, k := math.Pow(0.99, float64(n)), 0.0, 0
	for sum += p; sum < 0.9999; sum += p {
		k++
		p *= float64(n-k+1) / float64(k) * 0.01 / 0.99
	}
	return k
}

// On every kind of machine a gate cries wolf in at most 1 of 100 cases: neither between equals
// with the strictest limit, "slower", nor where B is slower by exactly the limit. There
// it passes in at most 1 of 100, too. A slowdown of 10 % is found in at least 95 of 100, in
// the pairs that the gate asks for. Between equals it passes or cannot decide.
func TestGateErrors(t *testing.T) {
	testbed.Long(t)
	n := testbed.Times(8, 200)
	for name, m := range machines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strict := duels(t, m, "slower", 1, n)
			edge := duels(t, m, "slower > 3%", 1.03, n)
			equal := duels(t, m, "slower > 3%", 1, n)
			slow := duels(t, m, "slower > 3%", 1.1, n)
			t.Logf("no difference, limit 0: %v; limit 3 %%: %v; 3 %%: %v; 10 %%: %v", strict, equal, edge, slow)
			if most := rare(n); strict[Failed] > most || edge[Failed] > most || equal[Failed] > most || edge[Passed] > most {
				t.Errorf("more than %d false alarms or passes of %d", most, n)
			}
			if slow[Failed] < n*95/100 || slow[Passed] > 0 {
				t.Errorf("a slowdown of 10 %% is found in %d of %d cases", slow[Failed], n)
			}
		})
	}
}

// Without a gate, all looks together show a difference that is not there in at most 5 % of
// cases, whatever the noise: in 400 duels of equals, 20 on the average and 36 with a
// probability below 1e-3. make test takes the first 16.
func TestErrorOfAllLooks(t *testing.T) {
	testbed.Long(t)
	n, most := testbed.Times(16, 400), testbed.Times(4, 36)
	for name, m := range machines(t) {
		wrong := 0
		for i := range n {
			next := m(rand.New(rand.NewPCG(uint64(i), 9)))
			d, f := fresh(1, 1, 0)
			f.noise, d.Seed = func(*rand.Rand) float64 { return next() }, uint64(i)
			if run(t, d).Verdict != "~" {
				wrong++
			}
		}
		if wrong > most {
			t.Errorf("%s: %d of %d duels of equals show a difference", name, wrong, n)
		}
	}
}

// Several comparisons share one error: of 300 reports on three equal commands, few have any
// false alarm.
func TestErrorIsShared(t *testing.T) {
	testbed.Long(t)
	alarms, n := 0, testbed.Times(12, 300)
	for i := range n {
		d, f := fresh(0.01, 0.01, 0.05)
		f.rng = rand.New(rand.NewPCG(uint64(i), 5))
		for _, c := range []string{"c", "d", "e"} {
			f.takes[c] = 0.01
			d.Commands = append(d.Commands, Command{c, job(c)})
		}
		d.Pairs, d.Seed, d.Gate = 60, uint64(i), gate(t, "slower")
		all, err := d.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if NewReport(all).Outcome == Failed {
			alarms++
		}
	}
	if most := rare(n); alarms > most {
		t.Errorf("%d of %d reports have a false alarm, %d at most", alarms, n, most)
	}
}

var _ assay.Runner = (*fake)(nil)
