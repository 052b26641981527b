package assay

import (
	"context"
	"errors"
	"time"
)

// ErrDone is returned by Ask when the search has ended by its own criterion.
var ErrDone = errors.New("search is done")

// A Searcher is an ask-and-tell search algorithm.
//
// A Searcher starts no goroutine, reads no clock and does no I/O. Its proposals depend only on how it was built (seed
// included) and on the sequence of calls, so that a study is resumed by replaying its events. It is not safe for
// concurrent use.
type Searcher interface {
	// Ask returns at most n proposals, n >= 1, each a member of the space. IDs count up from 1 without gaps. No proposals
	// and a nil error means that the next proposal needs the result of an outstanding trial. Ask returns ErrDone when the
	// search has ended. An Ask that returns no proposals leaves the Searcher unchanged.
	Ask(n int) ([]Proposal, error)

	// Tell reports trials in a final state, in any order. An unasked trial, or a trial reported before, is an error.
	// The Searcher may keep the trials but must not change them.
	Tell(trials ...Trial) error
}

// An Unwrapper is a wrapper of a Searcher. A wrapper has every ability of the wrapped Searcher, unless it is a
// [Masker]: [As] finds it.
//
// A wrapper implements the methods of an ability itself
//   - if it takes part in the ability: a wrapper that keeps results must see each observation. It then forwards the
//     call to the wrapped Searcher if [As] finds the ability there.
//   - if it has the ability regardless of the wrapped Searcher.
//
// It leaves any other ability to the wrapped Searcher.
type Unwrapper interface {
	// Unwrap returns the Searcher that is wrapped.
	Unwrap() Searcher
}

// A Masker is a wrapper that lacks an ability although it has its methods, because the wrapped Searcher lacks the
// ability or because the wrapper removes it.
type Masker interface {
	Unwrapper
	// Hides reports whether the wrapper hides an ability. A nil pointer to the
	// interface names it, such as (*Narrower)(nil).
	Hides(ability any) bool
}

// As returns the ability A of a Searcher, such as [Observer], [Hinter], [Narrower] or [Resumer]; ok is false if s lacks
// it. As searches from the outermost wrapper inwards for the methods of A, and stops at a [Masker] that lacks A.
//
// Call only the methods of the ability on the result: it may be a wrapped Searcher, and Ask and Tell are for s.
func As[A any](s Searcher) (ability A, ok bool) {
	for s != nil {
		if l, is := s.(Masker); is && l.Hides((*A)(nil)) {
			return ability, false
		}
		if a, is := s.(A); is {
			return a, true
		}
		u, is := s.(Unwrapper)
		if !is {
			break
		}
		s = u.Unwrap()
	}
	return ability, false
}

// HidesWith reports whether ability names A and s lacks A. It is the answer of a [Masker] that wraps s, has the methods
// of A, and has A if and only if s does.
func HidesWith[A any](ability any, s Searcher) bool {
	if _, is := ability.(*A); !is {
		return false
	}
	_, ok := As[A](s)
	return !ok
}

// A Resumer is a Searcher whose proposals are costly to compute, and whose state can be restored without computing them
// again. The loop stores the memos in the record. To resume, it calls Recall on a new Searcher, then repeats the calls
// of Ask and Tell: an Ask covered by a memo returns its earlier result at almost no cost.
type Resumer interface {
	Searcher
	// Memo returns the results of the calls of Ask since the last Memo, and the state after them; nil without such calls.
	// A memo has at most a few hundred bytes per proposal.
	Memo() []byte
	// Recall takes all memos of a record, in order, before any other call. It returns an error if they were not made by
	// such a Searcher.
	Recall(memos [][]byte) error
}

// An Observer is a Searcher that can also learn from trials it did not ask for: the user's default configuration, or
// trials of an earlier study. Their IDs have no meaning to it.
type Observer interface {
	Observe(trials ...Trial) error
}

// A Hinter is a Searcher whose model takes a hint.
type Hinter interface {
	// Hint sets the expected rank of each configuration, from a source such as earlier studies: about 0 for the best and 1
	// for the worst. The Searcher determines the worth of the hint itself. h is pure and finite. Hint is called before all
	// other methods; a given hint may be replaced between two calls.
	Hint(h func(Config) float64)
}

// An Enqueuer is a Searcher that accepts configurations from a person as its next proposals.
type Enqueuer interface {
	// Give queues these configurations as the next proposals, in order, before any of the Searcher's own. Each is
	// admissible, and no limit of a [Narrower] holds it back. A wrapper first finishes the proposals it has begun, and a
	// wrapper that runs no configuration twice skips repeats. A replay repeats the call at the same place.
	Enqueue(configs []Config)
}

// A Narrower is a Searcher whose space can shrink under it, and grow back.
type Narrower interface {
	// Narrow limits further proposals to the admissible configurations for which keep holds; nil lifts the limit. It
	// replaces an earlier limit. Earlier proposals and observations stay valid, inside the limit or not. keep is pure and
	// holds for at least one admissible configuration; once all such configurations were proposed, Ask returns ErrDone
	// until the limit changes.
	Narrow(keep func(Config) bool)
}

