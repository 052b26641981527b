package search

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/assay-run/assay"
)

// memoVersion is the version of the form of a memo.
//
// It grows with each change that an older reader would misread.
const memoVersion = 1

// A memo is the content of [assay.Resumer.Memo]: the steps P of some calls of Ask, one for each proposal, and the
// state S that they left.
//
// Invariant: the Calls add up to the Steps, and each is 1 at least; decodeMemo checks it. After counts the steps of
// the whole search, so that a reader finds the proposals without a memo.
type memo[P, S any] struct {
	Version int    `json:"v"`               // of this format
	Of      string `json:"of"`              // fingerprint of the searcher
	After   int64  `json:"after"`           // proposals that came before
	Calls   []int  `json:"calls,omitempty"` // steps of each call, at least 1; nil if all are of one call
	Steps   []P    `json:"steps"`           // of this memo, in order
	State   S      `json:"state"`           // after the last step
}

// end returns the number of proposals after the memo.
func (m *memo[P, S]) end() int64 { return m.After + int64(len(m.Steps)) }

// A resumed is the interface of a searcher to its [memoir]. A P and an S are written as JSON; a value that a memoir
// got must not be changed afterwards.
type resumed[P, S any] interface {
	// compute is Ask without a memoir, and returns a step for each proposal.
	compute(n int) ([]assay.Proposal, []P, error)
	// again makes the proposal of a step once more, without computing. It returns
	// ErrDone, and changes nothing, if the step cannot be the next one as things are:
	// then the call was one that ended with ErrDone.
	again(P) (assay.Proposal, error)
	// state returns the effects of the calls of Ask that again does not repeat.
	state() S
	// restore sets the state.
	restore(S)
	// valid returns an error if this searcher cannot have the step or the state, either of which may be nil.
	valid(*P, *S) error
}

// A memoir makes a searcher an [assay.Resumer]. It notes each step, and repeats recalled steps instead of computing
// them. A searcher that embeds none of its costs in Tell needs no more than
//
//	func (s *S) Ask(n int) ([]assay.Proposal, error) { return s.memoir.ask(s, s.last, n) }
//	func (s *S) Memo() []byte                        { return s.memoir.memo(s) }
//	func (s *S) Recall(memos [][]byte) error         { return s.memoir.recall(s, s.last, memos) }
//
// and the methods of [resumed]. Which calls of Ask belong to the steps does not depend on how many proposals each was
// asked for: a searcher that can have a memoir proposes the same in one call as in several without a result
// between them.
//
// A record may have memos for some of its proposals only, because the others were made by a searcher that wrote none:
// these are computed again.
type memoir[P, S any] struct {
	of       string       // fingerprint of the searcher
	fresh    memo[P, S]   // of the steps since the last memo, without their state
	recalled []memo[P, S] // not repeated yet; the first without the repeated part
}

// ask is [assay.Searcher.Ask] of r, which has made last proposals.
func (s *memoir[P, S]) ask(r resumed[P, S], last int64, n int) ([]assay.Proposal, error) {
	checkAsk(n)
	if len(s.recalled) > 0 {
		before := s.recalled[0].After - last
		if before <= 0 {
			return s.repeat(r, n)
		}
		n = int(min(int64(n), before))
	}
	ps, steps, err := r.compute(n)
	if len(steps) > 0 {
		// Steps of a memo follow one another without a gap.
		if s.fresh.end() != last { // the steps between were recalled
			s.fresh = memo[P, S]{After: last}
		}
		s.fresh.Steps = append(s.fresh.Steps, steps...)
		s.fresh.Calls = append(s.fresh.Calls, len(steps))
	}
	return ps, err
}

// repeat returns at most n proposals of the first of the calls that are recalled.
func (s *memoir[P, S]) repeat(r resumed[P, S], n int) ([]assay.Proposal, error) {
	m := &s.recalled[0]
	// A repeated call does not reach into the next one: there may have been trials in between.
	n = min(n, m.Calls[0])
	s.fresh = memo[P, S]{} // steps computed before will be computed again
	var ps []assay.Proposal
	for len(ps) < n {
		p, err := r.again(m.Steps[0])
		if err != nil {
			if len(ps) > 0 {
				err = fmt.Errorf("proposal %d of the memos cannot be made again: %w", m.After+1, err)
			}
			return nil, err
		}
		ps = append(ps, p)
		m.After, m.Steps = m.After+1, m.Steps[1:]
	}
	if m.Calls[0] -= n; m.Calls[0] == 0 {
		m.Calls = m.Calls[1:]
	}
	if len(m.Steps) == 0 {
		r.restore(m.State)
		s.recalled = s.recalled[1:]
	}
	return ps, nil
}

// memo is [assay.Resumer.Memo].
func (s *memoir[P, S]) memo(r resumed[P, S]) []byte {
	m := s.fresh
	if len(m.Steps) == 0 {
		return nil
	}
	// It is forgotten before it is encoded: a memo that cannot be written is not tried again.
	s.fresh = memo[P, S]{After: m.end()}
	m.Version, m.Of, m.State = memoVersion, s.of, r.state()
	if len(m.Calls) == 1 {
		m.Calls = nil
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil // a number that is not finite: without a memo it is computed again
	}
	return data
}

