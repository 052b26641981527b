package assay

import (
	"encoding/binary"
	"math"
	"slices"
)

// A Config is a configuration: one coordinate per parameter, in Space order. The coordinate of a Real or Integer
// parameter is its value; any other coordinate is the index of a level. A Config is never modified once it has been
// returned; change a [Config.Clone].
type Config []float64

// Clone returns a copy that the caller may change.
func (c Config) Clone() Config { return slices.Clone(c) }

// Equal reports whether c and d are the same point.
func (c Config) Equal(d Config) bool { return slices.Equal(c, d) }

// Key returns a compact string that is equal for equal configurations, for use
// as a map key. It is not for people.
func (c Config) Key() string {
	b := make([]byte, 0, 8*len(c))
	for _, x := range c {
		if x == 0 {
			x = 0 // -0 and 0 are equal
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return string(b)
}
