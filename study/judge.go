package study

import (
	"math"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/race"
)

// A judge has the runs on record: the part of the loop that finds the best configuration. It has no
// knowledge of the other parts. The loop calls it from one goroutine; [judge.past], [judge.asSeen] and
// [judge.interval] are called by the runs too, and guarded by the mutex.
type judge struct {
	study *Study
	// frontier is the Pareto front of several objectives.
	frontier frontier
	races    []assay.Trial // runs that find out which is best
	checks   []assay.Trial // runs that compare the best with the first
	lasted   lasted
	thrift   thrift
	one      *assay.Trial // the first proposal's, or nil while it runs
	finished *assay.Trial // of the least ID that is done, or nil
	replayed int          // trials of earlier sessions

	mu sync.Mutex
	blocked
	contest
	top   *assay.Trial  // of the history, or nil
	shown []assay.Trial // of the history, as far as it was asked for; see trials
}

// A contest is the knowledge of configurations whose runs differ; see package race. It is empty in a study where a
// single run decides, such as a study of a recorded table.
type contest struct {
	racing   bool
	anywhere bool // see Study.Anywhere
	field    race.Field
	// target is the same of the runs on the target class alone, of a study on machines of any class.
	target race.Field
	// seen is the history as a Stopper sees it: each trial that is done has the value that may end other runs. It is
	// made when a run looks, since most studies have no rule, and then kept up to date; stale marks it to be made anew.
	// A slice that was handed out is not changed.
	seen  []assay.Trial
	stale bool
	least float64 // the value that may end other runs, +Inf without one
	quiet bool    // of field, when seen was made
}

// newJudge returns the judge of an empty record. roll numbers the configurations.
func newJudge(s *Study, roll *assay.ConfigIndex) *judge {
	j := &judge{study: s, lasted: lasted{roll: roll}, frontier: frontier{goal: s.Goal}, blocked: newBlocked(s)}
	if s.racing() {
		j.contest = contest{
			racing: true, anywhere: s.Anywhere, field: j.emptyField(), target: j.emptyField(),
			least: math.Inf(1), stale: true,
		}
	}
	return j
}

// emptyField returns a field without runs.
func (j *judge) emptyField() race.Field { return race.Of(&j.shelf, j.study.Goal.Bounds()...) }

// best returns the best trial, with the median of its runs as its value, or nil.
func (j *judge) best() *assay.Trial { return j.top }

// first returns the baseline, which the best is compared with. It is the trial of the first proposal, or nil while that
// runs. If the run was stopped and is no declared default, the baseline is the first trial that is done.
func (j *judge) first() *assay.Trial {
	if j.one == nil || !j.one.Stopped() || j.study.Declared || j.finished == nil {
		return j.one
	}
	return j.finished
}

// counts returns how many trials have ended, and how many runs were made to find out which is best.
func (j *judge) counts() (trials, races int) { return len(j.history), len(j.races) }

// read takes in an event of the record.
func (j *judge) read(e assay.Event) {
	switch {
	case e.Told != nil:
		j.remember(*e.Told)
	case e.Checked != nil:
		j.recheck(*e.Checked, e.Race)
	}
}

// compared returns how many runs compare the best with the first.
func (j *judge) compared() int { return len(j.checks) }

// resumed marks the trials on record as trials of earlier sessions.
func (j *judge) resumed() {
	j.replayed = len(j.history)
	j.choose()
}

// ended returns the history for a reader outside the loop.
func (j *judge) ended() []assay.Trial {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.trials()
}

// remember adds a trial in a final state to the history, which keeps it. Among equal values the trial that ended
// first stays the best.
func (j *judge) remember(t assay.Trial) {
	if t.ID == 1 {
		one := t
		j.one = &one
	}
	if t.State == assay.Done && (j.finished == nil || t.ID < j.finished.ID) {
		finished := t
		j.finished = &finished
	}
	j.lasted.trial(t)
	j.thrift.trial(t)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.history = append(j.history, int32(j.shelf.Len()))
	j.takeIn(t, searched)
}

// recheck takes note of a run that was made again: of the race, or to compare the best with
// the first.
func (j *judge) recheck(t assay.Trial, race bool) {
	switch {
	case race:
		j.races = append(j.races, t)
	default:
		j.checks = append(j.checks, t)
	}
	j.lasted.run(t)
	j.thrift.again(t)
	j.mu.Lock()
	defer j.mu.Unlock()
	if race {
		j.takeIn(t, raced)
	} else {
		j.takeIn(t, compared)
	}
}

