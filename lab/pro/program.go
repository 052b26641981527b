package pro

import (
	"errors"
	"math"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// A program is one simulated parallel program that tunes itself for some time steps.
//
// It is the one place outside of package study and package online that calls
// a searcher, because the paper's measurement is no study. The unit of time is the
// step of all processors, not the run of one configuration:
//
//   - all processors wait for the slowest at the end of a step, so a batch that is
//     larger than the program is tried in chunks, none of which begins before the last
//     point of the one before has ended;
//   - K runs of a point are K successive steps of all its processors (§5.2), whose
//     maxima all count;
//   - a processor without a point runs the best one so far, and its noise may be
//     the reason why the others wait;
//   - after the end of the search the program goes on with the best point.
//
// A study has no barrier between its trials, gives the place of a run that has ended
// to the next proposal, and ends with its search. Total Time (Eq. 2), the sum over the
// steps of the maximum over the processors, cannot be read from its trials.
type program struct {
	land       *landscape
	options    search.SimplexOptions
	runs       int // K; 0 means adaptive
	processors int
	steps      int
	noise      noiseSource
}

// times returns T_k, the time of step k, for every step (Eq. 1). A step of the search
// takes one time step for each of its K runs. The value of a point is the least of
// them (Eq. 13).
func (g program) times() []float64 {
	pro := assay.Searcher(search.NewPRO(g.land.space, g.options))
	ask, runs := math.MaxInt32, g.runs
	if runs == 0 {
		pro = search.Adaptive(pro, search.AdaptiveOptions{Min: 1})
		ask, runs = g.processors, 1
	}
	var (
		times []float64
		best  assay.Config
		least = math.Inf(1)
		over  bool
	)
	for len(times) < g.steps {
		var ps []assay.Proposal
		if !over {
			var err error
			ps, err = pro.Ask(ask)
			over = errors.Is(err, assay.ErrDone)
		}
		if len(ps) == 0 {
			times = append(times, g.step(nil, nil, best))
			continue
		}
		for batch := range slices.Chunk(ps, g.processors) {
			y := slices.Repeat([]float64{math.Inf(1)}, len(batch))
			for range runs {
				if len(times) == g.steps {
					return times
				}
				times = append(times, g.step(batch, y, best))
			}
			for i, p := range batch {
				if y[i] < least {
					least, best = y[i], p.Config
				}
				if err := pro.Tell(assay.Trial{Proposal: p, State: assay.Done, Value: y[i]}); err != nil {
					panic(err) // a searcher must accept the results of its proposals
				}
			}
		}
	}
	return times
}

// step runs one time step: point i on processor i, best on the others. It returns the
// time of the slowest and lowers y[i] to the time of point i. A nil best leaves the
// other processors idle: nothing is known to be good yet.
func (g program) step(points []assay.Proposal, y []float64, best assay.Config) float64 {
	var slowest float64
	g.noise.step()
	for p := range g.processors {
		c := best
		if p < len(points) {
			c = points[p].Config
		} else if c == nil {
			break
		}
		t := g.noise.draw(p, c, g.land.at(c))
		if p < len(points) {
			y[p] = min(y[p], t)
		}
		slowest = max(slowest, t)
	}
	return slowest
}
