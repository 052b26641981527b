package worker

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay/queue"
)

// lines writes what a worker does, one line each. It is safe for concurrent use.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// f writes a line. Control characters of names and values are made visible: what a server sends
// is data for a terminal too.
func (l *lines) f(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		fmt.Fprintln(l.w, strings.Map(visible, fmt.Sprintf(format, args...)))
	}
}

func visible(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 {
		return '?'
	}
	return r
}

// begins writes that an attempt begins.
func (l *lines) begins(t queue.Task) {
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
	how, reason := o.Why, o.Reason
	switch {
	case how != "":
	case m.Failure != nil:
		how, reason = "failed", m.Failure.Reason
	case m.ExitCode != 0:
		how, reason = "failed", fmt.Sprintf("exited with code %d", m.ExitCode)
	default:
		how = "done"
	}
	figures := clock(m.Elapsed)
	if rss, ok := m.Metrics["max_rss"]; ok {
		figures += "  " + bytesText(rss)
	}
	l.f("%s", strings.TrimRight(fmt.Sprintf("%-20s %-9s %s  %s", label(o.ID), how, figures, reason), " "))
}

// clock writes a time as minutes and seconds, or hours.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// bytesText writes a number of bytes with two digits that count.
func bytesText(x float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	i := 0
	for ; x >= 999.5 && i < len(units)-1; i++ {
		x /= 1000
	}
	if x < 9.95 && i > 0 {
		return fmt.Sprintf("%.1f %s", x, units[i])
	}
	return fmt.Sprintf("%.0f %s", x, units[i])
}
