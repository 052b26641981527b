package assaytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// TestResumer checks the promises of an [assay.Resumer], or of one that newSearcher wraps, beyond [TestSearcher], of
// which it is a part: a long run with interruptions in the spaces of the suite. It fails for a searcher that is no
// Resumer.
func TestResumer(t *testing.T, newSearcher func(*assay.Space) assay.Searcher, opts SearcherOptions) {
	t.Helper()
	testSearcherCases(t, append([]searcherCase{{"Resumer", "it is an assay.Resumer", func(b searcherBench) error {
		if _, ok := resumer(b.build(b.space)); !ok {
			return fmt.Errorf("no searcher in the chain is a Resumer")
		}
		return nil
	}}}, resumerCases...), newSearcher, opts)
}

var resumerCases = []searcherCase{
	{
		"Resume", "a Resumer that recalls its memos repeats its proposals, and goes on as if it had not been " +
			"interrupted", searcherResume,
	},
	{"Recall", "a Resumer has one memo of each Ask, and refuses invalid memos", searcherRecall},
}

// A searcherCall is one recorded call: the results of an Ask and the memo after it, or the trials of a Tell.
type searcherCall struct {
	n     int // of an Ask; otherwise 0
	asked []assay.Proposal
	memo  []byte
	told  []assay.Trial
}

// A recorder runs a searcher as the loop of a study does: it keeps the proposals of each Ask, if any, and the memo
// after it.
type recorder struct {
	searcherBench
	s           assay.Searcher
	calls       []searcherCall
	outstanding []assay.Proposal
	proposals   []assay.Proposal
	done        bool
	memoBytes   int
}

// resumer returns the Resumer among the wrappers of s.
func resumer(s assay.Searcher) (assay.Resumer, bool) { return assay.As[assay.Resumer](s) }

func (r *recorder) ask(n int) error {
	ps, err := r.s.Ask(n)
	if r.done = err == assay.ErrDone; err != nil && !r.done {
		return err
	}
	if len(ps) == 0 {
		return nil
	}
	re, _ := resumer(r.s)
	c := searcherCall{n: n, asked: ps, memo: re.Memo()}
	r.calls = append(r.calls, c)
	r.memoBytes += len(c.memo)
	r.outstanding = append(r.outstanding, ps...)
	r.proposals = append(r.proposals, ps...)
	return nil
}

func (r *recorder) tell(i int, t assay.Trial) error {
	r.outstanding = slices.Delete(r.outstanding, i, i+1)
	r.calls = append(r.calls, searcherCall{told: []assay.Trial{t}})
	return r.s.Tell(t)
}

// resumed returns a new searcher to which the recorded calls were repeated. It gets the memos for which keep holds, by
// number of the call.
func (r *recorder) resumed(keep func(call int) bool) (assay.Searcher, error) {
	s := r.build(r.space)
	re, ok := resumer(s)
	if !ok {
		return nil, fmt.Errorf("a searcher is a Resumer, and another like it is not")
	}
	var memos [][]byte
	for i, c := range r.calls {
		if c.memo != nil && keep(i) {
			memos = append(memos, slices.Clone(c.memo))
		}
	}
	if err := re.Recall(memos); err != nil {
		return nil, fmt.Errorf("recalling %d memos: %w", len(memos), err)
	}
	for i, c := range r.calls {
		if c.n == 0 {
			if err := s.Tell(c.told...); err != nil {
				return nil, fmt.Errorf("call %d, Tell of trial %d: %w", i, c.told[0].ID, err)
			}
			continue
		}
		ps, err := s.Ask(c.n)
		if err != nil {
			return nil, fmt.Errorf("call %d, Ask(%d): %w", i, c.n, err)
		}
		if err := equal(r.space, ps, c.asked); err != nil {
			return nil, fmt.Errorf("call %d, Ask(%d) of the resumed searcher: %w", i, c.n, err)
		}
	}
	return s, nil
}

// equal returns an error unless the proposals are the same.
func equal(space *assay.Space, got, want []assay.Proposal) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d proposals, want %d", len(got), len(want))
	}
	for i, p := range got {
		if q := want[i]; p.ID != q.ID || !p.Config.Equal(q.Config) {
			return fmt.Errorf("proposal %d is %s, want %d, %s", p.ID, space.Text(p.Config), q.ID, space.Text(q.Config))
		}
	}
	return nil
}

