package term

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// redrawEvery is the least time between two drawings of a changing status.
const redrawEvery = 100 * time.Millisecond

// A Status is a live line at the bottom of a terminal. Permanent lines are printed above it. Without a
// terminal there is no status and the permanent lines are plain.
//
// It is safe for concurrent use and starts no goroutine: a line that was set within 0.1 s of the last
// drawing is drawn by a later Set or Print. Call Set again, with the same line too, as often as a clock
// in it should move.
type Status struct {
	mu     sync.Mutex
	w      io.Writer
	isTTY  bool
	width  func() int
	now    func() time.Time
	line   string // the line to show
	drawn  string // the line that is shown, "" if none
	last   time.Time
	closed bool
	err    error // the first error of w, after which nothing is written
}

// NewStatus returns a status line on w, usually standard error. width is asked
// at each drawing and is not used if isTTY is false; it may then be nil.
func NewStatus(w io.Writer, isTTY bool, width func() int) *Status {
	return NewStatusClock(w, isTTY, width, time.Now)
}

// StatusOn returns a status line on w, which does nothing unless w is a terminal that can draw one.
func StatusOn(w io.Writer) *Status {
	f, ok := w.(*os.File)
	if !ok || !IsTerminal(f) {
		return NewStatus(w, false, nil)
	}
	return NewStatus(w, !Dumb(os.Getenv), Columns(f))
}

// NewStatusClock is NewStatus with a clock.
func NewStatusClock(w io.Writer, isTTY bool, width func() int, now func() time.Time) *Status {
	return &Status{w: w, isTTY: isTTY, width: width, now: now}
}

// Set changes the status to line, cut to the width of the terminal; "" removes
// it. It is drawn now if the last drawing was at least 0.1 s ago or nothing is
// shown, and not at all after Close.
func (s *Status) Set(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isTTY || s.closed {
		return
	}
	s.line = line
	now := s.now()
	if age := now.Sub(s.last); s.drawn != "" && age >= 0 && age < redrawEvery {
		return
	}
	var b strings.Builder
	s.draw(&b, now)
	s.write(b.String())
}

// Print writes a permanent line, or several, above the status, and draws the
// latest status. Long lines are left to the terminal to wrap. After Close it still
// prints.
func (s *Status) Print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	s.erase(&b)
	b.WriteString(strings.TrimSuffix(line, "\n"))
	b.WriteByte('\n')
	if s.isTTY && !s.closed {
		s.draw(&b, s.now())
	}
	s.write(b.String())
}

// Close erases the status and ends it. It returns the first error in writing, if
// there was one. Closing again does nothing.
func (s *Status) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		var b strings.Builder
		s.erase(&b)
		s.write(b.String())
	}
	return s.err
}

// draw replaces the shown line. The last column stays empty: many terminals wrap when it is filled.
func (s *Status) draw(b *strings.Builder, now time.Time) {
	s.last = now
	fitted := Fit(s.line, s.width()-1)
	if fitted == s.drawn {
		return
	}
	s.erase(b)
	b.WriteString(fitted)
	s.drawn = fitted
}

// erase removes the shown line, and leaves the cursor in the first column: CR, then erase in line. If
// the window was made narrower meanwhile, the terminal has wrapped the status, and the rows above its
// last are erased too.
func (s *Status) erase(b *strings.Builder) {
	if s.drawn == "" {
		return
	}
	used := 0
	for _, t := range split(s.drawn) {
		used += t.columns
	}
	b.WriteString("\r\x1b[K")
	if w := s.width(); w > 0 {
		for range (used - 1) / w {
			b.WriteString("\x1b[A\x1b[K")
		}
	}
	s.drawn = ""
}

// write sends text in one call, so that other writers do not get in between.
func (s *Status) write(text string) {
	if text == "" || s.err != nil {
		return
	}
	_, s.err = io.WriteString(s.w, text)
}