// A Pruned removes values of one parameter from the space of a study, or returns them, because of the results of an
// earlier study.
type Pruned struct {
	Param       string   `json:"param"`
	Values      []string `json:"values"`              // as [Param.Text] writes them, or ranges "4..7"
	Study       string   `json:"study"`               // the earlier study
	Correlation float64  `json:"correlation"`         // with that study, in [-1, 1]
	Alpha       float64  `json:"alpha"`               // aggressiveness, in [0, 1)
	Threshold   float64  `json:"threshold,omitempty"` // objective that no earlier trial with the values reached
	Restored    bool     `json:"restored,omitempty"`  // the values are back
	Reason      string   `json:"reason"`              // in words
}

// Data is a training set of n examples with d features.
type Data struct {
	X        [][]float64 // n rows of d features; see Space.Encode
	Y        []float64   // n outcomes
	Censored []bool      // nil, or n; true if the outcome is at least Y[i]
}

// Rows returns the examples of the given indices, in that order. They share the rows of X with d.
func (d Data) Rows(indices []int) Data {
	some := Data{X: make([][]float64, len(indices)), Y: make([]float64, len(indices))}
	if d.Censored != nil {
		some.Censored = make([]bool, len(indices))
	}
	for k, i := range indices {
		some.X[k], some.Y[k] = d.X[i], d.Y[i]
		if d.Censored != nil {
			some.Censored[k] = d.Censored[i]
		}
	}
	return some
}

// A Prediction is a predictive mean and standard deviation in the unit of
// Data.Y. Std is NaN if the predictor does not estimate it.
type Prediction struct{ Mean, Std float64 }

// Errors that a Learner returns for data it cannot fit.
var (
	ErrCensored = errors.New("learner cannot use censored examples")
	ErrTooFew   = errors.New("too few examples")
	ErrBadData  = errors.New("a feature or outcome is not finite")
)

// A Learner fits a regression function to data.
type Learner interface {
	// Fit returns a new Predictor and retains neither d nor its slices. It returns ErrCensored rather than treat a
	// censored outcome as exact, ErrTooFew for fewer examples than it needs, and ErrBadData for NaN or infinite features
	// and outcomes. Rows of different lengths panic.
	Fit(d Data) (Predictor, error)
}

// A Predictor is a fitted regression function. It is immutable and safe for concurrent use.
type Predictor interface {
	// Predict returns the prediction at x, which has d features.
	Predict(x []float64) Prediction
}

// A BatchPredictor is a Predictor that is faster on many rows at once.
type BatchPredictor interface {
	Predictor
	// PredictBatch sets out[i] to the prediction at X[i]. The lengths of X and out are equal.
	PredictBatch(X [][]float64, out []Prediction)
}

// PredictAll sets out[i] to the prediction of p at X[i], by the fastest way that p offers.
func PredictAll(p Predictor, X [][]float64, out []Prediction) {
	if len(X) != len(out) {
		panic("assay: slice length mismatch")
	}
	if b, ok := p.(BatchPredictor); ok {
		b.PredictBatch(X, out)
		return
	}
	for i, x := range X {
		out[i] = p.Predict(x)
	}
}

// A Stopper is an early-termination rule: a pure function of the trials that have ended and of one that is running. It
// is only asked when the goal's metric grows during a run (see [Goal]); running.Value is the value so far. It is safe
// for concurrent use and changes neither argument.
type Stopper interface {
	Decide(history []Trial, running Trial) Decision
}

// A CurveStopper is a Stopper that decides by the curve of a running trial ([Measurement.Curve]), whether the goal's
// metric grows or not. It is asked once there is a point of it.
type CurveStopper interface {
	Stopper
	// Follows reports whether the rule follows curves: a wrapper has the method regardless of the wrapped rule.
	Follows() bool
}

// A StudyStopper is a rule that ends a study: a pure function of the ended trials, in the order of their ends, and of
// the remaining budget, as a multiple of the spent budget: +Inf without a budget.
type StudyStopper interface {
	// Enough reports whether going on is not worth it, and why, in words.
	Enough(history []Trial, left float64) (why string, enough bool)
	// Least is the gain, relative to the best value, that is worth going on for.
	Least() float64
}

// A RunID names one attempt at one run of a study. The same ID is the same run, regardless of how often and by which
// session of the study it is sent.
//
// An ID without an Attempt names no run: each job with such an ID is a run of its own, such as a command before or
// after a run. Its Study names the owner.
type RunID struct {
	Study string `json:"study"`
	Trial int64  `json:"trial"` // of a run that repeats a trial: that trial
	// Repeat is the number of runs of the same configuration that the study
	// began before this one, further attempts at one run aside.
	Repeat  int `json:"repeat,omitempty"`
	Attempt int `json:"attempt"` // from 1
}

