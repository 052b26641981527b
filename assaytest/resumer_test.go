package assaytest

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// remembering is a correct Resumer around plain, one proposal a memo. The broken ones
// differ from it in one point.
type remembering struct {
	*plain
	pcg      *rand.PCG
	fresh    plainMemo
	recalled []plainMemo

	// Faults.
	loses, early, chatty, late, credulous, large bool
}

type plainMemo struct {
	After   int64 // proposals that came before
	Configs []assay.Config
	Next    int64
	Random  []byte
	Ballast []byte
}

func newRemembering(s *assay.Space) *remembering {
	r := &remembering{plain: newPlain(s), pcg: rand.NewPCG(3, 4)}
	r.rng = rand.New(r.pcg)
	return r
}

func (r *remembering) Ask(n int) ([]assay.Proposal, error) {
	if len(r.recalled) == 0 {
		ps, err := r.plain.Ask(n)
		for _, p := range ps {
			r.fresh.Configs = append(r.fresh.Configs, p.Config)
		}
		return ps, err
	}
	m := r.recalled[0]
	r.recalled = r.recalled[1:]
	var ps []assay.Proposal
	for _, c := range m.Configs {
		r.last++
		r.pending[r.last] = true
		r.visited[c.Key()] = true
		ps = append(ps, assay.Proposal{ID: r.last, Config: c})
	}
	r.next = m.Next
	_ = r.pcg.UnmarshalBinary(m.Random)
	if r.loses {
		r.pcg.Seed(5, 6)
	}
	if r.early {
		r.next++
	}
	if r.late {
		r.fresh.Configs = m.Configs
	}
	return ps, nil
}

func (r *remembering) Memo() []byte {
	if len(r.fresh.Configs) == 0 {
		return nil
	}
	r.fresh.Random, _ = r.pcg.MarshalBinary()
	r.fresh.Next = r.next
	r.fresh.After = r.last - int64(len(r.fresh.Configs))
	if r.large {
		r.fresh.Ballast = make([]byte, 2000)
	}
	data, _ := json.Marshal(r.fresh)
	if !r.chatty {
		r.fresh = plainMemo{}
	}
	return data
}

func (r *remembering) Recall(memos [][]byte) error {
	end := int64(0)
	for _, data := range memos {
		var m plainMemo
		if err := json.Unmarshal(data, &m); (err != nil || m.Configs == nil || m.After < end) && !r.credulous {
			return errors.New("no memo of this searcher")
		}
		end = m.After + int64(len(m.Configs))
		r.recalled = append(r.recalled, m)
	}
	return nil
}

// Each fault of a Resumer is found, and a correct one has none. It is one that needs
// all of its memos.
func TestResumerFindsFaults(t *testing.T) {
	cases := []searcherCase{
		{"Resume", "", func(b searcherBench) error {
			return b.record(b.opts.Trials, 1, true, func(int) bool { return true })
		}},
		{"Recall", "", searcherRecall},
	}
	spaces := slices.DeleteFunc(searcherSpaces(), func(s searcherSpace) bool {
		return s.name != "relations" && s.name != "reals"
	})
	for _, c := range []struct {
		fault string
		build func(*remembering)
		want  []string
	}{
		{"none", func(*remembering) {}, nil},
		{"loses the random state", func(r *remembering) { r.loses = true }, []string{"Resume"}},
		{"moves on", func(r *remembering) { r.early = true }, []string{"Resume"}},
		{"has the memo again", func(r *remembering) { r.chatty = true }, []string{"Resume", "Recall"}},
		{"has memos of what was recalled", func(r *remembering) { r.late = true }, []string{"Resume"}},
		{"recalls garbage", func(r *remembering) { r.credulous = true }, []string{"Recall"}},
		{"large memos", func(r *remembering) { r.large = true }, []string{"Resume"}},
	} {
		got := breaches(cases, spaces, func(s *assay.Space) assay.Searcher {
			r := newRemembering(s)
			c.build(r)
			return r
		}, SearcherOptions{})
		for _, name := range c.want {
			if !slices.Contains(got, name) {
				t.Errorf("%s: found by %v, want %s", c.fault, got, name)
			}
		}
		if len(c.want) == 0 && len(got) > 0 {
			t.Errorf("%s: found by %v", c.fault, got)
		}
	}
}
