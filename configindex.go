package assay

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math"
)

// A ConfigIndex numbers configurations from 0 on, in the order in which they come. It takes a third of the memory of a
// map by their Keys, for those who hold thousands: their coordinates packed, and a table of their numbers by a hash.
// The zero value is an empty one. Several may read it at once, or one may add to it.
type ConfigIndex struct {
	bytes []byte
	ends  []uint32 // where the bytes of each configuration end
	// table has the number of a configuration plus 1 in the first place that was free, from the place of its hash on; 0 is
	// a free place. Its length is a power of two, and at least a quarter of it is free.
	table []int32
}

// hashOfRolls is the seed of all rolls of this process.
var hashOfRolls = maphash.MakeSeed()

// Len returns how many configurations there are.
func (r *ConfigIndex) Len() int { return len(r.ends) }

// Number returns the number of a configuration, which it adds if it is new.
func (r *ConfigIndex) Number(c Config) (n int, added bool) {
	if 4*(len(r.ends)+1) > 3*len(r.table) {
		r.grow()
	}
	var room [128]byte
	key := packKey(room[:0], c)
	at, found := r.find(key)
	if found {
		return int(r.table[at]) - 1, false
	}
	if len(r.bytes)+len(key) > math.MaxUint32 {
		panic("assay: a roll holds 4 GiB at most")
	}
	r.bytes = append(r.bytes, key...)
	r.ends = append(r.ends, uint32(len(r.bytes)))
	r.table[at] = int32(len(r.ends))
	return len(r.ends) - 1, true
}

// Find returns the number of a configuration; ok is false if it has none.
func (r *ConfigIndex) Find(c Config) (n int, ok bool) {
	if len(r.table) == 0 {
		return 0, false
	}
	var room [128]byte
	at, ok := r.find(packKey(room[:0], c))
	return int(r.table[at]) - 1, ok
}

// All returns the configurations in the order of their numbers.
func (r *ConfigIndex) All() iter.Seq2[int, Config] {
	return func(yield func(int, Config) bool) {
		for i := range r.ends {
			p := unpacker{bytes: r.key(i)}
			var c Config
			for len(p.bytes) > 0 {
				c = append(c, p.number())
			}
			if !yield(i, c) {
				return
			}
		}
	}
}

// key returns the bytes of a configuration.
func (r *ConfigIndex) key(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.bytes[from:r.ends[i]]
}

// find returns where the table has a configuration, or where it is free for it.
func (r *ConfigIndex) find(key []byte) (at int, found bool) {
	last := len(r.table) - 1
	for at = int(maphash.Bytes(hashOfRolls, key)) & last; r.table[at] != 0; at = (at + 1) & last {
		if bytes.Equal(r.key(int(r.table[at])-1), key) {
			return at, true
		}
	}
	return at, false
}

// grow doubles the table.
func (r *ConfigIndex) grow() {
	r.table = make([]int32, max(8, 2*len(r.table)))
	for i := range r.ends {
		at, _ := r.find(r.key(i))
		r.table[at] = int32(i + 1)
	}
}

// packKey appends the coordinates of a configuration so that equal ones, and only these, have equal bytes.
func packKey(b []byte, c Config) []byte {
	for _, x := range c {
		if x == 0 {
			x = 0 // -0 and 0 are equal
		}
		b = packNumber(b, x)
	}
	return b
}

// packNumber appends a value: an integer in the even numbers, or 1 and its bits.
func packNumber(b []byte, x float64) []byte {
	if n := int64(x); math.Abs(x) < 1<<30 && math.Float64bits(float64(n)) == math.Float64bits(x) {
		return binary.AppendVarint(b, 2*n)
	}
	return binary.LittleEndian.AppendUint64(binary.AppendVarint(b, 1), math.Float64bits(x))
}
