package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-run/assay"
)

// Options configure a Bench.
type Options struct {
	// Runner starts the programs. It runs them on this machine as our user, and
	// hands on their directory and environment. It gets the resources of a job
	// that are not of ours.
	Runner assay.Runner
	// Data is the directory with the data set, which programs may read and write, unless a job has a Data
	// of its own. Without a data set ("") the program runs in place, its data flow is not measured, and
	// network and storage cannot be limited.
	Data string
	// Mount is an existing directory where programs see the data set; "" means at the data set itself.
	// Other processes do not see the mount.
	Mount string
	// Keep keeps the cached pages of the data set from one run to the next.
	Keep bool
	// Direct connects the program to the storage without a network, where there
	// is no device for it; then rtt and bandwidth cannot be limited.
	Direct bool
	// Warn receives warnings about runs that are less exact than they look; nil drops them. Concurrent runs
	// may call it at once.
	Warn func(text string)
}

// A Bench is a [assay.Runner] that realises the resource assignment of a job:
// [CPU], [Memory], [RTT], [Bandwidth] and [Disk] of its Resources. Others are left
// to the inner runner.
//
// It adds to the metrics of the inner runner
//
//	data_flow      bytes read and written through the mount
//	read_bytes     of it, read; reads from the page cache of the program's side are not counted
//	write_bytes    of it, written
//	requests       to the storage
//	network_time   s that requests spent in the network, the sum over all
//	disk_time      s that the storage took for them, the sum over all
//	stall_time     s during which at least one request was under way
//	oom_kills      processes that were killed for lack of memory, if there is a limit
//	cpu_seen       processors that the program had on the average, if cpu is asked
//	rtt_seen       s, the median round trip of small requests and probes, if rtt is asked
//	bandwidth_seen bit/s of the busier direction while requests were under way, of 1 MiB at least
//	disk_seen      B/s of the storage's device or, where that is not counted, of all requests, likewise
//	cpu_mean       the time-weighted mean of the levels that were in force, if cpu followed a trace; rtt_mean,
//	               bandwidth_mean and disk_mean likewise
//	levels_off     how many levels were not as asked, for which the run counts nevertheless
//	data_bytes     of the files of the data set before the run, if the job has its own
//	data_files     their number, likewise
//
// An attribute that has one of the job's Traces follows it from the start of the program: its level
// is set anew at each change of the trace. Its entry in Resources, the mean, is not used. The
// memory does not vary.
//
// A run during which the program had more than was asked is an error that matches
// [ErrLevels]: the run may be retried. From the third in succession, it matches
// [assay.ErrSetup] too.
//
// Requests overlap each other and the computation, so the sums may exceed
// the elapsed time; network_time : disk_time is the ratio in which NIMO
// divides the stall occupancy (Algorithm 3, step 4).
//
// Elapsed and processor time exclude the time to enter the
// assignment, some 10 ms. A run during which the memory limit killed a process
// has the exit code 137 at least, and a Signal that names the cause.
//
// An attribute that is out of range, or that this machine cannot vary, is an
// error. The latter error, and every other failure to set up runs, matches
// [assay.ErrSetup].
type Bench struct {
	opts   Options
	broken atomic.Int32 // runs in succession that were not on the assignment that was asked

	// tamper may change the specifications of a run before it is set up. Tests use it to drop levels
	// silently.
	tamper func(*stageSpec, *enterSpec)
	deaf   bool // tests: levels of traces are silently not set
}

var _ assay.Runner = (*Bench)(nil)

// New returns a Bench. It returns an error if a directory does not exist.
func New(opts Options) (*Bench, error) {
	if opts.Runner == nil {
		panic("workbench: no runner")
	}
	for _, d := range []*string{&opts.Data, &opts.Mount} {
		if *d == "" {
			continue
		}
		path, err := filepath.Abs(*d)
		if err != nil {
			return nil, fmt.Errorf("%w", err)
		}
		if info, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", path)
		}
		*d = path
	}
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	return &Bench{opts: opts, tamper: func(*stageSpec, *enterSpec) {}}, nil
}

