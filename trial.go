package assay

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Measurement is the passive instrumentation of one run, so far. All metrics are in base units: seconds, bytes,
// joules, watts.
type Measurement struct {
	// Began is when the run left the queue, from where its limit counts; zero if
	// it did not wait in one.
	Began time.Time `json:"began,omitzero"`
	// Worker made the run and MachineClass is its class of machines. Both are "" for a run on the machine of the loop.
	// The code that carries runs to workers sets them.
	Worker       string             `json:"where,omitempty"`
	MachineClass string             `json:"class,omitempty"`
	Elapsed      time.Duration      `json:"elapsed_ns"`
	ExitCode     int                `json:"exit_code"`        // 128+n if signal n ended the run
	Signal       string             `json:"signal,omitempty"` // the signal that ended the run, or ""
	Metrics      map[string]float64 `json:"metrics,omitempty"`
	// Curve is the reported series of the metric that the run is followed by; nil without reports.
	Curve *Curve `json:"curve,omitempty"`
	// Missing is the reason, for each metric that the run should have reported, why it was not measured.
	Missing map[string]string `json:"missing,omitempty"`
	// Failure is the failure of a run, or around it; nil if nothing failed except possibly the program itself: see
	// ExitCode.
	Failure *Failure `json:"failure,omitempty"`
	// Stdout and Stderr are the kept output; see the runner for its cap and the mark of a cut. They are not part of the
	// record or the JSON: the sender of a measurement sends the needed output separately.
	Stdout, Stderr []byte `json:"-"`
}

// A Failure names the step at which a run failed, and holds the last output. It is for people: the output of a program
// is data, and never read back.
type Failure struct {
	Step   string   `json:"step"`             // "prepare", "run", "cleanup", ...: see run.WithHooks
	Reason string   `json:"reason"`           // in one line
	Output []string `json:"output,omitempty"` // the last lines that it printed; see [LastLines]
}

// maxOutput is how many lines of each stream a [Failure] has.
const maxOutput = 8

// NewFailure returns a Failure with the last lines of the output, followed by the last lines of the error output, which
// most often contain the cause.
func NewFailure(step, reason string, stdout, stderr []byte) *Failure {
	lines := append(LastLines(stdout, maxOutput), LastLines(stderr, maxOutput)...)
	return &Failure{Step: step, Reason: reason, Output: lines}
}

// Metric returns the metric of that name and whether it was measured.
func (m Measurement) Metric(name string) (float64, bool) {
	if x, ok := m.Metrics[name]; ok {
		return x, true
	}
	switch name {
	case "elapsed":
		return m.Elapsed.Seconds(), true
	case "exit_code":
		return float64(m.ExitCode), true
	}
	return 0, false
}

// State is the state of a trial. A trial never leaves a final state.
type State uint8

const (
	Running    State = iota
	Done             // ran to the end; Value is exact
	Censored         // stopped early; the true value is at least Value, but see [Decision.Last]
	Failed           // the program failed, or its objective could not be measured; Value is +Inf
	Infeasible       // ran to the end, Value is exact, but a limit of the goal is broken
	// Withdrawn is the state of a trial that a person or a service took back
	// before anything was learned from it: never run, or cut off; Value is +Inf.
	// It counts as never proposed: its configuration may be proposed again, and
	// it uses up nothing of a budget of trials.
	Withdrawn
)

var stateNames = [...]string{"running", "done", "censored", "failed", "infeasible", "withdrawn"}

// String returns the state's name as it is printed and stored.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// States returns all states, [Running] first.
func States() []State {
	all := make([]State, len(stateNames))
	for i := range all {
		all[i] = State(i)
	}
	return all
}

// Final reports whether a trial in this state has ended.
func (s State) Final() bool { return s != Running }

