package study

import (
	"context"
	"time"

	"github.com/assay-run/assay"
)

// A control decides whether the study goes on: the part of the loop that has the budget, and obeys a [Control].
type control struct {
	*session
	parts    progress
	hold     func(on bool) // holds the runs, or lets them go on
	carryOut func(ctx context.Context, c command)
	limit    Budget // the study's, unless it was steered
	live     bool   // the record was read
	paused   bool
	reopened bool   // the search is to go on that had ended
	by       string // why the study is over, or ""
	enough   enough // is worth no further run
	overhead time.Duration
}

// A progress has the figures that decide whether the study is over.
type progress interface {
	// reached reports whether the best is at least as good as a value, and nothing makes it doubtful.
	reached(target float64) bool
	// room returns how many more trials a budget has room for.
	room(trials int) int
	// pending reports whether given configurations, or trials that did not count, are to be run.
	pending() (given, redo bool)
	// reserve returns the time that is kept back for repeated runs.
	reserve() time.Duration
	trials() []assay.Trial // that have ended
}

func newControl(s *session, parts progress, hold func(bool), carryOut func(context.Context, command)) *control {
	return &control{session: s, parts: parts, hold: hold, carryOut: carryOut, limit: s.Budget}
}

// read takes in an event of the record.
func (c *control) read(e assay.Event) {
	switch {
	case e.Steered != nil && c.Control != nil:
		c.obey(*e.Steered)
	case e.Ended != nil && e.Ended.By == byGain:
		c.enough.End = *e.Ended
	}
}

// recall takes in an event of a record that is not resumed, and returns how the study ended so far.
func (c *control) recall(e assay.Event) (short string) {
	if c.by = ""; e.Ended != nil {
		c.by, short = e.Ended.By, e.Ended.Short
		c.enough.End = *e.Ended
	}
	return short
}

// goLive ends the reading of the record.
func (c *control) goLive() { c.live = true }

// start begins the time of the session.
func (c *control) start(began time.Time) {
	if c.record.watch.start(began); c.paused {
		c.record.watch.halt()
		c.hold(true)
	}
}

// goOn has the search go on after the end of an earlier one.
func (c *control) goOn() { c.by = "" }

// search begins a search.
func (c *control) search() { c.reopened = false }

// end ends the study for a reason.
func (c *control) end(by string) { c.by = by }

// endedBy returns why the study is over, or "".
func (c *control) endedBy() string { return c.by }

// budget returns the limits of the study.
func (c *control) budget() Budget { return c.limit }

// setTrials changes the greatest number of trials, and nothing else.
func (c *control) setTrials(n int) { c.limit.Trials = n }

// held reports whether the study is paused.
func (c *control) held() bool { return c.paused }

// goesOn reports whether the search is to go on that had ended.
func (c *control) goesOn() bool { return c.reopened }

// why returns why no more is to be gained, if the study ended because of that, and the time of judging it.
func (c *control) why() (text string, overhead time.Duration) {
	if c.by == byGain {
		text = c.enough.Why
	}
	return text, c.overhead
}

// given has a search that had ended go on for configurations that people gave.
func (c *control) given(owed bool) {
	if c.by == "search" || c.by == "target" || c.by == byGain || c.by == "trials" && owed {
		c.reopen()
	}
}

// signals returns the signals that end a wait for trials. Once something has ended the
// search, only trials and commands are waited for: a closed Drain would be ready for ever.
func (c *control) signals() signals {
	s := signals{broken: c.record.ends(), commands: c.commands()}
	if c.by == "" {
		s.drain, s.room = c.Drain, !c.paused
	}
	return s
}

// commands returns the commands of the [Control], if any.
func (c *control) commands() <-chan command {
	if c.Control == nil {
		return nil
	}
	return c.Control.commands
}

// steer records a decision about the study and obeys it. One that changes nothing is not recorded.
func (c *control) steer(ctx context.Context, s assay.StudyCommand) (changed bool, err error) {
	switch {
	case s.Do == steerPause && c.paused, s.Do == steerRun && !c.paused:
		return false, nil
	case s.Trials < 0 || s.Time < 0:
		return false, assay.Errorf(assay.ClassUsage, "a budget cannot be negative")
	case s.Do == steerBudget && s.Trials == 0 && s.Time == 0:
		return false, assay.Errorf(assay.ClassUsage, "no budget was given: neither trials nor a time")
	}
	// The time of a pause ends before its event, and begins after: the record has the time spent.
	if s.Do == steerPause {
		c.record.watch.halt()
	}
	if err := c.record.append(ctx, assay.Event{Steered: &s}); err != nil {
		return false, err
	}
	c.obey(s)
	return true, nil
}

