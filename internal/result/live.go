package result

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// redrawEvery is the interval of redraws of the status line between events.
const redrawEvery = 250 * time.Millisecond

// A Screen shows lines that stay, and one line below them that changes.
type Screen interface {
	Print(line string)
	Set(line string)
}

// A Live shows a study while it runs: on a terminal a status line, above it a
// line for every new best; elsewhere a line for every trial.
type Live struct {
	Space     *assay.Space
	Goal      assay.Goal
	Budget    spec.Budget
	Simulated bool   // simulated time, which stands still between events
	Screen    Screen // the display
	Terminal  bool   // Screen is a terminal

	done chan struct{}
	wg   sync.WaitGroup

	mu    sync.Mutex
	last  study.Progress
	at    time.Time // of the last result
	shown int       // trials that have had their line
	best  *float64  // of the trials shown
	// points are the front of the trials shown, of several objectives.
	points [][]float64
	drain  bool
	warn   bool // of too many stops that nothing has proved right
}

// Start prints the start of a study, and keeps the status line moving.
func (l *Live) Start(name string, resumed bool) {
	verb := "study"
	if resumed {
		verb = "resuming study"
	}
	l.print(fmt.Sprintf("%s %s: %s, %s configurations", verb, name, GoalText(l.Goal), l.Space.Size()))
	l.done = make(chan struct{})
	if !l.Terminal {
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

// print shows a line that stays.
func (l *Live) print(line string) { l.Screen.Print(report.Visible(line)) }

// Close ends the updates that [Live.Start] began. The screen belongs to the caller.
func (l *Live) Close() {
	if l.done != nil {
		close(l.done)
	}
	l.wg.Wait()
}

// Draining is called at the first interrupt.
func (l *Live) Draining() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain = true
	text := "interrupted: waiting for the runs in flight; again to end at once"
	if len(l.last.Running) == 0 {
		text = "interrupted"
	}
	l.print(text)
}

// Notify is called by the study whenever something changes.
func (l *Live) Notify(p study.Progress) {
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

// unprovenMost is the number of consecutive runs that may be stopped on predictions alone before a message is printed.
const unprovenMost = 30

// unproven prints, once, that no run has tested the stops for a long time.
func (l *Live) unproven() {
	if l.warn || study.Unproven(l.last.Trials) < unprovenMost {
		return
	}
	l.warn = true
	l.print(fmt.Sprintf("warning: the last %d runs were stopped on predictions, "+
		"and none has shown whether these are right; stop: {rule: ..., audit: 0.1} lets some run on, "+
		"--stop incumbent predicts nothing", unprovenMost))
}

// replayed describes the trials of an earlier session.
func (l *Live) replayed() {
	l.shown = len(l.last.Trials)
	if l.shown == 0 {
		return
	}
	text := fmt.Sprintf("%d trials on record, %s spent", l.shown, report.Duration(l.last.Spent))
	if l.Goal.Several() {
		for _, t := range l.last.Trials {
			l.enters(t)
		}
		text += fmt.Sprintf(", %d in the front", len(l.points))
	} else if b := l.last.Best; b != nil {
		l.best = &b.Value
		text += ", best " + report.Metric(l.Goal.Show(b.Value), l.Goal.Unit)
	}
	l.print(text)
}

// line prints one trial that has ended. On a terminal it prints only new best trials, and trials that failed or were
// outside the limits, with the reason.
func (l *Live) line(t assay.Trial) {
	improved := t.State == assay.Done && t.Value < l.least()
	if l.Goal.Several() {
		improved = l.enters(t)
	} else if improved {
		l.best = &t.Value
	}
	reason := why(l.Goal, t)
	if l.Terminal && !improved && reason == "" {
		return
	}
	mark := " "
	if improved {
		mark = "*"
	}
	text := fmt.Sprintf("%s %4d  %-14s %10s  %s", mark, t.ID, wordOf(l.Goal, t.State), valueText(l.Goal, t),
		l.Space.Text(t.Config))
	if reason != "" {
		text += "  (" + reason + ")"
	}
	l.print(text)
}

// enters takes a trial in, and reports whether none that was shown before beats it, of several objectives.
func (l *Live) enters(t assay.Trial) bool {
	v, err := l.Goal.Values(t.Measurement)
	if err != nil || t.State != assay.Done {
		return false
	}
	for _, p := range l.points {
		if assay.Dominates(p, v) || slices.Equal(p, v) {
			return false
		}
	}
	l.points = slices.DeleteFunc(l.points, func(p []float64) bool { return assay.Dominates(v, p) })
	l.points = append(l.points, v)
	return true
}

// least returns the best value of the trials shown, +Inf before the first.
func (l *Live) least() float64 {
	if l.best == nil {
		return math.Inf(1)
	}
	return *l.best
}

// draw shows the status line: trials, the best so far, time, and current runs.
func (l *Live) draw() {
	p := l.last
	var b strings.Builder
	fmt.Fprintf(&b, "%d", len(p.Trials))
	if n := l.Budget.Trials; n > 0 {
		fmt.Fprintf(&b, "/%d", n)
	}
	b.WriteString(" trials")
	if best := p.Best; l.Goal.Several() && best != nil {
		fmt.Fprintf(&b, " · %d in the front", len(l.points))
	} else if best != nil {
		fmt.Fprintf(&b, " · best %s (%s)", report.Metric(l.Goal.Show(best.Value), l.Goal.Unit), l.Space.Text(best.Config))
	}
	spent := p.Spent
	if !l.Simulated && !l.at.IsZero() {
		spent += time.Since(l.at)
	}
	fmt.Fprintf(&b, " · %s", report.Duration(spent.Truncate(time.Second)))
	if left := l.Budget.Time - spent; left > 0 {
		fmt.Fprintf(&b, ", %s left", report.Duration(left.Truncate(time.Second)))
	}
	switch {
	case l.drain:
		b.WriteString(" · ending")
	case p.Checks > 0:
		b.WriteString(" · comparing the best with the first")
	case slices.ContainsFunc(p.Running, func(r study.Running) bool { return r.Again }):
		b.WriteString(" · repeating the leaders")
	}
	for _, r := range p.Running {
		fmt.Fprintf(&b, " · running %s", l.Space.Text(r.Config))
	}
	l.Screen.Set(report.Visible(b.String()))
}
