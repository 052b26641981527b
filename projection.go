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

// A Summary is what there is to say about a study without its trials.
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
	// Ended is why the last session ended; "" if it has not said so. A booking, or a decision other
	// than to run, that comes behind the end leaves it.
	Ended string
	// Steered is what was decided last of "run", "pause" and "stop", see [Steering]; "" if nothing was.
	Steered  string
	Priority int           // among studies, as it was steered last
	Lost     time.Duration // what attempts cost that do not count, see [Booking.Lost]
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
	// Trials yields the trials of a study in the order of their IDs: those behind
	// the ID after, 0 for all, and at most n of them, 0 for all.
	//
	// A trial that was asked is Running since the event, with Value NaN, until it
	// is told or withdrawn; its first final state stays. One that was withdrawn
	// has its proposal, its start, the time and the reason of the withdrawal, and
	// Value +Inf. A trial that is told without having been asked counts too.
	Trials(ctx context.Context, study string, after int64, n int) iter.Seq2[TrialRow, error]
	// Summary returns the summary of one study. Of equal values, Best is the
	// trial that was told first.
	Summary(ctx context.Context, study string) (Summary, error)
	// Summaries yields those of all studies in lexical order of the names: those
	// behind the name after, "" for all, and at most n of them, 0 for all.
	Summaries(ctx context.Context, after string, n int) iter.Seq2[Summary, error]
}