// obey carries out a steering on record.
func (c *control) obey(s assay.StudyCommand) {
	switch s.Do {
	case steerPause, steerRun:
		c.paused = s.Do == steerPause
	case steerBudget:
		if s.Trials > 0 {
			c.limit.Trials = s.Trials
		}
		if s.Time > 0 {
			c.limit.Time = s.Time
		}
		if c.enough.By == byGain { // a person wants more, at any expected gain
			c.enough = enough{off: true}
		}
		if c.by == "trials" || c.by == "budget" || c.by == byGain {
			c.reopen()
		}
	}
	if !c.live { // the record is read
		return
	}
	if c.hold(c.paused); !c.paused {
		c.record.watch.start(c.clock.Now())
	}
}

// reopen has the search go on that had ended.
func (c *control) reopen() {
	c.by, c.reopened = "", true
}

// over returns why the study is over, or "". If there are several reasons the first of them is recorded: the user's
// decision, then the goal of the study, then its budget.
func (c *control) over(ctx context.Context) string {
	if ctx.Err() != nil {
		return "interrupt"
	}
	select {
	case <-c.Drain:
		return "interrupt"
	default:
	}
	if t := c.limit.Target; t != nil && c.parts.reached(*t) {
		return "target"
	}
	_, redo := c.parts.pending()
	if c.limit.Trials > 0 && c.parts.room(c.limit.Trials) <= 0 && !redo {
		return "trials"
	}
	if c.limit.Time > 0 && c.left() <= 0 {
		return "budget"
	}
	if c.limit.CPUHours > 0 && c.record.cpuHours() >= c.limit.CPUHours*c.forSearch() {
		return byCPUHours
	}
	if c.gained() {
		return byGain
	}
	return ""
}

// byCPUHours is the end of a study whose hours of processors are spent.
const byCPUHours = "cpu_hours"

// forSearch is the share of the hours of processors that the search may spend.
func (c *control) forSearch() float64 {
	if c.Check > 0 {
		return 1 - checkShare
	}
	return 1
}

// exhausted reports whether the hours of processors are spent, so that nothing is run again either.
func (c *control) exhausted() bool {
	return c.limit.CPUHours > 0 && c.record.cpuHours() >= c.limit.CPUHours
}

// left returns the rest of the time budget for the search.
func (c *control) left() time.Duration { return c.limit.Time - c.parts.reserve() - c.record.spent() }

// remaining returns the time that a trial has which begins now, 0 for no limit.
func (c *control) remaining() time.Duration {
	if c.limit.Time > 0 {
		return c.left()
	}
	return 0
}

// timed reports whether nothing but the time budget bounds the race: where the search has used its part of it, or has
// tried all there is. A study that ended because of something else, such as its number of trials, need not use up its
// time.
func (c *control) timed() bool {
	return c.limit.Time > 0 && (c.by == "budget" || c.by == "search")
}

// pressed reports whether the search goes on until the time budget is spent, or has ended because of that: the time
// of a repeated run is then lost to the search.
func (c *control) pressed() bool { return c.limit.Time > 0 && (c.by == "" || c.by == "budget") }

// interrupted reports whether a person has ended the study, or has the search go on, and sets
// why for Drain; Run sets it for ctx. It returns when no pause holds the study.
func (c *control) interrupted(ctx context.Context) bool {
	for c.paused && !c.reopened && c.record.failed() == nil {
		select {
		case <-ctx.Done():
			return true
		case <-c.Drain:
			c.by = "interrupt"
			return true
		case <-c.record.broken:
		case do := <-c.commands():
			c.carryOut(ctx, do)
		}
	}
	if c.reopened || c.record.failed() != nil {
		return true
	}
	select {
	case <-ctx.Done():
		return true
	case <-c.Drain:
		c.by = "interrupt"
		return true
	default:
		return false
	}
}

// idle waits in real time while nothing runs: until a command, or until the Runner may have room
// again. A Runner whose capacity changes, and a study with a [Control], are none of a simulation. It
// returns why the study is over, or "".
func (c *control) idle(ctx context.Context) string {
	var room <-chan time.Time
	if !c.paused {
		room = time.After(capacityEvery)
	}
	select {
	case <-ctx.Done():
	case <-c.Drain:
	case <-room:
	case <-c.record.broken:
	case do := <-c.commands():
		c.carryOut(ctx, do)
	}
	return c.over(ctx)
}

// ending returns the end of the session for the record.
func (c *control) ending(short string) assay.End {
	e := assay.End{By: c.by, Short: short}
	if e.By == byGain {
		e.Why, e.Gain = c.enough.Why, c.enough.Gain
	}
	return e
}