// takeIn takes a run into account. The mutex is held.
func (j *judge) takeIn(t assay.Trial, why purpose) {
	k := known{t, why, j.shelf.Put(t)}
	j.purposes = append(j.purposes, why)
	j.model.Add(t)
	if v := j.model.Version(); v != j.version {
		j.version = v
		j.recount()
		return
	}
	j.count(k)
	if j.racing && why != compared {
		j.look(k)
	}
}

// recount takes all runs in anew. The mutex is held.
func (j *judge) recount() {
	j.top, j.frontier = nil, frontier{goal: j.study.Goal}
	if j.racing {
		j.field, j.target = j.emptyField(), j.emptyField()
	}
	for k := range j.known() {
		j.count(k)
	}
	if j.racing {
		j.least, j.quiet = j.field.Incumbent(), j.field.Quiet()
		j.stale = true
	}
}

// count takes a run into the knowledge of its configuration. The mutex is held.
func (j *judge) count(k known) {
	if j.study.Goal.Several() {
		j.frontier.take(k.Trial, k.purpose)
		j.balanced()
		return
	}
	t := j.corrected(k.Trial)
	if !j.racing {
		if k.purpose == searched && k.State == assay.Done && (j.top == nil || t.Value < j.top.Value) {
			best := t
			j.top = &best
		}
		return
	}
	fields := []*race.Field{&j.field}
	if j.study.Anywhere && k.Measurement.MachineClass == j.model.Target() {
		fields = append(fields, &j.target)
	}
	for _, f := range fields {
		if k.purpose == compared {
			f.Refute(t)
		} else {
			f.AddFrom(k.number, t)
		}
	}
}

// choose sets the best: with the median of its runs as its value.
func (j *judge) choose() {
	if !j.racing {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.top = nil
	if e, ok := j.answers().Best(); ok {
		t := e.Trial
		t.Value = e.Value()
		j.top = &t
	}
}

// trials returns the history as others see it. The mutex is held, or only the loop runs.
func (j *judge) trials() []assay.Trial {
	for t := range j.all(len(j.shown)) {
		j.shown = append(j.shown, t)
	}
	return j.shown
}

// hopeless reports whether the first trials of this session, Hopeless of them, all failed for one reason, and every
// trial on record failed. Then the configurations are not at fault: a metric that never appears, a server that is not
// installed. A resumed session tries as many again, since the cause may have been removed.
func (j *judge) hopeless() bool {
	if j.study.Hopeless <= 0 || len(j.history)-j.replayed != j.study.Hopeless {
		return false
	}
	for t := range j.all(0) {
		if t.State != assay.Failed {
			return false
		}
	}
	first := sameReason(j.told(j.replayed))
	for t := range j.all(j.replayed) {
		if sameReason(t) != first {
			return false
		}
	}
	return true
}

// interval returns how often a run is observed, for a job with the interval every. If the best run is shorter than
// that, the time that a stop could save is not worth its noise.
func (j *judge) interval(every time.Duration) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.study.Finest <= 0 || j.top == nil || every <= 0 || j.top.Measurement.Elapsed < every {
		return every
	}
	return min(every, max(j.study.Finest, j.top.Measurement.Elapsed/observations))
}

// durations returns how long runs are likely to take.
func (j *judge) durations() durations { return &j.lasted }

// reached reports whether the best is at least as good as a value of the metric.
func (j *judge) reached(target float64) bool {
	return j.top != nil && j.top.Value <= j.study.Goal.Show(target)
}

// answer returns a Result that has the knowledge of the judge alone.
func (j *judge) answer() Result {
	r := Result{
		Trials: j.trials(), Checks: j.correctedAll(j.checks), Races: j.correctedAll(j.races),
		Replayed: j.replayed, Refuted: j.refuted(), Workers: j.model.Effects(),
	}
	if r.Found = j.top != nil && j.holds(*j.top); r.Found {
		r.Best = *j.top
		r.Best.Value, r.Runs = j.measured(*j.top)
	}
	if first := j.first(); first != nil {
		r.First = j.corrected(*first)
	}
	if j.study.Goal.Several() {
		r.Front, r.Refuted = j.frontier.front(), j.refutedOfFront()
		for _, m := range r.Front {
			if r.Found && m.ID == r.Best.ID {
				r.Runs = m.Runs
			}
		}
	}
	return r
}