// Run implements [assay.Runner].
func (b *Bench) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	if ctx.Err() != nil {
		return assay.Measurement{}, context.Cause(ctx)
	}
	want, rest, err := split(job.Resources)
	if err != nil {
		return assay.Measurement{}, err
	}
	if want, err = want.following(job.Traces); err != nil {
		return assay.Measurement{}, err
	}
	traces := job.Traces
	job.Resources, job.Traces = rest, nil
	data, profile, err := b.dataSet(ctx, job)
	if err != nil {
		return assay.Measurement{}, err
	}
	job.Data = ""
	if data == "" && want == (assignment{}) && len(traces) == 0 {
		return b.opts.Runner.Run(ctx, job, observe)
	}
	if err := checkJob(job); err != nil {
		return assay.Measurement{}, err
	}
	r := &benchRun{bench: b, want: want, traces: traces, data: data, began: time.Now()}
	if err := r.setUp(ctx); err != nil {
		err = errors.Join(err, r.tearDown())
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return assay.Measurement{}, err
	}
	m, err := r.run(ctx, job, observe)
	if e := r.tearDown(); e != nil {
		b.opts.Warn(e.Error())
	}
	if m.Metrics != nil {
		maps.Copy(m.Metrics, profile)
	}
	return m, err
}

// checkJob refuses jobs that cannot be passed on to a program.
func checkJob(job assay.Job) error {
	if len(job.Argv) == 0 {
		return errors.New("no command")
	}
	for _, a := range slices.Concat(job.Argv, job.Env, []string{job.Dir}) {
		if strings.IndexByte(a, 0) >= 0 {
			return fmt.Errorf("NUL byte in %q", a)
		}
	}
	return nil
}

// A benchRun is one run of a Bench.
type benchRun struct {
	bench   *Bench
	want    assignment             // of an attribute that follows a trace, the first level
	traces  map[string]assay.Trace //
	data    string                 // the directory of the data set, or ""
	duty    float64                // the share of the duty cycle, or 0
	cpus    int                    // how many processors the program may use, or 0
	quota   bool
	device  string  // of the storage, where the kernel limits it
	program *groups // of cpu and memory
	storage *groups
	stage   *stage

	id    identity
	began time.Time
	entry machineTime // the processor time of the machine when the program started

	follower *follower // or nil

	mu      sync.Mutex
	cycle   *dutyCycle // or nil
	entered entered    // zero until the program has started
	outside string     // how the program is not where it should be, or ""
}

// asks reports whether the run is to have a level of an attribute, or a trace of them.
func (r *benchRun) asks(name string) bool {
	_, varies := r.traces[name]
	return varies || r.want.has(name)
}

// setUp prepares everything that the run needs before the program.
func (r *benchRun) setUp(ctx context.Context) error {
	id, err := newIdentity()
	if err != nil {
		return err
	}
	r.id = id
	if err := r.limitProgram(groupPrefix + id.String()); err != nil {
		return err
	}
	opts := r.bench.opts
	if r.data == "" {
		if r.asks(RTT) || r.asks(Bandwidth) || r.asks(Disk) {
			return fmt.Errorf("rtt, bandwidth and disk need a data set: %w", assay.ErrSetup)
		}
		return nil
	}
	if opts.Direct && (r.asks(RTT) || r.asks(Bandwidth)) {
		return fmt.Errorf("rtt and bandwidth need a network device: %w", assay.ErrSetup)
	}
	spec := stageSpec{
		Data: r.data, Mount: cmp.Or(opts.Mount, r.data), Keep: opts.Keep,
		Network: !opts.Direct, RTT: r.want.rtt, Bandwidth: r.want.bandwidth,
		Commit: r.want.disk != 0, Varies: len(r.traces) > 0,
	}
	if t, ok := r.traces[Bandwidth]; ok {
		spec.Least, _ = t.Bounds()
	}
	spec.Rate = r.limitStorage(groupPrefix + storagePrefix + id.String())
	if r.storage != nil {
		spec.Join = r.storage.procs()
		spec.Groups = append(spec.Groups, r.storage.dirs...)
	}
	if r.program != nil {
		spec.Groups = append(spec.Groups, r.program.dirs...)
	}
	r.bench.tamper(&spec, nil)
	r.stage, err = startStage(ctx, id, spec)
	return err
}

// tearDown removes everything.
func (r *benchRun) tearDown() error {
	var errs []error
	if r.stage != nil {
		errs = append(errs, r.stage.end())
	}
	for _, g := range []*groups{r.program, r.storage} {
		if g != nil {
			g.kill(5 * time.Second)
			errs = append(errs, g.remove(5*time.Second))
		}
	}
	return errors.Join(errs...)
}