// result is a trial of p in one state or another.
func (r *recorder) result(p assay.Proposal, rng *rand.Rand) assay.Trial {
	t := r.finished(p)
	switch rng.IntN(8) {
	case 0:
		t.State = assay.Censored
	case 1:
		t.State, t.Value, t.Measurement.Metrics = assay.Failed, math.Inf(1), nil
	}
	return t
}

// record makes about n proposals, in calls of 1 to 4, and reports trials in a random order. At random it is resumed,
// with the memos that keep chooses, and continues with the resumed searcher if swap holds. A searcher without
// interruption runs beside it.
func (b searcherBench) record(n int, seed uint64, swap bool, keep func(call int) bool) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := &recorder{searcherBench: b, s: b.build(b.space)}
	whole := b.build(b.space) // never resumed, and its memos are not read
	for call := 0; call < 6*n && len(r.proposals) < n && !(r.done && len(r.outstanding) == 0); call++ {
		if rng.IntN(n/4+1) == 0 {
			s, err := r.resumed(keep)
			if err != nil {
				return fmt.Errorf("after %d calls: %w", len(r.calls), err)
			}
			if re, _ := resumer(s); re.Memo() != nil && keep(-1) {
				return fmt.Errorf("after %d calls were repeated there is a memo of new ones", len(r.calls))
			}
			if swap {
				r.s = s
			}
		}
		if len(r.outstanding) > 0 && rng.IntN(5) < 3 {
			i := rng.IntN(len(r.outstanding))
			t := r.result(r.outstanding[i], rng)
			if err := r.tell(i, t); err != nil {
				return err
			}
			if err := whole.Tell(t); err != nil {
				return err
			}
			continue
		}
		k, had := 1+rng.IntN(4), len(r.proposals)
		if err := r.ask(k); err != nil {
			return err
		}
		ps, err := whole.Ask(k)
		if err != nil && err != assay.ErrDone {
			return err
		}
		if err := equal(b.space, r.proposals[had:], ps); err != nil {
			return fmt.Errorf("resumed: %v, want the same as without interruption", err)
		}
	}
	if most := 600 * (len(r.proposals) + 1); r.memoBytes > most {
		return fmt.Errorf("%d bytes of memos for %d proposals", r.memoBytes, len(r.proposals))
	}
	return nil
}

func searcherResume(b searcherBench) error {
	if _, ok := resumer(b.build(b.space)); !ok {
		return nil
	}
	all := func(int) bool { return true }
	for seed := range uint64(2) {
		if err := b.record(b.opts.Trials, seed, true, all); err != nil {
			return err
		}
	}
	// The memos of the first calls are missing, or some in the middle.
	for _, keep := range []func(int) bool{
		func(call int) bool { return call > b.opts.Trials/3 },
		func(call int) bool { return call >= 0 && call/5%2 == 0 },
	} {
		if err := b.record(b.opts.Trials/2, 3, false, keep); err != nil {
			return fmt.Errorf("with some of the memos: %w", err)
		}
	}
	return nil
}

func searcherRecall(b searcherBench) error {
	one := b.build(b.space)
	re, ok := resumer(one)
	if !ok {
		return nil
	}
	if m := re.Memo(); m != nil {
		return fmt.Errorf("there is a memo before any Ask")
	}
	if err := re.Recall(nil); err != nil {
		return fmt.Errorf("no memos to recall: %w", err)
	}
	var memo []byte
	for range 8 { // the first proposals may come from a wrapper
		if _, err := one.Ask(1); err != nil {
			return err
		}
		if memo = re.Memo(); memo != nil {
			break
		}
	}
	if memo == nil {
		return fmt.Errorf("there is no memo after 8 Asks")
	}
	if again := re.Memo(); again != nil {
		return fmt.Errorf("there is a second memo of the same Asks")
	}
	for _, memos := range [][][]byte{
		{nil}, {{}}, {[]byte("{")}, {[]byte("null")}, {[]byte("garbage")}, {memo[:len(memo)-1]}, {memo, memo},
	} {
		two, _ := resumer(b.build(b.space))
		if err := two.Recall(memos); err == nil {
			return fmt.Errorf("memos %q can be recalled", memos)
		}
	}
	return nil
}
