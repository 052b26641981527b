package batch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
)

// A cluster is a batch system in this process, whose time may be simulated. Its faults are in its fields,
// which a test sets before it begins, or under the lock.
type cluster struct {
	runner assay.Runner // of the shims
	delay  time.Duration

	mu       sync.Mutex
	jobs     map[string]*fakeJob // by number
	last     int
	submits  int
	polls    int
	finds    map[string]int // by name
	asks     int            // of the accounting
	cancels  int
	lowers   int
	sent     []time.Time // when jobs were submitted
	asked    []time.Time // when all jobs were asked for
	down     bool        // the controller does not answer
	forgets  bool        // ended jobs are not shown
	lies     batch.State // what is said of ended jobs, 0 for the truth
	said     string      // likewise
	noRecord bool        // there is no accounting
	pending  bool        // the accounting says PENDING of everything
	onSubmit func(n int) fault
	onPoll   func(n int) ([]batch.Job, error, bool)
	wg       sync.WaitGroup
}

// A fault is the fate of a submission.
type fault struct {
	err   error         // that Submit returns
	lost  bool          // nothing is submitted, whatever it returns
	drop  bool          // the job is forgotten at once
	never bool          // it waits for ever
	twice bool          // it is begun a second time as soon as it has ended
	both  bool          // it is begun twice at once
	kill  time.Duration // after which the shim is killed
	term  time.Duration // after which somebody ends the job
	reuse bool          // the number is that of the job before
	group time.Duration // after which somebody ends the job, whose program hears of it before the shim, and ends with code
	code  int
	again bool          // it is begun a second time as soon as it has ended, and finds no claim: what must not be
	late  time.Duration // it begins that much later
}

type fakeJob struct {
	batch.Job
	req    batch.Request
	cancel context.CancelCauseFunc
	gone   bool
	idle   bool // nothing becomes of it
}

var shimDir = regexp.MustCompile(`exec '[^']*' '([^']*)'`)

func newCluster(r assay.Runner) *cluster {
	return &cluster{runner: r, delay: time.Second, jobs: map[string]*fakeJob{}, finds: map[string]int{}}
}

var errDown = errors.New("Unable to contact slurm controller (connect failure)")

func (c *cluster) Submit(ctx context.Context, r batch.Request) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.submits++
	c.sent = append(c.sent, time.Now())
	var f fault
	if c.onSubmit != nil {
		f = c.onSubmit(c.submits)
	}
	if c.down && f.err == nil {
		return "", errDown
	}
	if f.lost {
		return "", f.err
	}
	if !f.reuse {
		c.last++
	}
	text, err := os.ReadFile(r.Script)
	if err != nil {
		return "", err
	}
	at := shimDir.FindStringSubmatch(string(text))[1]
	jctx, cancel := context.WithCancelCause(context.Background())
	j := &fakeJob{
		Job: batch.Job{ID: fmt.Sprint(c.last), Name: r.Name, State: batch.Waiting, Said: "PENDING"}, req: r, cancel: cancel,
	}
	j.gone, j.idle = f.drop, f.drop || f.never
	c.jobs[j.ID] = j
	if !f.drop && !f.never {
		c.wg.Go(func() { c.job(jctx, j, at, f) })
	}
	return j.ID, f.err
}

// job is the life of a job.
func (c *cluster) job(ctx context.Context, j *fakeJob, at string, f fault) {
	t := time.NewTimer(c.delay + f.late)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	code := 0
	if ctx.Err() == nil {
		c.set(j, batch.Going, "RUNNING")
		if f.term > 0 {
			time.AfterFunc(f.term, func() { j.cancel(batch.ErrTerm) })
		}
		if f.both {
			c.wg.Go(func() { c.shim(ctx, j, at, 0) })
		}
		if f.group > 0 {
			code = c.shimOf(ctx, j, at, 0, grouped{c.runner, f, j.cancel})
		} else {
			code = c.shim(ctx, j, at, f.kill)
		}
		if f.again {
			os.Remove(filepath.Join(at, "claim"))
		}
		if f.twice || f.again {
			c.shim(ctx, j, at, 0)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.State, j.Said = batch.Over, "COMPLETED"; code != 0 {
		j.Said = "FAILED"
	}
	if ctx.Err() != nil {
		j.Said = "CANCELLED"
	}
	if c.said != "" {
		j.State, j.Said = c.lies, c.said
	}
	j.gone = j.gone || c.forgets
}

// shim starts a shim, which is killed after a while if kill is positive.
func (c *cluster) shim(ctx context.Context, j *fakeJob, at string, kill time.Duration) (code int) {
	return c.shimOf(ctx, j, at, kill, c.runner)
}

func (c *cluster) shimOf(ctx context.Context, j *fakeJob, at string, kill time.Duration, r assay.Runner) (code int) {
	code = 137
	dead := make(chan struct{})
	done := make(chan struct{})
	if kill > 0 {
		time.AfterFunc(kill, func() { close(dead) })
	}
	go func() {
		defer close(done)
		s := batch.Shim{Runner: killable{r, dead}, Job: j.ID, Node: "n1"}
		code, _ = s.Run(ctx, at)
	}()
	<-done
	return code
}

// grouped is a runner whose program is ended with its job, a moment before its shim gets the signal.
type grouped struct {
	assay.Runner
	f   fault
	end context.CancelCauseFunc
}

func (g grouped) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	ended := errors.New("ended")
	ctx, cancel := context.WithTimeoutCause(ctx, g.f.group, ended)
	defer cancel()
	m, err := g.Runner.Run(ctx, job, observe)
	if errors.Is(err, ended) {
		m.ExitCode, err = g.f.code, nil
		time.AfterFunc(20*time.Millisecond, func() { g.end(batch.ErrTerm) })
	}
	return m, err
}

// killable ends the goroutine of a run when it is killed, as kill -9 ends a shim: nothing is written.
type killable struct {
	assay.Runner
	dead <-chan struct{}
}

func (k killable) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	type outcome struct {
		m   assay.Measurement
		err error
	}
	out := make(chan outcome, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		m, err := k.Runner.Run(ctx, job, observe)
		out <- outcome{m, err}
	}()
	select {
	case <-k.dead:
		cancel(errors.New("killed"))
		<-out
		runtime.Goexit()
	case o := <-out:
		return o.m, o.err
	}
	panic("not reached")
}