// spec returns the environment that the program enters.
func (r *benchRun) spec(report *os.File) enterSpec {
	s := enterSpec{Owner: os.Getpid(), Report: int(report.Fd()), CPUs: r.cpus}
	if r.stage != nil {
		s.Net, s.Mnt = int(r.stage.net.Fd()), int(r.stage.mnt.Fd())
		if r.stage.user != nil {
			s.User = int(r.stage.user.Fd())
		}
	}
	if r.program != nil {
		s.Procs = r.program.procs()
	}
	return s
}

// run runs the job where everything is set up.
func (r *benchRun) run(
	ctx context.Context, job assay.Job, observe func(assay.Measurement),
) (m assay.Measurement, err error) {
	path, err := self()
	if err != nil {
		return m, err
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return m, fmt.Errorf("%w", err)
	}
	defer pr.Close()
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := job.Limit
	job.Limit = 0 // counted from the start of the program, by us
	job.Env = append(slices.Clip(job.Env), stageMarker+"="+r.id.String())
	spec := r.spec(pw)
	r.bench.tamper(nil, &spec)
	job.Argv = append([]string{path, enterCommand, spec.String()}, job.Argv...)

	if len(r.traces) > 0 {
		r.follower = newFollower(r.traces, r.adjust)
	}
	r.entry = machineUse()
	var failed entered
	reported := make(chan struct{})
	var duty *dutyCycle
	go func() {
		defer close(reported)
		dec := json.NewDecoder(pr)
		var e entered
		if dec.Decode(&e) != nil || e.Error != "" {
			failed = e
			return
		}
		r.mu.Lock()
		r.entered, r.outside = e, r.whereabouts(e.PID)
		r.mu.Unlock()
		if limit > 0 {
			timer := time.AfterFunc(limit, func() { cancel(assay.ErrLimit) })
			defer timer.Stop()
		}
		if r.duty > 0 {
			duty = startDuty(e.PID, r.duty)
			r.mu.Lock()
			r.cycle = duty
			r.mu.Unlock()
			stop := context.AfterFunc(runCtx, duty.stop)
			defer stop()
			defer duty.stop()
		}
		if r.follower != nil {
			following, end := context.WithCancel(runCtx)
			over := make(chan struct{})
			go func() { defer close(over); r.follower.follow(following) }()
			defer func() { end(); <-over }()
		}
		_ = dec.Decode(&failed) // the end, or why it could not start
	}()
	stop := context.AfterFunc(runCtx, func() { r.cutShort(job.Grace) })
	defer stop()

	inner := observe
	if observe != nil {
		next := job.Interval // the inner runner counts from before the program
		inner = func(m assay.Measurement) {
			if r.correct(&m) && m.Elapsed >= next {
				next += job.Interval
				r.addStats(&m)
				setElapsed(&m)
				observe(m)
			}
		}
	}
	m, err = r.bench.opts.Runner.Run(runCtx, job, inner)
	if err == nil && runCtx.Err() != nil { // a request that we let go may have ended the program first
		err = context.Cause(runCtx)
	}
	pw.Close()
	<-reported
	if failed.Error != "" {
		return assay.Measurement{}, startError(failed)
	}
	if !r.correct(&m) {
		if err == nil {
			err = fmt.Errorf("the program did not start: exit code %d, %s: %w",
				m.ExitCode, assay.LastLine(m.Stderr), assay.ErrSetup)
		}
		return m, err
	}
	if errors.Is(err, assay.ErrLimit) { // starting the inner run may need a bit more
		m.Elapsed = max(m.Elapsed, limit)
	}
	setElapsed(&m)
	if e := r.finish(&m, err != nil); e != nil && err == nil {
		err = e
	}
	return m, err
}

// startError returns the error of a program that could not be started.
func startError(e entered) error {
	err := errors.New(e.Error)
	switch {
	case e.Missing:
		return fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	case e.Denied:
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	}
	return err
}

// cutShort is called when a run is to end early. After the grace it releases requests that wait for the
// storage, and ends processes that the inner runner may have lost sight of.
func (r *benchRun) cutShort(grace time.Duration) {
	time.Sleep(grace)
	if r.stage != nil {
		r.stage.abort()
	}
	if r.program != nil && r.program.v2 {
		r.program.kill(5 * time.Second)
	}
}
