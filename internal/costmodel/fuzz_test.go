package costmodel

import (
	"math"
	"testing"
)

// A profile is read whole or refused.
func FuzzReadMachine(f *testing.F) {
	f.Add([]byte(`{"version":1,"attributes":{"cpu":4,"memory":8e9}}`), "cpus")
	f.Add([]byte(`{"version":1,"attributes":{"cpu":-1}}`), "cpu")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		m, err := ReadMachine(b)
		if err != nil {
			return
		}
		if x, ok := m.Attribute(name); ok && (!(x >= 0) || math.IsInf(x, 0)) {
			t.Errorf("%s is %v", name, x)
		}
	})
}
