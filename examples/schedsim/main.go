// Schedsim simulates the batch queues of a cluster: a log of jobs in the Standard Workload Format is
// scheduled anew by first come first served, by EASY backfilling, or by fair share between five queues
// with limits of the requested time, and the schedule is judged by its average bounded slowdown.
//
// It is the third use case of Silva Cunha, Rodrigues and Netto, "JobPruner" (2018), §4.1, made as a real
// program: which limits should the queues have? README.md shows how assay answers that.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

type flags struct {
	logs     []string
	policy   string
	queues   Queues
	halfLife time.Duration
	procs    int
	from     string
	jobs     int
	compress float64
	json     bool

	table  bool
	slices int
	out    string

	generate int
	load     float64
	seed     uint64
}

func main() {
	f := &flags{}
	fs := flag.NewFlagSet("schedsim", flag.ContinueOnError)
	f.register(fs)
	if err := fs.Parse(os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		os.Exit(2)
	}
	err := errors.New("arguments after the flags: " + strings.Join(fs.Args(), " "))
	if fs.NArg() == 0 {
		err = f.run(os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "schedsim: %v\n", err)
		os.Exit(1)
	}
}

func (f *flags) register(fs *flag.FlagSet) {
	fs.Func("log", "`FILE` in the Standard Workload Format, .gz or not; with -table may be given several times",
		func(s string) error {
			f.logs = append(f.logs, s)
			return nil
		})
	fs.StringVar(&f.policy, "policy", "fair", "fcfs, easy or fair")
	for i, k := range [...]int{4, 7, 9, 11} {
		fs.IntVar(&f.queues[i], fmt.Sprintf("q%d", i+1), k, fmt.Sprintf("`index` of the limit of queue %d: "+
			"of 5m 15m 30m 1h 2h 3h 4h 6h 12h 18h 24h 48h, from 1", i+1))
	}
	fs.DurationVar(&f.halfLife, "half-life", 24*time.Hour, "of a queue's usage; 0: nothing is forgotten")
	fs.IntVar(&f.procs, "procs", 0, "processors of the machine (default: as in the log)")
	fs.StringVar(&f.from, "from", "", "first job: an `index` from 0 or a date, 2003-01-31 (default: the first of the log)")
	fs.IntVar(&f.jobs, "jobs", 0, "how many jobs (default: all that follow)")
	fs.Float64Var(&f.compress, "compress", 1, "divide the times between submissions by this `factor`")
	fs.BoolVar(&f.json, "json", false, "print one JSON object")
	fs.BoolVar(&f.table, "table", false, "write a CSV table of all 495 configurations on every slice of the logs")
	fs.IntVar(&f.slices, "slices", 1, "with -table: cut every log into this many slices of equally many jobs")
	fs.StringVar(&f.out, "o", "",
		"with -table and -generate: `FILE` to write (default: standard output); compressed if it ends in .gz")
	fs.IntVar(&f.generate, "generate", 0, "write a made-up log of this many `jobs`")
	fs.Float64Var(&f.load, "load", 0.85, "with -generate: work of the jobs as a share of the machine's time")
	fs.Uint64Var(&f.seed, "seed", 1, "with -generate: of the random numbers")
}

func (f *flags) run(w io.Writer) error {
	if !(f.compress > 0) || f.halfLife < 0 || f.procs < 0 || f.jobs < 0 || f.slices < 1 {
		return errors.New("-compress is above 0, -slices from 1, -half-life, -procs and -jobs are not negative")
	}
	switch {
	case f.generate != 0:
		return f.writeGenerated(w)
	case len(f.logs) == 0:
		return errors.New("no -log (see -help)")
	case f.table:
		return f.writeTable(w)
	case len(f.logs) > 1:
		return errors.New("several -log are for -table")
	}
	if err := f.queues.Check(); err != nil {
		return err
	}
	l, dropped, err := f.open(f.logs[0])
	if err != nil {
		return err
	}
	opts := f.options(l, f.queues)
	start, err := Simulate(l.Jobs, opts)
	if err != nil {
		return err
	}
	m := Measure(l.Jobs, start, opts)
	if f.json {
		return json.NewEncoder(w).Encode(m)
	}
	if dropped > 0 {
		fmt.Fprintf(os.Stderr, "schedsim: %s: %d lines skipped: jobs that did not run or are wider than the machine\n",
			f.logs[0], dropped)
	}
	return report(w, f.logs[0], opts, m)
}

// open reads a log and takes the part of it that the flags name. Jobs that are
// wider than the machine are left out; dropped counts all lines without effect.
func (f *flags) open(file string) (l *Log, dropped int, err error) {
	if l, err = OpenLog(file); err != nil {
		return nil, 0, err
	}
	dropped = l.Skipped
	l.Procs = cmp.Or(f.procs, l.Procs)
	fit := l.Jobs[:0]
	for _, j := range l.Jobs {
		if j.Procs <= l.Procs {
			fit = append(fit, j)
		}
	}
	dropped += len(l.Jobs) - len(fit)
	if l.Jobs = fit; len(fit) == 0 {
		return nil, 0, fmt.Errorf("%s: every job is wider than %d processors", file, l.Procs)
	}
	from, err := l.index(f.from)
	if err == nil {
		l, err = l.Slice(from, f.jobs)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", file, err)
	}
	l.Compress(f.compress)
	return l, dropped, nil
}

// index returns the index of the job that text names: a number from 0, or the
// date (in UTC) of which the job is the first at or after.
func (l *Log) index(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	if i, err := strconv.Atoi(text); err == nil {
		return i, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("-from %s: neither an index nor a date like 2003-01-31", text)
	}
	if l.Start == 0 {
		return 0, fmt.Errorf("-from %s: the log has no start time (UnixStartTime)", text)
	}
	for i, j := range l.Jobs {
		if l.Start+j.Submit >= day.Unix() {
			return i, nil
		}
	}
	last := time.Unix(l.Start+l.Jobs[len(l.Jobs)-1].Submit, 0).UTC()
	return 0, fmt.Errorf("-from %s: the last job is of %s", text, last.Format(time.DateOnly))
}

func (f *flags) options(l *Log, q Queues) Options {
	return Options{Policy: Policy(f.policy), Procs: l.Procs, Limits: q.Limits(), HalfLife: f.halfLife.Seconds()}
}

// report prints the metrics for people, and for the regular expressions of a
// study.
func report(w io.Writer, file string, opts Options, m Metrics) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "log           %s: %d jobs on %d processors\n", file, m.Jobs, opts.Procs)
	fmt.Fprintf(b, "policy        %s\n", opts.Policy)
	fmt.Fprintf(b, "slowdown      %.4f (average bounded)\n", m.Slowdown)
	fmt.Fprintf(b, "mean wait     %.1f s\n", m.Wait)
	fmt.Fprintf(b, "utilisation   %.4f\n", m.Utilisation)
	fmt.Fprintf(b, "makespan      %d s\n", m.Makespan)
	for i, q := range m.Queues {
		limit := "no limit"
		if q.Limit > 0 {
			limit = "to " + shortDuration(q.Limit)
		}
		fmt.Fprintf(b, "queue %d       %s: %d jobs, slowdown %.4f, mean wait %.1f s\n",
			i+1, limit, q.Jobs, q.Slowdown, q.Wait)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortDuration writes whole hours or minutes.
func shortDuration(s int64) string {
	if s%3600 == 0 {
		return fmt.Sprintf("%d h", s/3600)
	}
	return fmt.Sprintf("%d min", s/60)
}
