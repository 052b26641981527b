package study_test

import (
	"context"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// runner is a Runner made of a function.
type runner func(job assay.Job) (assay.Measurement, error)

func (r runner) Run(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	return r(job)
}

// A setup has the time that the study has left. A trial that it leaves unfinished stays open.
func TestSetupHasTheTimeThatIsLeft(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		st := store.NewMem()
		s := newStudy(t, st, 0)
		s.Budget.Time = 100 * time.Second
		command := s.Command
		shared := &assay.Setup{Argv: []string{"make"}}
		s.Command = func(c assay.Config) (assay.Job, error) {
			j, err := command(c)
			j.Setup = shared
			return j, err
		}
		var left []time.Duration
		s.Runner = runner(func(job assay.Job) (assay.Measurement, error) {
			left = append(left, job.Setup.Left)
			if time.Sleep(70 * time.Second); len(left) == 2 {
				return assay.Measurement{}, assay.ErrUnbegun
			}
			return assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{"elapsed": 1}}, nil
		})
		r := mustRun(t, s)
		if len(left) != 2 || left[0] != 100*time.Second || left[1] != 30*time.Second || shared.Left != 0 {
			t.Errorf("the setups had %v; shared by all jobs is %v", left, shared.Left)
		}
		if len(r.Trials) != 1 || r.EndedBy != "budget" {
			t.Errorf("%d trials, ended by %s", len(r.Trials), r.EndedBy)
		}
	})
}
