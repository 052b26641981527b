package prior

import (
	"os"
	"testing"
)

// An index that is not whole knows nothing wrong: its entries have names and parameters of its own.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"version":1,"spaces":[[{"name":"a","kind":"integer","lo":1,"hi":3}]],` +
		`"studies":[{"name":"s","space":0}]}`))
	f.Add([]byte(`{"version":1,"studies":[null]}`))
	f.Add([]byte(`{"version":1,"studies":[{"space":-1}]}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		kb := &Base{dir: dir, studies: map[string]*entry{}}
		if err := os.WriteFile(kb.indexFile(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, k := range kb.readIndex() {
			if k == nil || k.Name != name || k.Space >= len(kb.spaces) {
				t.Errorf("%q: %+v", name, k)
			}
		}
	})
}
