package main

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

const smallLog = `; Version: 2.2
; UnixStartTime: 1027839845
; MaxNodes: 120
; MaxProcs: 240 (2 a node)
; Note: the second job comes first

  2  20  0  600  4  600  -1  8  900 -1 1 1 1 -1 -1 1 -1 -1
  1  10  5   50  -1  -1  -1  2   -1 -1 1 1 1 -1 -1 1 -1 -1
  3  30 -1   -1  4   -1  -1  4  900 -1 5 1 1 -1 -1 1 -1 -1
  4  40 -1    0  4   -1  -1  4  900 -1 5 1 1 -1 -1 1 -1 -1
  5  50 -1   10  4   -1  -1  4  900 -1 3 1 1 -1 -1 1 -1 -1
  6  60.6 1 70.4 1 552.21 -1 1   60 -1 0 1 1 -1 -1 1 -1 -1
`

func TestReadLog(t *testing.T) {
	l, err := ReadLog("small.swf", strings.NewReader(smallLog))
	if err != nil {
		t.Fatal(err)
	}
	want := &Log{Procs: 240, Start: 1027839845, Skipped: 3, Jobs: []Job{
		{ID: 1, Submit: 10, Run: 50, Request: 50, Procs: 2},
		{ID: 2, Submit: 20, Run: 600, Request: 900, Procs: 4},
		{ID: 6, Submit: 61, Run: 70, Request: 70, Procs: 1},
	}}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("got %+v, want %+v", l, want)
	}

	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(smallLog))
	w.Close()
	if g, err := ReadLog("small.swf.gz", &z); err != nil || !reflect.DeepEqual(g, want) {
		t.Errorf("compressed: got %+v, %v", g, err)
	}
}

func TestReadLogErrors(t *testing.T) {
	job := "1 10 5 50 2 -1 -1 2 -1 -1 1 1 1 -1 -1 1 -1 -1\n"
	tests := []struct{ name, text, want string }{
		{"fields", job + "1 2 3\n", "f.swf:2: 3 fields, a job has 18"},
		{
			"word", strings.Replace(job, "50", "fifty", 1),
			`f.swf:1: field 4 (run time): "fifty" is not a number of seconds or processors`,
		},
		{
			"infinite", strings.Replace(job, "50", "Inf", 1),
			`f.swf:1: field 4 (run time): "Inf" is not a number of seconds or processors`,
		},
		{"wide", strings.Replace(job, "50 2", "50 99999999", 1), "f.swf:1: 99999999 processors are more than 16777216"},
		{"machine", "; MaxProcs: 0\n" + job, "f.swf:1: MaxProcs of 0 is not from 1 to 16777216"},
		{"empty", "; MaxProcs: 4\n", "f.swf: no job that can be run (0 lines skipped)"},
		{"gzip", "\x1f\x8bxx", "f.swf: unexpected EOF"},
		{"long line", job + strings.Repeat("1", maxLine+1), "f.swf:2: bufio.Scanner: token too long"},
	}
	for _, tt := range tests {
		if _, err := ReadLog("f.swf", strings.NewReader(tt.text)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add(smallLog)
	f.Add("; MaxProcs: x\n1 2 3\n")
	f.Add("\x1f\x8b\x08")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadLog("f", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error %q does not name the file", err)
			}
			return
		}
		last := int64(0)
		for _, j := range l.Jobs {
			if j.Run < 0 || j.Request < j.Run || j.Procs < 1 || j.Submit < last {
				t.Fatalf("job %+v after a submission at %d", j, last)
			}
			last = j.Submit
		}
		var b bytes.Buffer
		if err := WriteLog(&b, l, "again"); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLog("f", &b)
		if err != nil {
			t.Fatal(err)
		}
		if again.Skipped = l.Skipped; !reflect.DeepEqual(again, l) {
			t.Fatalf("got %+v, wrote %+v", again, l)
		}
	})
}

func TestSlice(t *testing.T) {
	l, err := ReadLog("small.swf", strings.NewReader(smallLog))
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Slice(1, 1)
	if err != nil || len(s.Jobs) != 1 || s.Jobs[0].ID != 2 || s.Jobs[0].Submit != 0 || s.Start != l.Start+20 {
		t.Errorf("got %+v, %v", s, err)
	}
	if all, err := l.Slice(0, 0); err != nil || len(all.Jobs) != 3 || l.Jobs[0].Submit != 10 {
		t.Errorf("got %+v, %v", all, err)
	}
	if _, err := l.Slice(3, 0); err == nil {
		t.Error("no error beyond the end")
	}
	if i, err := l.index("2002-07-28"); err != nil || i != 0 {
		t.Errorf("index of the first day: %d, %v", i, err)
	}
	if _, err := l.index("2002-07-29"); err == nil || !strings.Contains(err.Error(), "the last job is of 2002-07-28") {
		t.Errorf("got %v", err)
	}
	if _, err := l.index("yesterday"); err == nil {
		t.Error("no error for a word")
	}
	l.Compress(2)
	if l.Jobs[0].Submit != 5 || l.Jobs[2].Submit != 31 {
		t.Errorf("compressed: %+v", l.Jobs)
	}
}

// The logs of the evaluation data have as many jobs, processors and days as in their
// description, and EASY is better than FCFS on both.
func TestArchiveLogs(t *testing.T) {
	dir := testbed.Data(t, "swf")
	for _, tt := range []struct {
		file        string
		jobs, procs int
		days        float64
	}{
		{"NASA-iPSC-1993-3.1-cln.swf.gz", 18239, 128, 92},
		{"HPC2N-excerpt.swf.gz", 3145, 240, 57.3},
	} {
		l, err := OpenLog(filepath.Join(dir, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		days := float64(l.Jobs[len(l.Jobs)-1].Submit) / 86400
		if len(l.Jobs) != tt.jobs || l.Procs != tt.procs || days < tt.days-1 || days > tt.days+1 {
			t.Errorf("%s: %d jobs on %d processors in %.1f days, want %d on %d in %.1f",
				tt.file, len(l.Jobs), l.Procs, days, tt.jobs, tt.procs, tt.days)
		}
		metrics := map[Policy]Metrics{}
		began := time.Now()
		for _, p := range []Policy{FCFS, EASY} {
			o := Options{Policy: p, Procs: l.Procs}
			start, err := Simulate(l.Jobs, o)
			if err != nil {
				t.Fatal(err)
			}
			metrics[p] = Measure(l.Jobs, start, o)
		}
		if metrics[EASY].Slowdown >= metrics[FCFS].Slowdown {
			t.Errorf("%s: slowdown %v with EASY, %v with FCFS", tt.file, metrics[EASY].Slowdown, metrics[FCFS].Slowdown)
		}
		t.Logf("%s: FCFS %.3f, EASY %.3f in %v",
			tt.file, metrics[FCFS].Slowdown, metrics[EASY].Slowdown, time.Since(began).Round(time.Millisecond))
	}
}
