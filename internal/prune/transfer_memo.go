package prune

import (
	"encoding/json"
	"fmt"

	"github.com/assay-run/assay"
)

// A memo is written so that a resumed search need not fit its blends and forests once more: it names the configurations
// that the Transfer proposed. The configurations from inner follow from inner, which repeats its proposals, from its
// own memo if it has one.
//
// transferVersion grows with each change that an older reader would misread.
const transferVersion = 1 // of the form of a memo

// A transferMemo is the content of [Transfer.Memo] for some calls of Ask.
//
// Memos of one study are in the order of their proposals and do not overlap. Between two memos there may be proposals
// without a memo, which are computed again.
type transferMemo struct {
	Version int            `json:"v"`               // of this format
	Of      string         `json:"of"`              // fingerprint of the searcher
	After   int64          `json:"after"`           // proposals that came before
	Calls   []transferCall `json:"calls"`           // in order
	Inner   []byte         `json:"inner,omitempty"` // memo of the inner searcher; nil if it has none
}

// A transferCall is a call of Ask that returned proposals.
//
// Ended orders the call among the results: repeated before as many trials were reported, it would ask inner in another
// state than the first time.
type transferCall struct {
	Ended int            `json:"ended"` // trials that were known before
	Ours  []assay.Config `json:"ours"`  // by proposal; nil where it is inner's
}

// size returns the number of proposals of a memo.
func (m *transferMemo) size() (n int64) {
	for _, c := range m.Calls {
		n += int64(len(c.Ours))
	}
	return n
}

// fingerprint identifies the search to which the memos of a Transfer belong.
//
// It is text and no hash, so that the error for a memo that does not fit can show both. It has only the number of the
// studies: configurations that other studies would have proposed are still valid.
func (t *Transfer) fingerprint() string {
	return fmt.Sprintf("transfer of %d studies, %d parameters, %d first, after %d, seed %d",
		len(t.base.sources), t.base.space.Dim(), t.opts.First, t.after, t.opts.Seed)
}

// Memo implements [assay.Resumer]. With its own proposals it has the memo of inner, if inner is a Resumer.
//
// Returned proposals are forgotten here: the next memo begins after them. A lost memo only costs the computing time of
// its proposals.
func (t *Transfer) Memo() []byte {
	if len(t.fresh) == 0 {
		return nil
	}
	m := transferMemo{Version: transferVersion, Of: t.fingerprint(), Calls: t.fresh}
	// fresh has the latest proposals without a gap: repeat drops it when it makes proposals of its own.
	m.After = t.asked.Last() - m.size()
	if r, ok := assay.As[assay.Resumer](t.inner); ok {
		m.Inner = r.Memo()
	}
	t.fresh = nil
	data, err := json.Marshal(m)
	if err != nil {
		return nil // a number that is not finite: without a memo it is computed again
	}
	return data
}

// Recall implements [assay.Resumer].
//
// After an error in a memo of the Transfer nothing is recalled, neither here nor by inner: all memos are decoded before
// inner's Recall. After an error of inner nothing is recalled here.
func (t *Transfer) Recall(memos [][]byte) error {
	if t.asked.Last() > 0 || len(t.recalled) > 0 {
		return fmt.Errorf("memos come before all proposals, and once")
	}
	var all []transferMemo
	var inner [][]byte
	end := int64(0)
	for i, data := range memos {
		m, err := t.decode(data)
		if err == nil && m.After < end {
			err = fmt.Errorf("it stands for proposals from %d on, and another for those up to %d", m.After+1, end)
		}
		if err != nil {
			return fmt.Errorf("memo %d of %d: %w", i+1, len(memos), err)
		}
		end = m.After + m.size()
		all = append(all, m)
		if m.Inner != nil {
			inner = append(inner, m.Inner)
		}
	}
	if r, ok := assay.As[assay.Resumer](t.inner); ok {
		if err := r.Recall(inner); err != nil {
			return err
		}
	} else if len(inner) > 0 {
		return fmt.Errorf("%d memos are of a searcher inside that has none", len(inner))
	}
	t.recalled = all
	return nil
}

// decode reads a memo and checks the assumptions of repeat: the version, the fingerprint, at least one proposal in each
// call, and configurations of the space. The bound 1<<53 keeps sums of After far from an overflow, and is the limit of
// exact integers for float64 readers of the JSON.
func (t *Transfer) decode(data []byte) (m transferMemo, err error) {
	if err := json.Unmarshal(data, &m); err != nil {
		return m, err
	}
	switch {
	case m.Version != transferVersion:
		return m, fmt.Errorf("it has version %d, and this is %d", m.Version, transferVersion)
	case m.Of != t.fingerprint():
		return m, fmt.Errorf("it is of a %s, not of a %s", m.Of, t.fingerprint())
	case len(m.Calls) == 0 || m.After < 0 || m.After > 1<<53:
		return m, fmt.Errorf("%d calls after %d proposals", len(m.Calls), m.After)
	}
	for _, call := range m.Calls {
		if len(call.Ours) == 0 || call.Ended < 0 {
			return m, fmt.Errorf("a call of %d proposals after %d trials", len(call.Ours), call.Ended)
		}
		for _, c := range call.Ours {
			if c == nil {
				continue
			}
			if err := t.base.space.Check(c); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// repeat makes at most n proposals of the first recalled call once more.
//
// It changes the first memo in place by its progress, so that a call of ten proposals may be repeated by ten calls of
// one.
//
// An error leaves the proposals of this call outstanding. The search cannot continue then: the record is not of this
// searcher.
func (t *Transfer) repeat(n int) ([]assay.Proposal, error) {
	m := &t.recalled[0]
	call := &m.Calls[0]
	if call.Ended > t.ended {
		// The call was made later, and inner had nothing when it was asked here.
		ps, err := t.inner.Ask(1)
		if len(ps) > 0 {
			return nil, fmt.Errorf("proposal %d of the memos was made after %d trials, and there are %d",
				t.asked.Last()+1, call.Ended, t.ended)
		}
		return nil, err
	}
	t.fresh = nil // results computed before will be computed again
	var ps []assay.Proposal
	for len(ps) < n && len(call.Ours) > 0 {
		c := call.Ours[0]
		first := t.after == 0 && len(t.base.sources) > 0 && t.offering()
		if c != nil {
			if first {
				t.spread = t.left(c)
			}
			ps = append(ps, t.propose(c, 0))
		} else {
			more, err := t.inner.Ask(1)
			if err == nil && len(more) == 0 {
				err = fmt.Errorf("no proposal")
			}
			if err != nil {
				return nil, fmt.Errorf("proposal %d of the memos, from the searcher inside: %w", t.asked.Last()+1, err)
			}
			if first {
				t.made = t.opts.First
			}
			ps = append(ps, t.propose(more[0].Config, more[0].ID))
		}
		call.Ours = call.Ours[1:]
		m.After++
	}
	if len(call.Ours) == 0 {
		if m.Calls = m.Calls[1:]; len(m.Calls) == 0 {
			t.recalled = t.recalled[1:]
		}
	}
	return ps, nil
}
