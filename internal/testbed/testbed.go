// Package testbed reports to tests the state of the machine they run on: the recorded data of the
// evaluation, which are no part of the module, and quiet. A test that lacks data is skipped, with the
// reason. Only tests use it.
package testbed

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Data returns the path of a file or folder of the evaluation data, which are in
// $ASSAY_DATA or in ../shared/data beside the root of the repository. It skips the
// test if that is not there.
func Data(t testing.TB, path ...string) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("ASSAY_DATA"), filepath.Join(root(t), "..", "shared", "data"))
	name := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(name); err != nil {
		Lacks(t, "../shared/data", "no recorded data (set ASSAY_DATA): ", err)
	}
	return name
}

// root returns the root of the repository, which has more modules than one. tools.mod stands there alone.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "tools.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("testbed: no tools.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// WarmRuns returns recorded run times of micro-benchmarks in a Java virtual
// machine, by benchmark: of every fork the second half, when it is warm, which is
// empty or short where a fork ended early. It skips the test if the record is not
// here; see [Data].
func WarmRuns(t testing.TB) map[string][][]float64 {
	t.Helper()
	f, err := os.Open(Data(t, "jmh-noise", "data.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	forks, err := readForks(f)
	if err != nil {
		t.Fatal(err)
	}
	return forks
}

// readForks reads a gzipped table of forks: a title line, then a line a fork with
// the benchmark, the fork and its run times in order.
func readForks(r io.Reader) (map[string][][]float64, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	lines := csv.NewReader(z)
	lines.FieldsPerRecord = -1
	if _, err := lines.Read(); err != nil {
		return nil, err
	}
	forks := map[string][][]float64{}
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return forks, nil
		}
		if err != nil {
			return nil, err
		}
		var times []float64
		for _, cell := range line[min(2+len(line)/2, len(line)):] {
			if x, err := strconv.ParseFloat(cell, 64); err == nil { // else the fork ended early
				times = append(times, x)
			}
		}
		forks[line[0]] = append(forks[line[0]], times)
	}
}

// Quiet reports whether figures are to be asserted: the machine has nothing else to do, or ASSAY_SOAK is
// set. If not, it logs that.
func Quiet(t testing.TB) bool {
	t.Helper()
	if os.Getenv("ASSAY_SOAK") != "" {
		return true
	}
	load, err := os.ReadFile("/proc/loadavg")
	ok := err == nil && strings.HasPrefix(string(load), "0.")
	if !ok {
		t.Logf("the machine is busy (load %s): figures are not asserted", strings.TrimSpace(string(load)))
	}
	return ok
}