// A Job is one run of one configuration. It is data: it can be written as JSON, sent, and run by another process with
// the same outcome.
//
// Setup, Files, Service, Prepare, Cleanup, Warmup, Verify and Metrics belong to wrappers (run.WithSetup, run.WithFiles,
// run.WithHooks, run.WithVerify, run.Metrics) of the Runner that starts the processes. A wrapper removes the fields
// that it has handled from the job. A Runner that starts processes ignores those fields; a Runner that forwards a job
// forwards them.
type Job struct {
	ID        RunID              // see [RunID]; zero for a run that is no part of a study
	Config    Config             // the configuration of the run; carriers that run a command may ignore it
	Argv      []string           // the program and its arguments, never a shell line
	Env       []string           // "NAME=value", added to the runner's own environment
	Secrets   []string           // "NAME=env:VARIABLE" or "NAME=file:PATH", see below
	Dir       string             // working directory; "" means the runner's own
	Resources map[string]float64 // "cpus", "memory_B", "net_delay_s", ...
	Interval  time.Duration      // how often to observe; 0 means never
	Limit     time.Duration      // longest run; 0 means no limit
	Grace     time.Duration      // from SIGTERM to SIGKILL when ended; 0 means SIGKILL at once

	Prepare  []string       // command before the run, not measured; nil for none
	Cleanup  []string       // command after the run, not measured, run after every outcome; nil for none
	Warmup   int            // runs before the one that is measured
	Metrics  []MetricSource // metrics that the program itself reports, see [MetricSource]
	Priority int            // of two jobs that wait, the one of greater Priority begins first

	Setup   *Setup   // made once for all jobs with the same one, before everything else; nil for none
	Service *Service // process that runs beside it, after Prepare and before Cleanup; nil for none
	Files   []File   // written into Dir before Prepare; the earlier contents are restored at the end
	Live    bool     // observations have the output so far
	Verify  []string // command after a run that succeeded, not measured: it fails if the output is wrong

	// Secrets name variables of the environment by where their values are, on the machine that starts the process: a
	// variable of the runner's own environment, or a file. The values are in no job, record or message.

	// Data is the directory with the data set of this run, for a carrier that brings data to
	// programs; "" means the carrier's own. Others ignore it.
	Data string
	// Traces are resources that vary while the run goes on, for a carrier that realises them. Then
	// Resources has the mean of each, which is all that others see of it.
	Traces map[string]Trace

	// Inputs, Shared and Outputs are for a carrier that runs the job on another machine: files that it
	// brings there, paths that are there already, and patterns of files that it keeps of the run, as of
	// path.Match. See [Job.Apart]. Others ignore them.
	Inputs  []Input
	Shared  []Shared
	Outputs []string
}

// Errors of a Runner whose runs may outlive their caller.
var (
	// ErrDetached is the cause of a context whose end leaves the run alone: a
	// Runner that can lets it go on, and Run of the same ID finds it again.
	ErrDetached = errors.New("detached")
	// ErrLost means that the outcome of this attempt will never be known.
	ErrLost = Errorf(ClassLost, "the run was lost")
)

// A Queuer is a Runner whose runs may wait for long before they begin. The Limit of a [Job] does not include the time
// in the queue. The study enforces its own budget by cancelling the context of Run.
type Queuer interface {
	// Queues reports whether runs may wait.
	Queues() bool
}

// A Capacitor is a Runner that knows how many jobs it can run at once.
type Capacitor interface {
	// Capacity returns that number now, at least 0. It may change while a study runs.
	Capacity() int
}

// A Runner runs jobs and measures them without their cooperation. It is safe for concurrent use.
//
// A Runner may outlive its callers. Then Run with the ID of a running attempt attaches to it, Run with the ID of an
// ended attempt returns its measurement, and a context whose cause is [ErrDetached] does not interrupt the run. For any
// other Runner an ID only names the owner of the run.
type Runner interface {
	// Run runs job until it ends, ctx is done, or job.Limit has passed, calling observe (which may be nil) every
	// job.Interval with the measurement so far.
	//
	// If ctx is done first, Run ends every process of the job before it returns the measurement so far and
	// context.Cause(ctx); likewise with ErrLimit if the limit has passed. A job that exits with a non-zero code is a
	// measurement, not an error, and so is a failure beside the program, described by Measurement.Failure; any other error
	// means that nothing was learned about the job. Run does not modify anything that job refers to.
	Run(ctx context.Context, job Job, observe func(Measurement)) (Measurement, error)
}

// ErrSetup means that a prerequisite of every run could not be set up, such as a control group that may not be made: a
// Runner's error that matches it ends the study. A failure that another configuration may avoid, such as in a command
// before the run, is a [Failure] instead.
var ErrSetup = errors.New("a run could not be set up")

// A Clock returns the time of a study: the machine's, or a simulated one when recorded runs are replayed.
type Clock interface{ Now() time.Time }
