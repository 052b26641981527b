package run

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
)

// A meter is a Runner whose job runs for 10 s, is observed each second and prints "cost N" each time. Its
// commands print how many of them there were. Its runs end with err.
type meter struct {
	err      error
	commands int
	live     bool
}

func (m *meter) Run(_ context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if job.Argv[0] == "/bin/sh" {
		m.commands++
		return assay.Measurement{Stdout: fmt.Appendf(nil, "%d\n", m.commands)}, nil
	}
	m.live = job.Live
	out := ""
	for i := 1; i <= 10; i++ {
		time.Sleep(job.Interval)
		if i > 2 {
			out += fmt.Sprintf("cost %d\n", i)
		}
		if observe != nil {
			observe(assay.Measurement{Metrics: map[string]float64{"elapsed": float64(i)}, Stdout: []byte(out)})
		}
	}
	if m.err != nil {
		return assay.Measurement{Metrics: map[string]float64{"elapsed": 10}}, m.err
	}
	return assay.Measurement{Metrics: map[string]float64{"elapsed": 10}, Stdout: []byte(out + "cost 11\n")}, nil
}

func source(t *testing.T, name, text string, poll time.Duration) assay.MetricSource {
	t.Helper()
	s, err := assay.ParseMetricSource(name, text)
	if err != nil {
		t.Fatal(err)
	}
	s.Poll = poll
	return s
}

// A metric with a Poll is in the observations, no more often than its interval, and a run that was ended
// has its last value. A metric without a Poll is found at the end only.
func TestMetricsWhileARunGoesOn(t *testing.T) {
	ended := errors.New("stopped")
	for _, end := range []error{nil, ended} {
		synctest.Test(t, func(t *testing.T) {
			inner := &meter{err: end}
			job := assay.Job{Argv: []string{"job"}, Interval: time.Second, Metrics: []assay.MetricSource{
				source(t, "cost", "stdout:/cost ([0-9]+)/", 1), source(t, "joules", "cmd:meter", 3*time.Second),
				source(t, "last", "stdout:/cost ([0-9]+)/", 0),
			}}
			var seen []string
			m, err := Metrics(inner).Run(t.Context(), job, func(m assay.Measurement) {
				text := fmt.Sprint(m.Metrics["cost"], m.Metrics["joules"])
				if _, early := m.Metrics["last"]; early || m.Stdout != nil || m.Metrics["elapsed"] == 0 {
					t.Errorf("observed %+v", m)
				}
				seen = append(seen, text)
			})
			if !errors.Is(err, end) || !inner.live {
				t.Errorf("got %v; the output is asked for: %v", err, inner.live)
			}
			want := "[0 1 0 1 3 1 4 2 5 2 6 2 7 3 8 3 9 3 10 4]"
			if got := fmt.Sprint(seen); got != want {
				t.Errorf("observed %s, want %s", got, want)
			}
			got := fmt.Sprint(m.Metrics)
			if want := "map[cost:11 elapsed:10 joules:5 last:11]"; end == nil && got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if want := "map[cost:10 elapsed:10 joules:4]"; end != nil && got != want {
				t.Errorf("ended, got %s, want %s", got, want)
			}
		})
	}
}

func TestNoPollNoOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &meter{}
		job := assay.Job{
			Argv: []string{"job"}, Interval: time.Second,
			Metrics: []assay.MetricSource{source(t, "cost", "stdout:/cost ([0-9]+)/", 0)},
		}
		if _, err := Metrics(inner).Run(t.Context(), job, nil); err != nil || inner.live {
			t.Errorf("%v; the output is asked for: %v", err, inner.live)
		}
	})
}

// A Local gives the output so far to those who ask for it.
func TestLocalOutputSoFar(t *testing.T) {
	l, err := NewLocal(LocalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := assay.Job{
		Argv: []string{"sh", "-c", "echo one; exec sleep 60"}, Interval: 5 * time.Millisecond, Live: true, Limit: time.Minute,
	}
	_, err = l.Run(ctx, job, func(m assay.Measurement) {
		if string(m.Stdout) == "one\n" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
