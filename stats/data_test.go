package stats

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// dataDir returns the folder of the recorded data, which is not part of the
// module: $ASSAY_DATA, or ../shared/data beside it.
func dataDir(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ASSAY_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NO RECORDED DATA at %s (set ASSAY_DATA): real run times are not checked", dir)
	}
	return dir
}

// forkSeries returns the run times of each benchmark: the second half of every
// fork of the recorded JMH series, when the virtual machine is warm.
func forkSeries(t *testing.T) map[string][][]float64 {
	f, err := os.Open(filepath.Join(dataDir(t, "jmh-noise"), "data.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	r.FieldsPerRecord = -1
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	series := map[string][][]float64{}
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return series
		}
		if err != nil {
			t.Fatal(err)
		}
		var x []float64
		for _, cell := range rec[2+len(rec)/2:] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				continue // a series that ended early
			}
			x = append(x, v)
		}
		series[rec[0]] = append(series[rec[0]], x)
	}
}

// On real run times of warm programs: the minimum of a fork's runs is the most
// repeatable estimator across forks, and the diagnosis never calls a tail light
// that Hill's estimate over all forks has below 1.
func TestRealRunTimes(t *testing.T) {
	var minSpread, meanSpread []float64
	kinds := map[TailKind]int{}
	for id, forks := range forkSeries(t) {
		var mins, means, all []float64
		for _, x := range forks {
			if len(x) < 100 {
				continue
			}
			mins, means = append(mins, Min(x)), append(means, Mean(x))
			all = append(all, x...)
		}
		if len(mins) < 5 {
			t.Fatalf("benchmark %s has %d forks", id, len(mins))
		}
		minSpread = append(minSpread, StdDev(mins)/Mean(mins))
		meanSpread = append(meanSpread, StdDev(means)/Mean(means))
		d := DiagnoseTail(all)
		kinds[d.Kind]++
		t.Logf("benchmark %s: spread of minima %.4f, of means %.4f; %s", id, minSpread[len(minSpread)-1], meanSpread[len(meanSpread)-1], d.Text)
		if h := Hill(all, len(all)/100, 0); d.Kind == TailLight && h.High < 1 {
			t.Errorf("benchmark %s: called light, but Hill's index is %v", id, h.Value)
		}
	}
	t.Logf("%d benchmarks: median spread of minima %.4f, of means %.4f; kinds %v", len(minSpread), Median(minSpread), Median(meanSpread), kinds)
	if Median(minSpread) > Median(meanSpread) {
		t.Errorf("the median spread of minima %.4f is above that of means %.4f", Median(minSpread), Median(meanSpread))
	}
}
