package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file reads the requirements of plans in the form that people write. Errors describe the wanted
// form and leave it to the caller to name the flag or the file.

// maxSlots bounds a number of slots that is asked for, so that sums of them fit an
// int everywhere.
const maxSlots = 1 << 30

// ParseSlots reads numbers of slots: "2,4,8"; "4..256" for every doubling from 4,
// and 256 itself; or a mix. The result ascends and repeats none. "" is nil, for
// [DefaultSlots].
func ParseSlots(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var out []int
	for field := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(field), "..")
		lo, err := strconv.Atoi(from)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(to)
		}
		if err != nil || lo < 1 || hi < lo || hi > maxSlots {
			return nil, errors.New("want numbers from 1, as 2,4,8 or 4..256")
		}
		for n := lo; n < hi; n *= 2 {
			out = append(out, n)
		}
		out = append(out, hi)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// DefaultSlots returns the doublings from 1 to the first that holds w's widest
// level, or to 256: more slots than tasks of a level make no level faster.
func DefaultSlots(w *Workflow) []int {
	width := 1
	for _, l := range Profile(w, nil, TopDown{}.Level(w.Graph, nil, 1)) {
		width = max(width, l.Tasks)
	}
	out := []int{1}
	for n := 2; n < 2*width && n <= 256; n *= 2 {
		out = append(out, n)
	}
	return out
}

// ParseLevelers reads the names of ways to count levels, with commas between them,
// see [Levelers]. The error names the ways there are.
func ParseLevelers(s string) ([]NamedLeveler, error) {
	var out []NamedLeveler
	all := Levelers()
	for name := range strings.SplitSeq(s, ",") {
		i := slices.IndexFunc(all, func(l NamedLeveler) bool { return l.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("%q: want tda, bua or slack", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// ParseMachines reads groups of equal machines, each as COUNTxCORES[:MEMORY]:
// "4x8:32GB" is four machines of eight cores and 32 GB. The text becomes the
// group's name.
func ParseMachines(specs []string) ([]MachineGroup, error) {
	var out []MachineGroup
	for _, s := range specs {
		g, ok := parseMachine(s)
		if !ok {
			return nil, fmt.Errorf("%q: want COUNTxCORES[:MEMORY], as 4x8:32GB", s)
		}
		out = append(out, g)
	}
	return out, nil
}

// parseMachine reads one group. It refuses a million or more machines, or cores of one, as a slip.
//
// ok is false for text that is not understood, with g filled in part.
func parseMachine(s string) (g MachineGroup, ok bool) {
	const most = 1e6
	head, memory, hasMemory := strings.Cut(s, ":")
	count, cores, ok := strings.Cut(head, "x")
	n, err1 := strconv.Atoi(count)
	c, err2 := strconv.ParseFloat(cores, 64)
	g = MachineGroup{Name: s, Count: n, Cores: c}
	if hasMemory {
		var read bool
		g.Memory, read = ParseBytes(memory)
		ok = ok && read
	}
	return g, ok && err1 == nil && err2 == nil && n >= 1 && n <= most && c > 0 && c <= most
}

// byteUnits are the units of an amount of data. B is last: the others end in it.
var byteUnits = []struct {
	name string
	size Bytes
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"PB", 1e15},
	{"B", 1},
}

// CutBytes returns s without its unit of data, and the size of this unit; 0 if it has none.
func CutBytes(s string) (number string, size Bytes) {
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			return n, u.size
		}
	}
	return s, 0
}

// ParseBytes reads an amount of memory with a decimal or binary unit, bytes
// without one.
//
// A negative amount is refused. Units are matched with their case of letters.
func ParseBytes(s string) (Bytes, bool) {
	size := 1.0
	if n, unit := CutBytes(s); unit > 0 {
		s, size = n, unit
	}
	x, err := ParseNumber(s)
	return x * size, err == nil
}
