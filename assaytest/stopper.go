package assaytest

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// TestStopper checks every rule of the contract of [assay.Stopper]. newStopper
// returns a rule; two of them must decide alike.
func TestStopper(t *testing.T, newStopper func() assay.Stopper) {
	t.Helper()
	for _, c := range stopperCases {
		t.Run(c.name, func(t *testing.T) {
			if err := tryStopper(c.run, newStopper); err != nil {
				t.Errorf("%v\nthe rule: %s", err, c.rule)
			}
		})
	}
}

type stopperCase struct {
	name, rule string
	run        func(newStopper func() assay.Stopper) error // the first breach of the rule
}

var stopperCases = []stopperCase{
	{"EmptyHistory", "without any ended trial a decision is still made, and it is to go on", stopperEmpty},
	{
		"NoFinished", "trials that did not finish are no standard: without a finished one a run goes on",
		stopperNoFinished,
	},
	{"Pure", "the same arguments give the same decision, independent of earlier ones", stopperPure},
	{"Unchanged", "neither argument is changed", stopperUnchanged},
	{"Concurrent", "Decide is safe for concurrent use", stopperConcurrent},
	{"Reason", "a stop has a reason for people", stopperReason},
	{"OddValues", "any value of a trial, running or ended, can be decided about", stopperOdd},
}

// tryStopper makes a panic of the rule a breach.
func tryStopper(run func(func() assay.Stopper) error, newStopper func() assay.Stopper) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return run(newStopper)
}

// stopperHistory returns n ended trials over two parameters, in every state.
func stopperHistory(n int) []assay.Trial {
	start := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	history := make([]assay.Trial, 0, n)
	for i := range n {
		v := 10 + float64(i*7%13)
		t := ended(assay.Proposal{ID: int64(i + 1), Config: assay.Config{float64(i % 5), float64(i * 3 % 7)}},
			assay.Done, v)
		switch i % 8 {
		case 3:
			t.State = assay.Censored
			t.Decision = &assay.Decision{Stop: true, Reason: "enough", Predicted: v + 1, At: time.Second}
		case 5:
			t.State, t.Value = assay.Failed, math.Inf(1)
		case 7:
			t.State = assay.Infeasible
		}
		t.Measurement.Elapsed = time.Duration(v) * time.Second
		t.Started = start.Add(time.Duration(i) * time.Minute)
		t.Ended = t.Started.Add(t.Measurement.Elapsed)
		history = append(history, t)
	}
	return history
}

func stopperRunning(value float64) assay.Trial {
	t := ended(assay.Proposal{ID: 1000, Config: assay.Config{2, 3}}, assay.Running, value)
	t.Measurement.Elapsed = 9 * time.Second
	return t
}

// stopperRunningValues are running values near to and far from the values of the history.
var stopperRunningValues = []float64{0, 0.1, 5, 9.99, 10, 10.01, 13, 17, 25, 1e6}

func stopperEmpty(newStopper func() assay.Stopper) error {
	for _, history := range [][]assay.Trial{nil, {}} {
		for _, v := range stopperRunningValues {
			if d := newStopper().Decide(history, stopperRunning(v)); d.Stop {
				return fmt.Errorf("a run at %v is stopped with nothing to compare it with: %s", v, d.Reason)
			}
		}
	}
	return nil
}

func stopperNoFinished(newStopper func() assay.Stopper) error {
	history := slices.DeleteFunc(stopperHistory(40), func(t assay.Trial) bool { return t.State == assay.Done })
	for _, v := range stopperRunningValues {
		if d := newStopper().Decide(history, stopperRunning(v)); d.Stop {
			return fmt.Errorf("a run at %v is stopped though no trial has finished: %s", v, d.Reason)
		}
	}
	return nil
}

func stopperPure(newStopper func() assay.Stopper) error {
	once := newStopper()
	for _, n := range []int{1, 4, 30, 12} { // histories that grow, and shrink again
		for _, v := range stopperRunningValues {
			h, r := stopperHistory(n), stopperRunning(v)
			a, b, c := once.Decide(h, r), once.Decide(h, r), newStopper().Decide(h, r)
			if !sameStop(a, b) || !sameStop(a, c) {
				return fmt.Errorf("%d trials, run at %v: decided %+v, then %+v, and a new one %+v", n, v, a, b, c)
			}
		}
	}
	return nil
}

func sameStop(a, b assay.Decision) bool {
	return a.Stop == b.Stop && a.Reason == b.Reason && a.At == b.At &&
		(a.Predicted == b.Predicted || math.IsNaN(a.Predicted) && math.IsNaN(b.Predicted))
}

func stopperUnchanged(newStopper func() assay.Stopper) error {
	h, r := stopperHistory(30), stopperRunning(12)
	newStopper().Decide(h, r)
	for i, want := range append(stopperHistory(30), stopperRunning(12)) {
		got := r
		if i < len(h) {
			got = h[i]
		}
		if !unchanged(got, want) {
			return fmt.Errorf("trial %d was changed to %+v", want.ID, got)
		}
	}
	return nil
}

// unchanged compares everything a trial holds or points to.
func unchanged(a, b assay.Trial) bool {
	if (a.Decision == nil) != (b.Decision == nil) || a.Decision != nil && !sameStop(*a.Decision, *b.Decision) {
		return false
	}
	a.Decision, b.Decision = nil, nil
	return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) // NaN equals NaN in print
}

func stopperConcurrent(newStopper func() assay.Stopper) error {
	s, h := newStopper(), stopperHistory(30)
	want := make([]assay.Decision, len(stopperRunningValues))
	for i, v := range stopperRunningValues {
		want[i] = s.Decide(h, stopperRunning(v))
	}
	var wg sync.WaitGroup
	breaches := make([]error, 4)
	for g := range breaches {
		wg.Go(func() {
			breaches[g] = tryStopper(func(func() assay.Stopper) error {
				for i, v := range stopperRunningValues {
					if got := s.Decide(h, stopperRunning(v)); !sameStop(got, want[i]) {
						return fmt.Errorf("run at %v: decided %+v at once with others, %+v alone", v, got, want[i])
					}
				}
				return nil
			}, newStopper)
		})
	}
	wg.Wait()
	for _, err := range breaches {
		if err != nil {
			return err
		}
	}
	return nil
}

func stopperReason(newStopper func() assay.Stopper) error {
	for _, v := range stopperRunningValues {
		if d := newStopper().Decide(stopperHistory(30), stopperRunning(v)); d.Stop && d.Reason == "" {
			return fmt.Errorf("a run at %v is stopped without a reason", v)
		}
	}
	return nil
}

func stopperOdd(newStopper func() assay.Stopper) error {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e-308, 1e308}
	for _, a := range odd {
		h := stopperHistory(12)
		for i := range h {
			if i%2 == 0 {
				h[i].Value = a
			}
		}
		for _, v := range odd {
			newStopper().Decide(h, stopperRunning(v)) // a panic is the breach
		}
		if d := newStopper().Decide(h, stopperRunning(math.NaN())); d.Stop {
			return fmt.Errorf("a run whose value is not known is stopped: %s", d.Reason)
		}
	}
	return nil
}
