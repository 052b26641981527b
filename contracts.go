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
	// and a nil error means that nothing can be proposed before an outstanding trial is told. Ask returns ErrDone when the
	// search has ended. An Ask that returns no proposals leaves the Searcher unchanged.
	Ask(n int) ([]Proposal, error)

	// Tell reports trials in a final state, in any order. It is an error to tell a trial that was not asked, or to tell
	// one twice. The Searcher may keep the trials but must not change them.
	Tell(trials ...Trial) error
}

// An Unwrapper is a wrapper of a Searcher. A wrapper has every ability of what it
// wraps, unless it is a [Lacker]: [As] finds it.
//
// A wrapper has the methods of an ability itself
//   - if it must take part in it: a wrapper that keeps results has to see what is
//     observed. It then hands the call on to what it wraps, as far as [As] finds the
//     ability there.
//   - if it has the ability whatever it wraps.
//
// It leaves any other ability to what it wraps.
type Unwrapper interface {
	// Unwrap returns the Searcher that is wrapped.
	Unwrap() Searcher
}

// A Lacker is a wrapper that lacks an ability though it has its methods, because what
// it wraps lacks it, or that ends an ability of what it wraps.
type Lacker interface {
	Unwrapper
	// Lacks reports whether the wrapper lacks an ability. A nil pointer to the
	// interface names it, such as (*Narrower)(nil).
	Lacks(ability any) bool
}

