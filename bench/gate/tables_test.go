package gate

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// A source is a made-up program. Its time is how many seconds a run takes with the levels
// at these places of its parameters.
type source struct {
	name   string
	seed   uint64 // of the noise
	sparse int    // one configuration of so many is recorded
	params []param
	time   func(at []int, rng *rand.Rand) float64
}

type param struct {
	name   string
	levels []string
}

func flags(names ...string) []param {
	var ps []param
	for _, n := range names {
		ps = append(ps, param{n, []string{"off", "on"}})
	}
	return ps
}

// powers is a parameter of n sizes, each twice the one before.
func powers(name string, first, n int) param {
	p := param{name: name}
	for k := range n {
		p.levels = append(p.levels, strconv.Itoa(first<<k))
	}
	return p
}

// noise is the factor of a run by log-normal noise of that standard deviation.
func noise(rng *rand.Rand, std float64) float64 { return math.Exp(std * rng.NormFloat64()) }

// on is 1 if all the flags at these places are on.
func on(at []int, places ...int) float64 {
	for _, p := range places {
		if at[p] == 0 {
			return 0
		}
	}
	return 1
}

func square(x float64) float64 { return x * x }

// sources are the programs of the four tables. Each is hard in a way of its own.
func sources() []source {
	return []source{
		{
			// Flags of a compiler, of which a thirtieth was recorded: main effects, some of
			// which another flag undoes.
			"flags", 1, 30,
			flags("inline", "unroll", "vector", "alias", "merge", "hoist", "sink", "peel", "fuse", "align",
				"split", "fold", "strip", "cache", "order"),
			func(at []int, rng *rand.Rand) float64 {
				x := 0.0
				for k, main := range []float64{
					-0.35, -0.12, -0.22, 0.05, 0.08, -0.06, 0.15, -0.02, 0.03, 0.30, -0.18, 0.22, 0.10, -0.28, 0.12,
				} {
					x += main * float64(at[k])
				}
				x += 0.30*on(at, 0, 1) - 0.25*on(at, 2, 3) - 0.20*on(at, 3, 8) + 0.12*on(at, 5, 7) -
					0.25*on(at, 1, 4, 8) + 0.20*on(at, 10, 13)
				return 20 * math.Exp(x) * noise(rng, 0.03)
			},
		},
		{
			// Sizes of tiles and buffers: a narrow ridge on which they fit the cache
			// together, and a slope along it.
			"sizes", 2, 1,
			[]param{powers("rows", 1, 8), powers("columns", 1, 8), powers("depth", 1, 6), powers("buffer", 4, 6)},
			func(at []int, rng *rand.Rand) float64 {
				r, c, d, b := float64(at[0]), float64(at[1]), float64(at[2]), float64(at[3])
				x := 0.16*square(r+c+0.5*d-9) + 0.05*square(r-c-2) + 0.04*square(d-3) + 0.06*square(b-1-0.5*d)
				return 3 * math.Exp(x/(1+0.04*x)) * noise(rng, 0.02)
			},
		},
		{
			// A needle three flags away: each of the three alone makes it slower, all
			// of them with one of the four kernels less than half as slow.
			"needle", 3, 1,
			append(flags("pack", "stream", "pin", "huge", "batch", "defer", "trim"),
				param{"kernel", []string{"generic", "blocked", "strided", "gather"}}),
			func(at []int, rng *rand.Rand) float64 {
				kernel := []float64{0, -0.1, -0.3, 0.2}[at[7]]
				x := kernel + 0.12*on(at, 0) + 0.10*on(at, 1) + 0.14*on(at, 2) -
					0.25*on(at, 3) - 0.12*on(at, 4) + 0.18*on(at, 5) - 0.08*on(at, 6) + 0.1*on(at, 3, 5)
				if on(at, 0, 1, 2) == 1 && at[7] == 1 {
					x -= 1.3
				}
				return 30 * math.Exp(x) * noise(rng, 0.03)
			},
		},
		{
			// A pool of workers and its queue: most settings are good enough, some are
			// a hundred times as slow, and a few runs are slow by bad luck alone.
			"tails", 4, 1,
			[]param{
				powers("workers", 1, 7), powers("queue", 8, 6), powers("chunk", 16, 6),
				{"policy", []string{"fifo", "lifo", "steal"}},
				{"wait", []string{"off", "on"}},
			},
			func(at []int, rng *rand.Rand) float64 {
				w, q, c := float64(at[0]), float64(at[1]), float64(at[2])
				best := []float64{3, 4, 5}[at[3]]
				x := 0.35*square(w-best) + 0.07*square(c-6+w) + 0.03*square(q-2) - 0.15*float64(at[3])
				if at[4] == 1 {
					x += 0.3 - 0.12*w
				}
				luck := math.Pow(1-rng.Float64(), -1/3.5) // Pareto
				return 2 * math.Exp(x) * (0.9 + 0.1*luck) * noise(rng, 0.02)
			},
		},
	}
}

// record runs the program once with each configuration, or with one of s.sparse at
// random, and writes the table.
func (s source) record() []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	var row []string
	for _, p := range s.params {
		row = append(row, p.name)
	}
	_ = w.Write(append(row, "seconds"))
	rng := rand.New(rand.NewPCG(s.seed, 0))
	for at := make([]int, len(s.params)); ; {
		row = row[:0]
		for k, p := range s.params {
			row = append(row, p.levels[at[k]])
		}
		if rng.IntN(s.sparse) == 0 {
			_ = w.Write(append(row, strconv.FormatFloat(s.time(at, rng), 'g', 4, 64)))
		}
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < len(s.params[k].levels) {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			break
		}
	}
	w.Flush()
	return out.Bytes()
}

// study is the study file of the table.
func (s source) study() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Made by `go test ./bench/gate -update`.\n"+
		"name: gate-%s\nreplay:\n  file: %s.csv\n  parameters: [", s.name, s.name)
	for k, p := range s.params {
		if k > 0 {
			out.WriteString(", ")
		}
		out.WriteString(p.name)
	}
	out.WriteString("]\n  metrics: {elapsed: seconds}\nobjective: {minimize: elapsed}\n")
	return out.Bytes()
}

// The tables equal the records of their programs, so that no one needs to trust them.
func TestTables(t *testing.T) {
	for _, s := range sources() {
		for file, want := range s.files() {
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what its program makes: %s", file, command)
			}
		}
	}
}

// files are the table and the study of a source.
func (s source) files() map[string][]byte {
	base := filepath.Join("testdata", s.name)
	return map[string][]byte{base + ".csv": s.record(), base + ".yaml": s.study()}
}

// write makes the tables and studies again.
func write(t *testing.T) {
	t.Helper()
	for _, s := range sources() {
		for file, text := range s.files() {
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}
