package prune

import "testing"

// A memo is recalled, or refused: it never leaves a searcher that cannot go on.
func FuzzTransferMemo(f *testing.F) {
	space := grid()
	build := func() *Transfer {
		return NewTransfer(quick(space), knowledge(space), TransferOptions{Seed: 1})
	}
	one := build()
	must(one.Ask(4))
	f.Add(one.Memo())
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := build(); s.Recall([][]byte{b}) != nil {
			return
		}
		m, err := one.decode(b)
		if err != nil || len(m.Calls) == 0 {
			t.Errorf("recalled, and cannot be read: %v", err)
		}
	})
}