// As returns the ability A of a Searcher, such as [Observer], [Hinter], [Narrower] or [Resumer]; ok is false if s lacks
// it. It belongs to the outermost of the wrappers and what they wrap that has its methods, and ends at a [Lacker] that
// lacks it.
//
// Call only the methods of the ability on what As returns: it may be inside of s, and Ask and Tell are for s.
func As[A any](s Searcher) (ability A, ok bool) {
	for s != nil {
		if l, is := s.(Lacker); is && l.Lacks((*A)(nil)) {
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

// LacksWith reports whether ability names A, and s lacks A: what a [Lacker] answers
// that has the methods of A, and has A if and only if s does, which it wraps.
func LacksWith[A any](ability any, s Searcher) bool {
	if _, is := ability.(*A); !is {
		return false
	}
	_, ok := As[A](s)
	return !ok
}

// A Resumer is a Searcher whose proposals are costly to compute, and which can be brought back to where it was without
// computing them again. The loop keeps its memos with the record and, to resume, calls Recall on a new Searcher, then
// repeats the calls of Ask and Tell: the calls of Ask that memos stand for return what they returned then, at next to
// no cost.
type Resumer interface {
	Searcher
	// Memo returns what the calls of Ask since the last Memo returned, and the state that they left; nil if there were
	// none. A memo is at most some hundred bytes a proposal.
	Memo() []byte
	// Recall takes all memos of a record, in order, before any other call. It
	// returns an error if they are not those of such a Searcher.
	Recall(memos [][]byte) error
}

// An Observer is a Searcher that can also learn from trials it did not ask for: the user's default configuration, or
// those of an earlier study. Their IDs mean nothing to it.
type Observer interface {
	Observe(trials ...Trial) error
}

// A Hinter is a Searcher whose model takes a hint.
type Hinter interface {
	// Hint says what to expect of each configuration from elsewhere, such as earlier studies: about 0 for what seems best
	// and 1 for the worst. The Searcher finds out itself what the hint is worth. h is pure and finite. Hint comes before
	// all other calls; one that was given may be replaced between two calls.
	Hint(h func(Config) float64)
}

// A Giver is a Searcher that proposes what a person wants to be run.
type Giver interface {
	// Give has the next proposals be these configurations, in order, before any of the Searcher's own. Each is admissible,
	// and no limit of a [Narrower] holds it back. A wrapper goes first with what it has begun, and one that runs no
	// configuration twice does not run one of these again. It is a call like Ask and Tell: a replay makes it at the same
	// place.
	Give(configs []Config)
}

// A Narrower is a Searcher whose space can shrink under it, and grow back.
type Narrower interface {
	// Narrow limits further proposals to the admissible configurations for which keep holds; nil lifts the limit. It takes
	// the place of an earlier limit. What was proposed and learned before stays as it is, inside the limit or not. keep is
	// pure and holds for at least one admissible configuration; once every one of those was proposed, Ask returns ErrDone
	// as long as the limit stays.
	Narrow(keep func(Config) bool)
}

// A Cut is a removal of values of one parameter from the space of a study, or
// their return, because of what an earlier study learned.
type Cut struct {
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

// A Follower is a Stopper that decides by the curve of a running trial ([Measurement.Curve]), whether the goal's
// metric grows or not. It is asked once there is a point of it.
type Follower interface {
	Stopper
	// Follows reports whether it does: a wrapper has the method whatever it wraps.
	Follows() bool
}

// An Ender is a rule that ends a study: a pure function of the trials that have ended, in the order in which they did,
// and of what is left of the budget, as a multiple of what was spent: +Inf without a budget.
type Ender interface {
	// Enough reports whether going on is not worth it, and why, in words.
	Enough(history []Trial, left float64) (why string, enough bool)
	// Least is the gain, relative to the best value, that is worth going on for.
	Least() float64
}

// A RunID names one attempt at one run of a study. The same ID is the same run,
// however often it is sent, by whichever session of the study.
//
// An ID without an Attempt names no run: each job that has it is a run of its
// own, such as a command before or after a run. Its Study says whose it is.
type RunID struct {
	Study string `json:"study"`
	Trial int64  `json:"trial"` // of a run that repeats a trial: that trial
	// Repeat is the number of runs of the same configuration that the study
	// began before this one, further attempts at one run aside.
	Repeat  int `json:"repeat,omitempty"`
	Attempt int `json:"attempt"` // from 1
}

// A Job is one run of one configuration. It is data: it can be written as JSON,
// sent, and run by another process with the same outcome.
//
// Setup, Files, Service, Prepare, Cleanup, Warmup, Verify and Metrics belong to wrappers (run.WithSetup, run.WithFiles,
// run.WithHooks, run.WithVerify, run.Metrics), which stand beside what starts the processes and take out of a job what
// they have seen to. A Runner that starts processes ignores those fields; one that hands a job on, hands them on.
type Job struct {
	ID        RunID              // see [RunID]; zero for a run that is no part of a study
	Config    Config             // what is being run; carriers that run a command may ignore it
	Argv      []string           // the program and its arguments, never a shell line
	Env       []string           // "NAME=value", added to the runner's own environment
	Secrets   []string           // "NAME=env:VARIABLE" or "NAME=file:PATH", see below
	Dir       string             // working directory; "" means the runner's own
	Resources map[string]float64 // "cpus", "memory_B", "net_delay_s", ...
	Interval  time.Duration      // how often to observe; 0 means never
	Limit     time.Duration      // longest run; 0 means no limit
	Grace     time.Duration      // from SIGTERM to SIGKILL when ended; 0 means SIGKILL at once

	Prepare  []string       // command before the run, not measured; nil for none
	Cleanup  []string       // command after the run, not measured, whatever ended it; nil for none
	Warmup   int            // runs before the one that is measured
	Metrics  []MetricSource // what the program itself reports, see [MetricSource]
	Priority int            // of two jobs that wait, the one of greater Priority begins first

	Setup   *Setup   // made once for all jobs with the same one, before everything else; nil for none
	Service *Service // what runs beside it, after Prepare and before Cleanup; nil for none
	Files   []File   // written into Dir before Prepare; what was there is put back in the end
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
	// ErrLost says that the outcome of this attempt will never be known.
	ErrLost = Errorf(ClassLost, "the run was lost")
)

// A Queuer is a Runner whose runs may wait for long before they begin. The Limit of a [Job] is of the run alone, so
// that it does not keep such a run to what is left of a study's time: the study ends the context of Run then.
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
// A Runner may outlive its callers. Then Run of an ID that is running attaches to that run, Run of one that has ended
// returns its measurement, and a context whose cause is [ErrDetached] leaves the run alone. For any other Runner an ID
// only says whose the run is.
type Runner interface {
	// Run runs job until it ends, ctx is done, or job.Limit has passed, calling
	// observe (which may be nil) every job.Interval with the measurement so far.
	//
	// If ctx is done first, Run ends every process of the job before it returns the measurement so far and
	// context.Cause(ctx); likewise with ErrLimit if the limit has passed. A job that exits with a non-zero code is a
	// measurement, not an error, and so is one that fails beside its program, which Measurement.Failure tells; any other
	// error means that nothing was learned about the job. Run changes nothing that job refers to.
	Run(ctx context.Context, job Job, observe func(Measurement)) (Measurement, error)
}

// ErrSetup says that what a run needs could not be set up, whatever its configuration, such as a control group that may
// not be made: an error of a Runner that matches it ends the study. What another configuration may pass, such as a
// command before the run, is a [Failure] instead.
var ErrSetup = errors.New("a run could not be set up")

// A Clock tells the time of a study: the machine's, or a simulated one when recorded runs are replayed.
type Clock interface{ Now() time.Time }
