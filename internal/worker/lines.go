package worker

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/report"
)

// lines writes the worker's log, one line each, to log if that is not nil, else to w. It is safe for concurrent use.
type lines struct {
	log *slog.Logger
	mu  sync.Mutex
	w   io.Writer
}

// f writes a line. Control characters of names and values are made visible, because a server must not control the
// terminal.
func (l *lines) f(format string, args ...any) {
	if l.log != nil {
		l.log.Info(fmt.Sprintf(format, args...))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		fmt.Fprintln(l.w, strings.Map(visible, fmt.Sprintf(format, args...)))
	}
}

// of writes a line about an attempt.
func (l *lines) of(id assay.RunID, format string, args ...any) {
	if l.log != nil {
		l.log.Info(fmt.Sprintf(format, args...), queue.LogID(id)...)
		return
	}
	l.f("%s: %s", label(id), fmt.Sprintf(format, args...))
}

func visible(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return '?'
	}
	return r
}

// begins writes that an attempt begins.
func (l *lines) begins(t queue.Task) {
	if l.log != nil {
		l.log.Info("run began", append(queue.LogID(t.ID), "values", t.Values)...)
		return
	}
	var values []string
	for _, name := range slices.Sorted(maps.Keys(t.Values)) {
		values = append(values, name+"="+t.Values[name])
	}
	what := strings.Join(values, " ")
	if len(what) > 200 {
		what = what[:200] + "..."
	}
	l.f("%s", strings.TrimRight(fmt.Sprintf("%-20s run       %s", label(t.ID), what), " "))
}

// ends writes how an attempt ended.
func (l *lines) ends(o queue.Outcome) {
	m := o.Measurement
	how, reason := ending(o)
	if l.log != nil {
		l.log.Info("run ended", append(queue.LogID(o.ID), "state", how, "reason", reason,
			"elapsed_s", m.Elapsed.Seconds())...)
		return
	}
	figures := clock(m.Elapsed)
	if rss, ok := m.Metrics["max_rss"]; ok {
		figures += "  " + report.Metric(rss, "B")
	}
	l.f("%s", strings.TrimRight(fmt.Sprintf("%-20s %-9s %s  %s", label(o.ID), how, figures, reason), " "))
}

// ending returns the word for how an attempt ended, and the reason.
func ending(o queue.Outcome) (how, reason string) {
	m := o.Measurement
	switch {
	case o.Why != "":
		return o.Why, o.Reason
	case m.Failure != nil:
		return "failed", m.Failure.Reason
	case m.ExitCode != 0:
		return "failed", fmt.Sprintf("exited with code %d", m.ExitCode)
	}
	return "done", o.Reason
}

// failure returns why an attempt did not end well, "" if it did.
func failure(o queue.Outcome) string {
	how, reason := ending(o)
	if how == "done" {
		return ""
	}
	return cmp.Or(reason, how)
}

// clock writes a time as minutes and seconds, or hours.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
