package exchange

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assay-run/assay"
)

// This file reads the files of criterion.rs below target/criterion: for each benchmark and each baseline
// a directory with sample.json, {"sampling_mode": …, "iters": […], "times": […]}, the times in
// nanoseconds of as many iterations each, and benchmark.json, {"full_id": …}. All samples are of one
// process. new is the last measurement, and NAME the measurement of --save-baseline NAME; once a
// measurement is over, base is a copy of new.

// latest is the baseline of the last measurement.
const latest = "new"

const sampleFile = "sample.json"

func isCriterion(root Value) bool {
	return root.Look("iters").IsArray() && root.Look("times").IsArray() || isEstimates(root)
}

// isEstimates reports whether this is estimates.json, which lies beside sample.json.
func isEstimates(root Value) bool {
	return root.Look("mean").Look("point_estimate").Has() && root.Look("std_dev").Has()
}

func readCriterion(root Value) []Benchmark {
	if isEstimates(root) {
		root.Fail("estimates have no runs: give %s, which criterion writes beside them, or the directory target/criterion",
			sampleFile)
		return nil
	}
	iters, times := root.Get("iters").Numbers(), root.Get("times").Numbers()
	if len(iters) != len(times) || len(times) == 0 {
		root.Get("times").Fail("times: %d times of %d samples", len(times), len(iters))
		return nil
	}
	values := make([]float64, len(times))
	for i := range times {
		if iters[i] <= 0 {
			root.Get("iters").Array()[i].Fail("iters: a sample has at least one iteration")
			return nil
		}
		values[i] = times[i] / iters[i] * 1e-9
	}
	return []Benchmark{{Metrics: []BenchMetric{elapsed(values)}}}
}

// nameCriterion gives the benchmark of a sample its name: the name in benchmark.json beside it, or the
// name of the directory.
func nameCriterion(f *File) (*File, error) {
	dir := filepath.Dir(f.Path)
	f.Benchmarks[0].Name = filepath.Base(filepath.Dir(dir))
	path := filepath.Join(dir, "benchmark.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return f, nil //nolint:nilerr // a name is not worth more
	}
	d, err := ParseJSON(path, data)
	if err != nil {
		return nil, err
	}
	if id := d.Root.Look("full_id"); id.Has() {
		f.Benchmarks[0].Name = id.Text()
	}
	return f, d.Err()
}

// readCriterionDir reads all benchmarks of a directory that have a baseline.
func readCriterionDir(path, dir, baseline string) (*File, error) {
	all := &File{Path: path, Format: "criterion"}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != sampleFile || filepath.Base(filepath.Dir(p)) != baseline {
			return err
		}
		f, err := Read(p)
		if err != nil {
			return err
		}
		if f.Format != all.Format {
			return assay.Errorf(assay.ClassUsage, "%s: this is a file of %s, not of criterion", p, f.Format)
		}
		all.Benchmarks = append(all.Benchmarks, f.Benchmarks...)
		return nil
	})
	if err != nil {
		return nil, assay.WithClass(assay.ClassUsage, err)
	}
	if len(all.Benchmarks) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "%s: no benchmark has a %s, as target/criterion of criterion does",
			path, filepath.Join(baseline, sampleFile))
	}
	all.Benchmarks = merge(all.Benchmarks)
	return all, nil
}