// MarshalText implements [encoding.TextMarshaler].
func (s State) MarshalText() ([]byte, error) {
	if int(s) >= len(stateNames) {
		return nil, fmt.Errorf("unknown state %d", uint8(s))
	}
	return []byte(s.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *State) UnmarshalText(text []byte) error {
	for i, n := range stateNames {
		if n == string(text) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("unknown state %q", text)
}

// A Proposal is a configuration that a Searcher wants to see run.
// ID is unique within the study and counts up from 1. Two proposals may have the same
// configuration: they are two runs of it.
type Proposal struct {
	ID     int64  `json:"id"`
	Config Config `json:"config"`
}

// A Trial is one run of a proposal, from when it is proposed to its final state. A
// Stopper sees one that runs, with Value and Measurement so far.
type Trial struct {
	Proposal
	State State
	// Value is the objective, which is minimized; see [Goal.Value] for the sign of a maximized metric, and State for its
	// meaning.
	Value float64
	// Values are the values of all objectives of a goal with several, to be minimized, with Value as the first; nil with
	// one objective, or without a value. They follow from Measurement and the goal, and are not part of the record:
	// search.Values sets them for a Searcher.
	Values      []float64
	Measurement Measurement
	Reason      string    // why the trial was stopped, failed or is infeasible, for people
	Decision    *Decision // the basis of an early stop, or of an audit; nil otherwise
	Attempts    int       // runs it took; more than 1 if the outcome of some is unknown
	Started     time.Time
	Ended       time.Time
}

// Stopped reports whether a stopping rule ended the trial, and not a limit of time.
func (t Trial) Stopped() bool { return t.State == Censored && t.Decision != nil && t.Decision.Stop }

// trialJSON is the stored form of a Trial: JSON has no infinity, so a value
// that is not finite is left out, and read back as +Inf.
type trialJSON struct {
	Proposal
	State       State       `json:"state"`
	Value       *float64    `json:"value,omitempty"`
	Measurement Measurement `json:"measurement"`
	Reason      string      `json:"reason,omitempty"`
	Decision    *Decision   `json:"decision,omitempty"`
	Attempts    int         `json:"attempts,omitempty"`
	Started     time.Time   `json:"started"`
	Ended       time.Time   `json:"ended"`
}

// MarshalJSON implements [json.Marshaler].
func (t Trial) MarshalJSON() ([]byte, error) {
	j := trialJSON{
		t.Proposal, t.State, Finite(t.Value), t.Measurement, t.Reason, t.Decision, t.Attempts, t.Started,
		t.Ended,
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Trial) UnmarshalJSON(b []byte) error {
	var j trialJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*t = Trial{
		Proposal: j.Proposal, State: j.State, Value: math.Inf(1), Measurement: j.Measurement, Reason: j.Reason,
		Decision: j.Decision, Attempts: j.Attempts, Started: j.Started, Ended: j.Ended,
	}
	if j.Value != nil {
		t.Value = *j.Value
	}
	return nil
}

// Finite returns x for JSON, which has no infinity and no NaN: nil for those.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// A Decision is whether to stop a running trial, and why.
type Decision struct {
	Stop bool
	// Audited means that the rule would stop the trial, but lets it continue to its end, to check the decision. Then Stop
	// is false.
	Audited bool
	Reason  string
	// Predicted is the predicted final value, or NaN if the rule predicts none.
	Predicted float64
	// At is how long the trial had run when the decision was made; set by the loop.
	At time.Duration
	// Last means that the value of the stopped trial is the last report of a metric that may fall again: it is not a bound
	// of the true value, which is predicted to be no better than the best of the time.
	Last bool
}

type decisionJSON struct {
	Stop      bool          `json:"stop"`
	Audited   bool          `json:"audited,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Predicted *float64      `json:"predicted,omitempty"`
	At        time.Duration `json:"at_ns"`
	Last      bool          `json:"last,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (d Decision) MarshalJSON() ([]byte, error) {
	return json.Marshal(decisionJSON{d.Stop, d.Audited, d.Reason, Finite(d.Predicted), d.At, d.Last})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Decision) UnmarshalJSON(b []byte) error {
	var j decisionJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*d = Decision{j.Stop, j.Audited, j.Reason, math.NaN(), j.At, j.Last}
	if j.Predicted != nil {
		d.Predicted = *j.Predicted
	}
	return nil
}

// Best returns the trial that ran to the end within the limits (State Done) with the least value; the earliest of
// equals. ok is false if no such trial exists.
func Best(trials []Trial) (best Trial, ok bool) {
	best.Value = math.Inf(1)
	for _, t := range trials {
		if t.State == Done && t.Value < best.Value {
			best, ok = t, true
		}
	}
	return best, ok
}

// Dominates reports whether a is at least as good as b in every objective, and better in one. Less
// is better, and both have a value for each objective.
func Dominates(a, b []float64) bool {
	better := false
	for i, x := range a {
		if x > b[i] {
			return false
		}
		better = better || x < b[i]
	}
	return better
}

// Front returns the indices of the points that no other one dominates, in order of their first
// coordinates; of equal points the earliest alone. Points without coordinates are passed over.
func Front(points [][]float64) []int {
	var front []int
	for i, p := range points {
		if len(p) == 0 {
			continue
		}
		beaten := slices.ContainsFunc(front, func(k int) bool {
			return Dominates(points[k], p) || slices.Equal(points[k], p)
		})
		if beaten {
			continue
		}
		front = slices.DeleteFunc(front, func(k int) bool { return Dominates(p, points[k]) })
		front = append(front, i)
	}
	slices.SortStableFunc(front, func(a, b int) int { return slices.Compare(points[a], points[b]) })
	return front
}

// ErrLimit is the cause of a run that was ended by its own time limit
// ([Job.Limit]).
var ErrLimit = errors.New("time limit reached")

// LastWords returns ": " and the last line of a run's error output, or of its output if the error output is empty; ""
// if both are. Programs most often print the cause of their end last.
func (m Measurement) LastWords() string {
	for _, output := range [][]byte{m.Stderr, m.Stdout} {
		if line := LastLine(output); line != "" {
			return ": " + line
		}
	}
	return ""
}
