package gate

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

var (
	surfacesOf = flag.String("surfaces", "compressor", "noisy studies: of these surfaces, or all")
	firstSeed  = flag.Uint64("first", 2001, "noisy studies: the first seed")
	studies    = flag.Int("studies", 40, "noisy studies: how many seeds")
	longer     = flag.Float64("longer", 1, "noisy studies: multiple of the time budget")
	times      = flag.String("times", "", "noisy studies: a file of run times, one a line, in place of drawn noise")
)

// A surface is a program on a machine that is not quiet: a space, its true times in
// seconds, and the noise of a run.
type surface struct {
	name   string
	params []spec.Param
	truth  func(assay.Config) float64
	budget time.Duration
	want   bool // nine in ten are to be within 2 %

	sigma       float64 // of the logarithm of the noise
	tail        float64 // share of the runs that take longer, by a Pareto distribution
	from, until int     // between which one run takes 0.6 of its time; 0 for none
	drift       float64 // how far the machine becomes slower and faster, as a share
	period      float64 // of the drift, s
}

func integer(name string, lo, hi float64) spec.Param {
	return spec.Param{Name: name, Type: "int", Min: lo, Max: hi}
}

func ordinal(name string, values ...string) spec.Param {
	return spec.Param{Name: name, Type: "ordinal", Values: values}
}

// compressed has the true times of a compressor: the second best of 57 configurations is 4 %
// worse.
func compressed(c assay.Config) float64 {
	level := math.Abs(c[0] - 5)
	return (1 + 0.04*level + 0.005*level*level) * []float64{1.7, 1.2, 1}[int(c[1])]
}

// served is the true value of a server's configuration: 3 of 504 configurations are within 2 % of the best, 11 within
// 5 %. The best value of one parameter depends on the others.
func served(c assay.Config) float64 {
	workers, buffer, batch, mode := c[0], c[1], c[2], int(c[3])
	best := []float64{5, 8, 3}[mode]
	x := 2 * (1 + 0.01*math.Abs(workers-best) + 0.004*(workers-best)*(workers-best))
	x *= 1 + 0.04*math.Abs(buffer-3)*(1+0.3*batch)
	x *= []float64{1.04, 1.25, 1.07}[mode]
	return x * (1 + 0.03*math.Abs(batch-1))
}

func surfaces() []surface {
	compressor := surface{
		name:   "compressor",
		params: []spec.Param{integer("level", 1, 19), ordinal("threads", "1", "2", "4")},
		truth:  compressed, budget: 400 * time.Second, want: true,
		sigma: 0.1, tail: 0.05, from: 1, until: 15,
	}
	server := surface{
		name: "server",
		params: []spec.Param{
			integer("workers", 1, 12), integer("buffer", 0, 6), ordinal("batch", "1", "2"),
			{Name: "mode", Type: "categorical", Values: []string{"a", "b", "c"}},
		},
		truth: served, budget: 1000 * time.Second,
		sigma: 0.1, tail: 0.05, from: 20, until: 80,
	}
	drifting := compressor
	drifting.name, drifting.sigma, drifting.tail = "drifting", 0.05, 0
	drifting.drift, drifting.period, drifting.from, drifting.until = 0.15, 150, 40, 80
	return []surface{compressor, drifting, server}
}

// A noisyRunner runs the program of a surface.
type noisyRunner struct {
	surface
	clock *table.SimClock
	lucky int       // the run that takes 0.6 of its time; 0 for none
	begun float64   // phase of the drift, as a share of the period
	noise []float64 // factors of successive runs, in place of drawn ones

	mu   sync.Mutex
	rng  *rand.Rand
	runs int
}

func (s surface) runner(seed uint64, noise []float64) *noisyRunner {
	r := &noisyRunner{surface: s, clock: &table.SimClock{}, rng: rand.New(rand.NewPCG(seed, 7))}
	if s.from > 0 {
		r.lucky = s.from + r.rng.IntN(s.until-s.from+1)
	}
	if s.drift > 0 {
		r.begun = r.rng.Float64()
	}
	if n := len(noise); n > 0 {
		at := r.rng.IntN(n)
		r.noise = append(append(r.noise, noise[at:]...), noise[:at]...)
	}
	return r
}

func (r *noisyRunner) takes(c assay.Config) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
	x := r.truth(c)
	if r.runs == r.lucky {
		return 0.6 * x
	}
	if r.noise != nil {
		return x * r.noise[r.runs%len(r.noise)]
	}
	x *= math.Exp(r.sigma * r.rng.NormFloat64())
	if r.rng.Float64() < r.tail {
		x *= math.Pow(1-r.rng.Float64(), -1/1.5)
	}
	if r.drift > 0 {
		at := r.clock.Now().Sub(time.Time{}).Seconds()/r.period + r.begun
		x *= 1 + r.drift*math.Sin(2*math.Pi*at)
	}
	return x
}

