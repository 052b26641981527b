package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Job is one line of a log. Times are in seconds.
type Job struct {
	ID      int64
	Submit  int64 // since the start of the log
	Run     int64 // how long it ran, >= 0
	Request int64 // how long it asked for, >= Run
	Procs   int   // processors, >= 1
}

// A Log is a workload in the Standard Workload Format of the Parallel Workloads
// Archive (Chapin et al. 1999, version 2.2).
type Log struct {
	Procs   int   // of the machine; the widest job if the header has no MaxProcs and no MaxNodes
	Start   int64 // UnixStartTime of the header, 0 if it has none
	Jobs    []Job // by Submit, equal ones in the order of the file
	Skipped int   // lines of jobs that cannot be run again, see [ReadLog]
}

const (
	maxLine  = 1 << 20 // bytes of a line
	maxJobs  = 10_000_000
	maxTime  = 1 << 40 // s
	maxProcs = 1 << 24
)

// fieldNames are the names of the fields that are read, by their number in the
// format's definition, from 1.
var fieldNames = map[int]string{
	1: "job number", 2: "submit time", 4: "run time", 5: "allocated processors",
	8: "requested processors", 9: "requested time", 11: "status",
}

// ReadLog reads a log, compressed by gzip or not. name is for errors, which have the form name:line:
// message.
//
// A job has the processors that it was allocated, or else the processors it asked for. The requested
// time of a job without one, or of a job that ran for longer, is its run time. Skipped are jobs without
// a run time, without processors or without a submit time, jobs that were cancelled (status 5) and did
// not run, and the lines of parts of a job (status 2 to 4), which has a line of its own.
func ReadLog(name string, r io.Reader) (*Log, error) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer z.Close()
		b = bufio.NewReader(z)
	}
	l := &Log{}
	sc := bufio.NewScanner(b)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	line := 0
	for sc.Scan() {
		line++
		text := strings.TrimSpace(sc.Text())
		var err error
		switch {
		case text == "":
		case text[0] == ';':
			err = l.header(text[1:])
		default:
			err = l.add(strings.Fields(text))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	if len(l.Jobs) == 0 {
		return nil, fmt.Errorf("%s: no job that can be run (%d lines skipped)", name, l.Skipped)
	}
	slices.SortStableFunc(l.Jobs, func(a, b Job) int { return int(min(1, max(-1, a.Submit-b.Submit))) })
	if l.Procs == 0 {
		for _, j := range l.Jobs {
			l.Procs = max(l.Procs, j.Procs)
		}
	}
	return l, nil
}

// OpenLog reads the log in a file.
func OpenLog(file string) (*Log, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadLog(file, f)
}

// header takes over the values of a comment line that the simulation needs. MaxProcs counts, MaxNodes
// only without it. Several machines may be listed: text that is no number is left out.
func (l *Log) header(text string) error {
	key, value, _ := strings.Cut(text, ":")
	key = strings.TrimSpace(key)
	if key != "MaxProcs" && key != "MaxNodes" && key != "UnixStartTime" {
		return nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return nil
	}
	switch {
	case key == "UnixStartTime":
		l.Start = n
	case n < 1 || n > maxProcs:
		return fmt.Errorf("%s of %d is not from 1 to %d", key, n, maxProcs)
	case key == "MaxProcs" || l.Procs == 0:
		l.Procs = int(n)
	}
	return nil
}

// add takes over the fields of one job.
func (l *Log) add(f []string) error {
	if len(f) != 18 {
		return fmt.Errorf("%d fields, a job has 18", len(f))
	}
	var x [12]int64
	for _, i := range []int{1, 2, 4, 5, 8, 9, 11} {
		v, err := number(f[i-1])
		if err != nil {
			return fmt.Errorf("field %d (%s): %q %w", i, fieldNames[i], f[i-1], err)
		}
		x[i] = v
	}
	j := Job{ID: x[1], Submit: x[2], Run: x[4], Request: max(x[9], x[4])}
	procs := x[5]
	if procs <= 0 {
		procs = x[8]
	}
	status := x[11]
	switch {
	case j.Submit < 0, j.Run < 0, procs <= 0, status >= 2 && status <= 4, status == 5 && j.Run == 0:
		l.Skipped++
		return nil
	case procs > maxProcs:
		return fmt.Errorf("%d processors are more than %d", procs, maxProcs)
	case len(l.Jobs) == maxJobs:
		return fmt.Errorf("more than %d jobs", maxJobs)
	}
	j.Procs = int(procs)
	l.Jobs = append(l.Jobs, j)
	return nil
}

var errNumber = errors.New("is not a number of seconds or processors")

// number reads a field; some logs have fractions, which are rounded.
func number(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= -maxTime && n <= maxTime {
		return n, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(x) <= maxTime) {
		return 0, errNumber
	}
	return int64(math.Round(x)), nil
}

// WriteLog writes a log in the Standard Workload Format.
func WriteLog(w io.Writer, l *Log, note string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "; Version: 2.2\n; Note: %s\n; MaxJobs: %d\n; UnixStartTime: %d\n; MaxProcs: %d\n",
		note, len(l.Jobs), l.Start, l.Procs)
	for _, j := range l.Jobs {
		fmt.Fprintf(b, "%d %d -1 %d %d -1 -1 %d %d -1 1 -1 -1 -1 -1 -1 -1 -1\n",
			j.ID, j.Submit, j.Run, j.Procs, j.Procs, j.Request)
	}
	return b.Flush()
}

// Slice returns n jobs from the job of index from, with submit times since the
// first of them. n < 1 means all that follow.
func (l *Log) Slice(from, n int) (*Log, error) {
	if from < 0 || from >= len(l.Jobs) {
		return nil, fmt.Errorf("no job of index %d: there are %d, from 0", from, len(l.Jobs))
	}
	end := len(l.Jobs)
	if n >= 1 {
		end = min(end, from+n)
	}
	s := &Log{Procs: l.Procs, Jobs: slices.Clone(l.Jobs[from:end])}
	first := s.Jobs[0].Submit
	if l.Start != 0 {
		s.Start = l.Start + first
	}
	for i := range s.Jobs {
		s.Jobs[i].Submit -= first
	}
	return s, nil
}

// Compress divides the times between submissions by f > 0, which makes a load f
// times as high.
func (l *Log) Compress(f float64) {
	for i := range l.Jobs {
		l.Jobs[i].Submit = int64(math.Round(float64(l.Jobs[i].Submit) / f))
	}
}
