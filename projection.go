package assay

import (
	"context"
	"iter"
	"time"
)

// A TrialRow is the present state of one trial of a study.
type TrialRow struct {
	Seq   int64 // number of the event that it comes from, counted from 1
	Trial Trial
}

// A Summary summarizes a study without its trials.
type Summary struct {
	Study   string
	Created time.Time
	Events  int64           // number of events; as a [Position], the end of the record
	Counts  map[State]int64 // trials by State; a state of which there are none is left out
	Checks  int64           // number of runs outside the search
	Best    int64           // ID of the trial that [Best] returns, or 0
	Value   float64         // its value, or +Inf
	Spent   time.Duration   // of the time budget, at the last event
	First   time.Time       // of the first event, or zero
	Last    time.Time       // of the last event, or zero
	// Ended is the reason why the last session ended; "" if none is recorded. A booking after the end, or a decision other
	// than to run, does not change it.
	Ended string
	// Steered is the latest decision, one of "run", "pause" and "stop", see [StudyCommand]; "" without a decision.
	Steered  string
	Priority int           // among studies, as it was steered last
	Lost     time.Duration // cost of attempts that do not count, see [AttemptEnd.Lost]
}

// Trials returns the number of trials in any state.
func (s Summary) Trials() int64 {
	var n int64
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// A Projector is a Store that keeps the state of each trial and each study
// beside the events, so that a list is quick. Reading needs no lock. A study
// that does not exist is an error that matches fs.ErrNotExist.
type Projector interface {
	// Trials yields the trials of a study in the order of their IDs: those behind the ID after, 0 for all, and at most n
	// of them, 0 for all.
	//
	// A trial that was asked is Running since the event, with Value NaN, until its result or withdrawal; its first final
	// state stays. A withdrawn trial has its proposal, its start, the time and the reason of the withdrawal, and Value
	// +Inf. A result of a trial that was never asked counts too.
	Trials(ctx context.Context, study string, after int64, n int) iter.Seq2[TrialRow, error]
	// Summary returns the summary of one study. Among equal values, Best is the trial with the first result.
	Summary(ctx context.Context, study string) (Summary, error)
	// Summaries yields the summaries of all studies in lexical order of the names: the names behind after, "" for all, and
	// at most n of them, 0 for all.
	Summaries(ctx context.Context, after string, n int) iter.Seq2[Summary, error]
}
