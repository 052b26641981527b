package bench

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/stats"
	"github.com/assay-run/assay/internal/table"
)

// A Noise is how runs of one configuration differ.
type Noise struct {
	Name string
	draw func(*rand.Rand) float64 // the factor of a run, of median 1; nil plays any of the recorded runs as it is
}

// Own is the noise of a table that has several runs of each configuration.
var Own = Noise{Name: "own"}

// LogNormal is the noise of run times whose logarithms have this standard deviation.
func LogNormal(deviation float64) Noise {
	return Noise{
		Name: fmt.Sprintf("%g %%", 100*deviation),
		draw: func(rng *rand.Rand) float64 { return math.Exp(deviation * rng.NormFloat64()) },
	}
}

// Runs returns the table of the runs that a study with this seed sees; each level of noise has a stream of its own.
// Every method sees the same: the k-th run of a configuration is one and the same measurement.
func (n Noise) Runs(t *table.Table, seed uint64, stream int) *table.Table {
	rng := rand.New(rand.NewPCG(seed, uint64(stream)))
	return t.Noisy(repetitions, func(k, recorded int) (int, float64) {
		if n.draw == nil {
			return rng.IntN(recorded), 1
		}
		return k % recorded, n.draw(rng)
	})
}

// NoiseOf reads levels of noise: a list of standard deviations in per cent, or the name of a file of recorded series.
func NoiseOf(text string) ([]Noise, error) {
	if _, err := os.Stat(text); err == nil {
		return SeriesNoise(text)
	}
	deviations, err := Numbers("noise", text, "a file, or per cent above 0", func(x float64) bool {
		return x > 0 && x <= 1e3
	})
	var all []Noise
	for _, x := range deviations {
		all = append(all, LogNormal(x/100))
	}
	return all, err
}

// SeriesNoise reads recorded run times of programs, and returns three levels of noise. The file is a CSV with a title
// line, packed by gzip if its name ends in .gz; a line is a series: the name of the program, the number of the process,
// and run times in order. The first half of a series is left out, in which a program is not warm.
//
// The levels are the programs in the middle of each third, in the order of the spread of their run times: the distance
// of the quartiles as a share of the median, which names the level. A run is multiplied by any run time of the
// program, as a multiple of their median.
func SeriesNoise(file string) ([]Noise, error) {
	series, err := readSeries(file)
	if err != nil {
		return nil, assay.Errorf(assay.ClassUsage, "%s: %w", file, err)
	}
	type program struct {
		name   string
		spread float64
		times  []float64 // as multiples of the median
	}
	var programs []program
	for name, times := range series {
		middle := stats.Median(times)
		if !(middle > 0) {
			return nil, assay.Errorf(assay.ClassUsage, "%s: the run times of %s have a median of %v", file, name, middle)
		}
		for i := range times {
			times[i] /= middle
		}
		programs = append(programs, program{name, stats.Quantile(times, 0.75) - stats.Quantile(times, 0.25), times})
	}
	if len(programs) < 3 {
		return nil, assay.Errorf(assay.ClassUsage, "%s: %d programs, fewer than 3", file, len(programs))
	}
	slices.SortFunc(programs, func(a, b program) int {
		return cmp.Or(cmp.Compare(a.spread, b.spread), strings.Compare(a.name, b.name))
	})
	var all []Noise
	for third := range 3 {
		p := programs[len(programs)*(2*third+1)/6]
		all = append(all, Noise{
			Name: fmt.Sprintf("%.2g %%", 100*p.spread),
			draw: func(rng *rand.Rand) float64 { return p.times[rng.IntN(len(p.times))] },
		})
	}
	return all, nil
}

// readSeries returns the run times of each program.
func readSeries(file string) (map[string][]float64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines := csv.NewReader(r)
	lines.FieldsPerRecord, lines.ReuseRecord = -1, true
	if _, err := lines.Read(); err != nil {
		return nil, err
	}
	all := map[string][]float64{}
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, cell := range line[min(2+len(line)/2, len(line)):] {
			if x, err := strconv.ParseFloat(cell, 64); err == nil && !math.IsNaN(x) { // else the process ended early
				all[line[0]] = append(all[line[0]], x)
			}
		}
	}
}