// Run implements assay.Runner.
func (r *noisyRunner) Run(ctx context.Context, job assay.Job, see func(assay.Measurement)) (assay.Measurement, error) {
	took := time.Duration(r.takes(job.Config) * float64(time.Second))
	end, cause := took, error(nil)
	if job.Limit > 0 && job.Limit < took {
		end, cause = job.Limit, assay.ErrLimit
	}
	for at := time.Duration(0); at < end; {
		step := min(end-at, job.Interval)
		if err := r.clock.Sleep(ctx, job.ID.Trial, step); err != nil {
			return assay.Measurement{Elapsed: at}, err
		}
		if at += step; at < end && see != nil {
			see(assay.Measurement{Elapsed: at})
			if ctx.Err() != nil {
				return assay.Measurement{Elapsed: at}, context.Cause(ctx)
			}
		}
	}
	return assay.Measurement{Elapsed: end}, cause
}

// study returns how much worse than the best the configuration that a study of s recommends truly is.
func (s surface) study(t testing.TB, seed uint64, race bool, noise []float64) (float64, study.Result) {
	t.Helper()
	r := s.runner(seed, noise)
	command := []string{"program"}
	for _, p := range s.params {
		command = append(command, "{"+p.Name+"}")
	}
	sd, err := setup.Open(t.Context(), &spec.Study{
		Command: command, Params: s.params,
		Search: spec.Method{Seed: seed}, Budget: spec.Budget{Time: s.budget},
		Stop: spec.Stop{Interval: 50 * time.Millisecond}, Pairs: spec.Pairs{Runs: 5},
	}, "memory", "", setup.Options{Runner: r, Clock: r.clock})
	if err != nil {
		t.Fatal(err)
	}
	defer sd.Close()
	sd.Race = race
	result, err := sd.Run(t.Context())
	if err != nil || !result.Found {
		t.Fatal(err, result.Found)
	}
	least := math.Inf(1)
	for c := range sd.Space.All() {
		least = min(least, s.truth(c))
	}
	return s.truth(result.Best.Config)/least - 1, result
}

// lost describes the fate of the truly best configuration that a study tried.
func (s surface) lost(r study.Result) string {
	var best assay.Trial
	for _, x := range r.Trials {
		if best.Config == nil || s.truth(x.Config) < s.truth(best.Config) {
			best = x
		}
	}
	values := func(c assay.Config) (v []string) {
		for _, x := range slices.Concat(r.Trials, r.Races) {
			if x.Config.Equal(c) {
				v = append(v, fmt.Sprintf("%.2f", x.Value/s.truth(c)))
				if x.State != assay.Done {
					v[len(v)-1] += "+"
				}
			}
		}
		return v
	}
	return fmt.Sprintf("the best tried is %.1f %% better, its runs %v, those of the answer %v",
		100*(1-s.truth(best.Config)/s.truth(r.Best.Config)), values(best.Config), values(r.Best.Config))
}

// recordedNoise returns the run times of a file as factors of their median.
func recordedNoise(t testing.TB, file string) (noise []float64) {
	t.Helper()
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		x, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			t.Fatal(err)
		}
		noise = append(noise, x)
	}
	middle := stats.Median(noise)
	for i := range noise {
		noise[i] /= middle
	}
	return noise
}

// Nine in ten of 40 studies on a machine with a noise of 10 %, a heavy tail and one lucky run
// recommend a configuration within 2 % of the best. The control, studies that take one run for
// the truth with the same time, does not.
//
// No choice was made on these seeds. That does not hold of every surface: the server's is larger, and
// the same time decides less. docs/results/race.md has the outcome of each.
func TestNoisyStudies(t *testing.T) {
	testbed.System(t)
	const most = 0.02
	noise := recordedNoise(t, *times)
	for _, s := range surfaces() {
		if *surfacesOf != "all" && !strings.Contains(","+*surfacesOf+",", ","+s.name+",") {
			continue
		}
		s.budget = time.Duration(*longer * float64(s.budget))
		good, trials, races := map[bool]int{}, 0, 0
		off := map[bool][]float64{}
		for _, race := range []bool{false, true} {
			for i := range *studies {
				seed := *firstSeed + uint64(i)
				x, r := s.study(t, seed, race, noise)
				off[race] = append(off[race], 100*x)
				if x <= most {
					good[race]++
				}
				if race {
					trials += len(r.Trials)
					races += len(r.Races)
					if x > most {
						t.Logf("seed %d: %.1f %% off, %d trials, %d runs again; %s", seed, 100*x, len(r.Trials), len(r.Races),
							s.lost(r))
					}
				}
				if r.Spent > s.budget {
					t.Errorf("race %v, seed %d: %v spent of %v", race, seed, r.Spent, s.budget)
				}
			}
		}
		t.Logf("%s, %v, within 2 %%: %d of %d with the race, %d without; mean %.2f and %.2f %% off; %d trials, %d again",
			s.name, s.budget, good[true], *studies, good[false], stats.Mean(off[true]), stats.Mean(off[false]),
			trials / *studies, races / *studies)
		if *times != "" || !s.want {
			continue
		}
		if 10*good[true] < 9**studies {
			t.Errorf("%s: %d of %d studies are within 2 %% of the best", s.name, good[true], *studies)
		}
		if s.name == "compressor" && 2*good[false] > *studies {
			t.Errorf("the control is within 2 %% of the best in %d of %d: it shows nothing", good[false], *studies)
		}
	}
}
