package workflow

import "hash/maphash"

// names numbers strings in the order in which they are first seen. It is a hash
// table with linear probing whose entries are a number and half a hash: a Go
// map from string spends several times as long in growing and in being scanned
// by the garbage collector when there are millions. The zero value is empty.
type names struct {
	seed maphash.Seed // of the table's layout; numbers do not depend on it
	// Invariant: the length is 0 or a power of two, so that a mask takes the place of a remainder.
	table []uint64 // 0 for an empty place, or hash<<32 | number+1
	// by number; these are copies, so that the caller may reuse its bytes
	said []string
}

// find returns the number of s, or -1.
//
// An empty place is 0, which gives -1.
func (n *names) find(s []byte) int32 {
	if len(n.table) == 0 {
		return -1
	}
	at, _ := n.place(s)
	return int32(uint32(n.table[at])) - 1
}

// number returns the number of s, which is given one if it is new.
//
// The table is at most half full, for two reasons: probes stay short, and place ends, since there
// is an empty place. There are fewer than 2³¹ strings.
func (n *names) number(s []byte) (i int32, isNew bool) {
	if 2*len(n.said) >= len(n.table) {
		n.grow()
	}
	at, hash := n.place(s)
	if e := n.table[at]; e != 0 {
		return int32(uint32(e)) - 1, false
	}
	n.said = append(n.said, string(s))
	n.table[at] = hash<<32 | uint64(len(n.said))
	return int32(len(n.said)) - 1, true
}

// place returns the index of s in the table, or of its free place, and half its hash.
//
// The table must not be empty. Half a hash distinguishes most strings without comparing them.
func (n *names) place(s []byte) (at int, half uint64) {
	half = maphash.Bytes(n.seed, s) >> 32
	mask := len(n.table) - 1
	// Invariant: s is at none of the places from its first to at, which are
	// not empty.
	for at = int(half) & mask; ; at = (at + 1) & mask {
		e := n.table[at]
		if e == 0 || e>>32 == half && n.said[uint32(e)-1] == string(s) {
			return at, half
		}
	}
}

// grow makes room for as many strings as there are.
//
// The strings are not hashed again: half a hash is enough for a table of up to 2³² places.
func (n *names) grow() {
	if len(n.table) == 0 {
		n.seed = maphash.MakeSeed()
	}
	old := n.table
	n.table = make([]uint64, max(64, 2*len(old)))
	mask := len(n.table) - 1
	for _, e := range old {
		if e == 0 {
			continue
		}
		at := int(e>>32) & mask
		for n.table[at] != 0 {
			at = (at + 1) & mask
		}
		n.table[at] = e
	}
}
