package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
)

// redrawEvery is how often the status line is drawn while nothing happens.
const redrawEvery = 250 * time.Millisecond

// live shows a study while it runs: on a terminal a status line, above it a
// line for every new best; elsewhere a line for every trial.
type live struct {
	p      *setup.Problem
	status *term.Status
	tty    bool
	done   chan struct{}
	wg     sync.WaitGroup

	mu    sync.Mutex
	last  study.Progress
	at    time.Time // when last came
	shown int       // trials that have had their line
	best  float64   // of the trials shown
	drain bool
	warn  bool // of too many stops that nothing has proved right
}

func newLive(w io.Writer, p *setup.Problem) *live {
	_, tty := terminal(w)
	return &live{p: p, status: newStatus(w), tty: tty, done: make(chan struct{}), best: math.Inf(1)}
}

// start says what begins, and keeps the status line moving.
func (l *live) start(name string, resumed bool) {
	verb := "study"
	if resumed {
		verb = "resuming study"
	}
	l.status.Print(fmt.Sprintf("%s %s: %s, %s configurations", verb, name, result.GoalText(l.p.Goal), l.p.Space.Size()))
	if !l.tty {
		return
	}
	l.wg.Go(func() {
		t := time.NewTicker(redrawEvery)
		defer t.Stop()
		for {
			select {
			case <-l.done:
				return
			case <-t.C:
				l.mu.Lock()
				l.draw()
				l.mu.Unlock()
			}
		}
	})
}

func (l *live) close() {
	close(l.done)
	l.wg.Wait()
	l.status.Close()
}

// draining is called at the first interrupt.
func (l *live) draining() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain = true
	text := "interrupted: waiting for the runs in flight; again to end at once"
	if len(l.last.Running) == 0 {
		text = "interrupted"
	}
	l.status.Print(text)
}

// notify is called by the study whenever something changes.
func (l *live) notify(p study.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The loop reuses Running; Trials only grows.
	p.Running = append([]study.Running(nil), p.Running...)
	l.last, l.at = p, time.Now()
	if p.Replay {
		l.replayed()
		return
	}
	for ; l.shown < len(p.Trials); l.shown++ {
		l.line(p.Trials[l.shown])
	}
	l.unproven()
	l.draw()
}

// unprovenMost is how many runs in a row may be stopped on predictions alone before
// somebody is told.
const unprovenMost = 30

// unproven says, once, that for long no run has shown whether the stops are right.
func (l *live) unproven() {
	if l.warn || study.Unproven(l.last.Trials) < unprovenMost {
		return
	}
	l.warn = true
	l.status.Print(fmt.Sprintf("warning: the last %d runs were stopped on predictions, and none has shown whether these are right; "+
		"stop: {rule: ..., audit: 0.1} lets some run on, --stop incumbent predicts nothing", unprovenMost))
}

// replayed says what an earlier session left.
func (l *live) replayed() {
	l.shown = len(l.last.Trials)
	if l.shown == 0 {
		return
	}
	text := fmt.Sprintf("%d trials on record, %s spent", l.shown, report.Duration(l.last.Spent))
	if b := l.last.Best; b != nil {
		l.best = b.Value
		text += ", best " + showMetric(l.p.Goal.Show(b.Value), l.p.Goal.Unit)
	}
	l.status.Print(text)
}

// line prints one trial that has ended. On a terminal only what is new best.
func (l *live) line(t assay.Trial) {
	improved := t.State == assay.Done && t.Value < l.best
	if improved {
		l.best = t.Value
	}
	if l.tty && !improved {
		return
	}
	mark := " "
	if improved {
		mark = "*"
	}
	text := fmt.Sprintf("%s %4d  %-10s %10s  %s", mark, t.ID, t.State, showValue(l.p.Goal, t), l.p.Space.Text(t.Config))
	if t.State == assay.Failed || t.State == assay.Infeasible || t.State == assay.Withdrawn && t.Reason != "" {
		text += "  (" + t.Reason + ")"
	}
	l.status.Print(text)
}

// draw shows the status line: trials, the best so far, time, and what runs now.
func (l *live) draw() {
	p := l.last
	var b strings.Builder
	fmt.Fprintf(&b, "%d", len(p.Trials))
	if n := l.p.Definition.Budget.Trials; n > 0 {
		fmt.Fprintf(&b, "/%d", n)
	}
	b.WriteString(" trials")
	if best := p.Best; best != nil {
		fmt.Fprintf(&b, " · best %s (%s)", showMetric(l.p.Goal.Show(best.Value), l.p.Goal.Unit), l.p.Space.Text(best.Config))
	}
	spent := p.Spent
	if l.p.Table == nil && !l.at.IsZero() {
		spent += time.Since(l.at)
	}
	fmt.Fprintf(&b, " · %s", report.Duration(spent.Truncate(time.Second)))
	if left := l.p.Definition.Budget.Time - spent; left > 0 {
		fmt.Fprintf(&b, ", %s left", report.Duration(left.Truncate(time.Second)))
	}
	switch {
	case l.drain:
		b.WriteString(" · ending")
	case p.Checks > 0 || len(p.Running) > 0 && l.checking():
		b.WriteString(" · comparing the best with the first")
	}
	for _, r := range p.Running {
		fmt.Fprintf(&b, " · running %s", l.p.Space.Text(r.Config))
	}
	l.status.Set(b.String())
}

// checking reports whether what runs repeats a trial.
func (l *live) checking() bool {
	for _, t := range l.last.Trials {
		if t.ID == l.last.Running[0].ID {
			return true
		}
	}
	return false
}