func (c *cluster) set(j *fakeJob, s batch.State, said string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.State, j.Said = s, said
}

func (c *cluster) Poll(ctx context.Context) ([]batch.Job, error) {
	c.mu.Lock()
	c.polls++
	c.asked = append(c.asked, time.Now())
	n, on := c.polls, c.onPoll
	c.mu.Unlock()
	if on != nil {
		if jobs, err, is := on(n); is {
			if err == errHang {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return jobs, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return nil, errDown
	}
	var all []batch.Job
	for _, j := range c.jobs {
		if !j.gone {
			all = append(all, j.Job)
		}
	}
	return all, nil
}

var errHang = errors.New("it hangs")

func (c *cluster) Find(_ context.Context, names ...string) (all []batch.Job, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks++
	for _, name := range names {
		c.finds[name]++
	}
	if c.noRecord {
		return nil, nil
	}
	for _, j := range c.jobs {
		if !slices.Contains(names, j.Name) {
			continue
		}
		k := j.Job
		if c.pending {
			k.State, k.Said = batch.Waiting, "PENDING"
		}
		all = append(all, k)
	}
	return all, nil
}

func (c *cluster) Cancel(_ context.Context, jobs ...batch.Job) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels++
	if c.down {
		return errDown
	}
	want := map[string]bool{}
	for _, j := range jobs {
		want[j.Name] = true
	}
	for _, j := range c.jobs {
		if want[j.Name] {
			j.cancel(batch.ErrTerm)
			if j.idle {
				j.State, j.Said = batch.Over, "CANCELLED"
			}
		}
	}
	return nil
}

func (c *cluster) Lower(_ context.Context, to time.Duration, jobs ...batch.Job) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lowers++
	for _, job := range jobs {
		if j := c.jobs[job.ID]; j != nil && j.Name == job.Name {
			j.req.Walltime = to
		}
	}
	return len(jobs), nil
}

// misled returns for how many trials the system reports another outcome than their runs had, at its end: that they
// ended well or failed, or nothing.
func (c *cluster) misled(trials int64) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := map[int64]string{}
	for _, j := range c.jobs {
		var trial int64
		if _, err := fmt.Sscanf(regexp.MustCompile(`-(\d+)-0-\d+$`).FindString(j.Name), "-%d-", &trial); err == nil &&
			!j.gone {
			said[trial] = j.Said
		}
	}
	for trial := int64(1); trial <= trials; trial++ {
		want := "COMPLETED"
		if trial%8 != 0 { // its code
			want = "FAILED"
		}
		if said[trial] != want {
			n++
		}
	}
	return n
}

// alive returns how many jobs wait or run.
func (c *cluster) alive() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if j.State != batch.Over && !j.gone {
			n++
		}
	}
	return n
}

// sleeper is a runner whose runs take the time that their arguments set, and end with a code. It counts the runs that
// began and that ended, by trial.
type sleeper struct {
	mu    sync.Mutex
	began map[int64]int
	ended map[int64]int
	all   atomic.Int64
}

func newSleeper() *sleeper { return &sleeper{began: map[int64]int{}, ended: map[int64]int{}} }

func (s *sleeper) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	s.mu.Lock()
	s.began[job.ID.Trial]++
	s.mu.Unlock()
	n := s.all.Add(1)
	var lasts time.Duration
	var code int
	fmt.Sscanf(job.Argv[0], "%d", &lasts)
	fmt.Sscanf(job.Argv[1], "%d", &code)
	start := time.Now()
	tick := time.NewTicker(max(job.Interval, time.Millisecond))
	defer tick.Stop()
	so := func() assay.Measurement {
		return assay.Measurement{Elapsed: time.Since(start), Metrics: map[string]float64{"serial": float64(n)}}
	}
	end := time.NewTimer(lasts)
	defer end.Stop()
	var limit <-chan time.Time
	if job.Limit > 0 {
		limit = time.After(job.Limit)
	}
	for {
		select {
		case <-end.C:
			m := so()
			m.ExitCode = code
			s.mu.Lock()
			s.ended[job.ID.Trial]++
			s.mu.Unlock()
			return m, nil
		case <-ctx.Done():
			return so(), context.Cause(ctx)
		case <-limit:
			return so(), assay.ErrLimit
		case <-tick.C:
			if observe != nil {
				observe(so())
			}
		}
	}
}

// work returns a job of a trial that takes a while and ends with a code.
func work(trial int64, lasts time.Duration, code int) assay.Job {
	return assay.Job{
		ID: assay.RunID{Study: "s", Trial: trial, Attempt: 1}, Argv: []string{fmt.Sprint(int64(lasts)), fmt.Sprint(code)},
		Interval: 5 * time.Second,
	}
}

func open(c batch.System, dir string, change func(*batch.Options)) (*batch.Runner, error) {
	o := batch.Options{System: c, Dir: filepath.Join(dir, "spool"), Shim: []string{"shim"}}
	if change != nil {
		change(&o)
	}
	return batch.New(o)
}