// recall is [assay.Resumer.Recall] of r, which has made last proposals. After an error
// nothing is recalled.
func (s *memoir[P, S]) recall(r resumed[P, S], last int64, memos [][]byte) error {
	if last > 0 || len(s.recalled) > 0 {
		return fmt.Errorf("memos come before all proposals, and once")
	}
	var all []memo[P, S]
	end := int64(0)
	for i, data := range memos {
		m, err := decodeMemo(r, s.of, data)
		if err == nil && m.After < end {
			err = fmt.Errorf("it covers proposals from %d on, and another one proposals up to %d", m.After+1, end)
		}
		if err != nil {
			return fmt.Errorf("memo %d of %d: %w", i+1, len(memos), err)
		}
		end = m.end()
		all = append(all, m)
	}
	s.recalled = all
	return nil
}

// decodeMemo returns the memo of r, whose fingerprint is of.
//
// It checks all that repeat relies on: a damaged memo is an error here and no panic later.
func decodeMemo[P, S any](r resumed[P, S], of string, data []byte) (m memo[P, S], err error) {
	if err := json.Unmarshal(data, &m); err != nil {
		return m, err
	}
	switch {
	case m.Version != memoVersion:
		return m, fmt.Errorf("it has version %d, and this is %d", m.Version, memoVersion)
	case m.Of != of:
		return m, fmt.Errorf("it belongs to a searcher with another space, seed or options")
	// 2^53 keeps After + Steps far from an overflow.
	case len(m.Steps) == 0 || m.After < 0 || m.After > 1<<53:
		return m, fmt.Errorf("%d proposals after %d", len(m.Steps), m.After)
	}
	if m.Calls == nil {
		m.Calls = []int{len(m.Steps)}
	}
	left := len(m.Steps)
	for _, n := range m.Calls {
		if n < 1 || n > left {
			return m, fmt.Errorf("calls of %v proposals, %d in all", m.Calls, len(m.Steps))
		}
		left -= n
	}
	if left > 0 {
		return m, fmt.Errorf("calls of %v proposals, %d in all", m.Calls, len(m.Steps))
	}
	for i := range m.Steps {
		if err := r.valid(&m.Steps[i], nil); err != nil {
			return m, fmt.Errorf("proposal %d: %w", m.After+int64(i)+1, err)
		}
	}
	return m, r.valid(nil, &m.State)
}

// fingerprint returns a hash of a space and of the other options of a searcher. Options that are zero leave it as it
// is, so that a new one does not change it. For pointers, functions and maps only the type counts.
func fingerprint(name string, space *assay.Space, options ...any) string {
	// A hash is enough against mistakes: it need not withstand an attack.
	h := fnv.New64a()
	write := func(v any) {
		describe(h, reflect.ValueOf(v))
		fmt.Fprint(h, ";")
	}
	write(name)
	write(space.Size().N)
	write(space.Listed())
	for _, p := range space.Params {
		write([]any{p.Name, uint8(p.Kind), p.Lo, p.Hi, p.Log, p.Step, p.Levels})
	}
	for _, r := range space.Relations {
		write(r.Text)
	}
	for _, o := range options {
		write(o)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// describe writes a value to w.
//
// Fields are written with their names and only if they are not zero, so that a fingerprint stays the same when an
// option is added.
func describe(w io.Writer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		return
	case reflect.Interface:
		describe(w, v.Elem())
	case reflect.Struct:
		fmt.Fprintf(w, "%v{", v.Type())
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				fmt.Fprintf(w, "%s:", v.Type().Field(i).Name)
				describe(w, v.Field(i))
				fmt.Fprint(w, ",")
			}
		}
		fmt.Fprint(w, "}")
	case reflect.Slice, reflect.Array:
		fmt.Fprint(w, "[")
		for i := range v.Len() {
			describe(w, v.Index(i))
			fmt.Fprint(w, ",")
		}
		fmt.Fprint(w, "]")
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.UnsafePointer:
		fmt.Fprint(w, v.Type())
	case reflect.String:
		fmt.Fprintf(w, "%q", v.String())
	default:
		fmt.Fprint(w, v) // the number that v holds
	}
}

// A randomState is the state of a [rand.PCG].
//
// It is the output of [rand.PCG.MarshalBinary].
type randomState []byte

// stateOf returns the state of pcg, which goes on by itself.
func stateOf(pcg *rand.PCG) randomState {
	s, _ := pcg.MarshalBinary() // its error is always nil
	return s
}

// set sets pcg to the state; valid reports beforehand whether it is one.
func (s randomState) set(pcg *rand.PCG) error { return pcg.UnmarshalBinary(s) }

// valid tries the state on a source that is thrown away.
func (s randomState) valid() error { return s.set(new(rand.PCG)) }

// orNaN reads the result of [assay.Finite] back: it returns NaN if x is nil.
func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// finites is finite of several; nil of none.
func finites(xs []float64) []*float64 {
	var out []*float64
	for _, x := range xs {
		out = append(out, assay.Finite(x))
	}
	return out
}

// orNaNs reads back the output of finites.
func orNaNs(xs []*float64) []float64 {
	var out []float64
	for _, x := range xs {
		out = append(out, orNaN(x))
	}
	return out
}

// validNumbers returns an error for a number beyond ±limit, or NaN.
func validNumbers(xs []float64, limit float64) error {
	if i := slices.IndexFunc(xs, func(x float64) bool { return !(math.Abs(x) <= limit) }); i >= 0 {
		return fmt.Errorf("number %d is %v", i+1, xs[i])
	}
	return nil
}
