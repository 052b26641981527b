package prune

import (
	"fmt"

	"github.com/assay-run/assay"
)

// NewReuse returns inner with the simplest reuse of earlier studies, a baseline. After `after` trials, and whenever
// another study becomes the most similar one (see [Rank]), it proposes the best configuration of that study, unless it
// was proposed before. Its trials go to inner as observations if it is an Observer. It panics unless after is at least
// 3, the trials that a correlation needs.
func NewReuse(inner assay.Searcher, k *Knowledge, after int) *Transfer {
	if after < leastTrials {
		panic(fmt.Sprintf("prune: reuse after %d trials", after))
	}
	t := newTransfer(inner, k, TransferOptions{})
	t.after = after
	return t
}

// reuse returns the best configuration of the most similar study, nil if it is too early or it was proposed.
func (t *Transfer) reuse() assay.Config {
	// ended counts failed and censored trials too, which a correlation may lack: mostSimilar decides.
	if t.ended < t.after {
		return nil
	}
	at, _ := t.base.mostSimilar()
	if at < 0 {
		return nil
	}
	c := t.base.sources[at].best.Config
	if t.visited[c.Key()] || !t.base.space.Contains(c) {
		return nil
	}
	return c
}
