package main

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// tableColumns are the columns of -table. The environment is the name of the log
// and the number of the slice, from 1.
var tableColumns = []string{"q1", "q2", "q3", "q4", "environment", "slowdown", "wait_s", "utilisation", "makespan_s"}

// An environment is one slice of a log.
type environment struct {
	name string
	log  *Log
}

// writeTable simulates every configuration on every slice.
func (f *flags) writeTable(w io.Writer) error {
	var envs []environment
	for _, file := range f.logs {
		l, _, err := f.open(file)
		if err != nil {
			return err
		}
		if f.slices > len(l.Jobs) {
			return fmt.Errorf("%s: %d slices of %d jobs", file, f.slices, len(l.Jobs))
		}
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".swf")
		for i := range f.slices {
			from, to := i*len(l.Jobs)/f.slices, (i+1)*len(l.Jobs)/f.slices
			s, err := l.Slice(from, to-from)
			if err != nil {
				return err
			}
			e := environment{fmt.Sprintf("%s-%d", name, i+1), s}
			if slices.ContainsFunc(envs, func(o environment) bool { return o.name == e.name }) {
				return fmt.Errorf("two logs are named %s", name)
			}
			envs = append(envs, e)
		}
	}
	queues := slices.Collect(AllQueues())
	rows := make([][]string, len(envs)*len(queues))
	errs := make([]error, len(rows))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		wg.Go(func() {
			for i := k; i < len(rows); i += workers {
				rows[i], errs[i] = f.row(envs[i/len(queues)], queues[i%len(queues)])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return toFile(f.out, w, func(w io.Writer) error {
		c := csv.NewWriter(w)
		return c.WriteAll(append([][]string{tableColumns}, rows...))
	})
}

// row simulates one configuration on one slice.
func (f *flags) row(e environment, q Queues) ([]string, error) {
	opts := f.options(e.log, q)
	start, err := Simulate(e.log.Jobs, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	m := Measure(e.log.Jobs, start, opts)
	var r []string
	for _, k := range q {
		r = append(r, strconv.Itoa(k))
	}
	return append(r, e.name, fmt.Sprintf("%.6g", m.Slowdown), fmt.Sprintf("%.1f", m.Wait),
		fmt.Sprintf("%.6f", m.Utilisation), strconv.FormatInt(m.Makespan, 10)), nil
}

func (f *flags) writeGenerated(w io.Writer) error {
	procs := f.procs
	if procs == 0 {
		procs = 128
	}
	if f.generate < 2 || f.generate > maxJobs || procs < 2 || procs > maxProcs || !(f.load > 0) {
		return fmt.Errorf("-generate takes 2 to %d jobs, 2 processors or more and a -load above 0", maxJobs)
	}
	note := fmt.Sprintf("made up by schedsim -generate %d -procs %d -load %v -seed %d", f.generate, procs, f.load, f.seed)
	return toFile(f.out, w, func(w io.Writer) error {
		return WriteLog(w, Generate(f.generate, procs, f.load, f.seed), note)
	})
}

// toFile calls write for the file, or for w if it has no name. The file appears
// when it is whole.
func toFile(file string, w io.Writer, write func(io.Writer) error) error {
	if file == "" {
		return write(w)
	}
	t, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	defer t.Close()
	if strings.HasSuffix(file, ".gz") {
		z := gzip.NewWriter(t)
		if err := errors.Join(write(z), z.Close()); err != nil {
			return err
		}
	} else if err := write(t); err != nil {
		return err
	}
	if err := errors.Join(t.Chmod(0o644), t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), file)
}
