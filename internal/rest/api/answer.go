package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
)

// An Answer is the result of a study so far: everything on record except its trials, of which there may be many.
type Answer struct {
	*result.Whole
	// Words are the answer in the words of the command line.
	Words []Line `json:"words"`
	// Lucky is true if the repeated runs at the end contradict the best value.
	Lucky bool `json:"lucky"`
	// Between is the overhead: the part of the time spent in which no run was active, such as searching, modelling,
	// recording and waiting.
	Between float64 `json:"between_s" doc:"overhead: the part of the time spent in which nothing ran"`
}

// A Line is a part of an answer.
type Line struct {
	Label   string `json:"label"`
	Text    string `json:"text"`
	Command bool   `json:"command,omitempty"` // for a shell
}

// answerOf returns the answer of a study.
func answerOf(ctx context.Context, r *result.Record) (*Answer, error) {
	w, err := r.Whole(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{Whole: w, Words: []Line{}, Lucky: w.Lucky(), Between: between(w).Seconds()}
	for _, e := range w.Lines() {
		if n := len(a.Words); e.Label == "" && n > 0 {
			a.Words[n-1].Text += "\n" + e.Text
			continue
		}
		a.Words = append(a.Words, Line{e.Label, e.Text, e.Command})
	}
	return a, nil
}

// between returns the part of the time spent in which no run was active. Concurrent runs count once. Runs without a
// start on record (repeats at the end, and lost attempts) count as sequential.
func between(w *result.Whole) time.Duration {
	if w.Simulated {
		return 0 // simulated time passes only during runs
	}
	type span struct{ from, to float64 }
	var runs []span
	for _, l := range w.Table.Lines {
		at, took := float64(l.Started), 1000*l.Elapsed.Seconds()
		if l.State == assay.Running { // it waits or runs still
			took = float64(w.Last.UnixMilli()) - at
		}
		if took > 0 && at > 0 {
			runs = append(runs, span{at, at + took})
		}
	}
	slices.SortFunc(runs, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	ran, until := float64(w.Lost)*1000, 0.0
	for _, r := range runs {
		ran += max(0, r.to-max(r.from, until))
		until = max(until, r.to)
	}
	for _, a := range w.Again {
		ran += float64(a.Elapsed) * 1000
	}
	return max(0, time.Duration((float64(w.Spent)*1000-ran)*float64(time.Millisecond)))
}
