package study_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stop"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// A server is a Runner. It answers with the measurement of a run of the job, and
// waits for nothing: configuration x takes 4 s at x = 6, and 2 s more for each step
// away from it.
type server struct{}

// Run implements assay.Runner.
func (server) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	away := job.Config[0] - 6
	length := 4*time.Second + time.Duration(max(away, -away))*2*time.Second
	// While a job runs, it is observed every Interval, and ends if ctx does.
	for at := job.Interval; observe != nil && job.Interval > 0 && at < length; at += job.Interval {
		observe(assay.Measurement{Elapsed: at})
		if ctx.Err() != nil {
			return assay.Measurement{Elapsed: at}, context.Cause(ctx)
		}
	}
	return assay.Measurement{Elapsed: length}, nil
}

// The whole life of a study: it is created, a first session runs some trials, a
// second one resumes it, and the trials are read from the store.
func Example() {
	ctx := context.Background()
	records := store.NewMem()
	if err := records.Create(ctx, "answer", nil); err != nil {
		fmt.Println(err)
		return
	}
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 9}})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Each session makes its own searcher. The options and the seed are the same, so
	// that it repeats the proposals on record.
	session := func(trials int) (study.Result, error) {
		s := &study.Study{
			Name: "answer", Store: records,
			Space: space, Goal: assay.Goal{Metric: "elapsed", Grows: true},
			Searcher: search.NewGrid(space, search.GridOptions{}),
			Runner:   server{},
			Command:  func(c assay.Config) (assay.Job, error) { return assay.Job{Config: c}, nil },
			Budget:   study.Budget{Trials: trials},
		}
		return s.Run(ctx)
	}
	for _, trials := range []int{4, 8} {
		result, err := session(trials)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("ended by %s: best %s at %v; %d of %d trials were on record\n", result.EndedBy,
			space.Text(result.Best.Config), result.Best.Measurement.Elapsed, result.Replayed, len(result.Trials))
	}
	for row, err := range records.Trials(ctx, "answer", 5, 0) { // those behind trial 5
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row.Trial.ID, space.Text(row.Trial.Config), row.Trial.State, row.Trial.Value)
	}
	// Output:
	// ended by trials: best x=3 at 10s; 0 of 4 trials were on record
	// ended by trials: best x=6 at 4s; 4 of 8 trials were on record
	// 6 x=5 done 6
	// 7 x=6 done 4
	// 8 x=7 done 6
}

// A run that cannot become the best is ended early. Its trial is censored: the value
// it had is a lower bound of the one it would have had.
func Example_earlyStopping() {
	ctx := context.Background()
	records := store.NewMem()
	space, err := assay.NewSpace([]assay.Param{{Name: "x", Kind: assay.Integer, Lo: 5, Hi: 9}})
	if err = errors.Join(err, records.Create(ctx, "early", nil)); err != nil {
		fmt.Println(err)
		return
	}
	s := &study.Study{
		Name: "early", Store: records, Space: space,
		// The rule is asked only if the metric grows during a run.
		Goal:     assay.Goal{Metric: "elapsed", Grows: true},
		Stopper:  stop.Incumbent{},
		Searcher: search.NewGrid(space, search.GridOptions{}),
		Runner:   server{},
		Command: func(c assay.Config) (assay.Job, error) {
			return assay.Job{Config: c, Interval: time.Second}, nil
		},
	}
	result, err := s.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range result.Trials {
		fmt.Println(space.Text(t.Config), t.State, t.Value)
	}
	fmt.Println("ended by", result.EndedBy)
	// Output:
	// x=5 done 6
	// x=6 done 4
	// x=7 censored 4
	// x=8 censored 4
	// x=9 censored 4
	// ended by search
}
