package access

import (
	"context"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

const (
	wrongRate  = 10              // wrong tokens that are answered in a second, from one place
	wrongQueue = 5 * time.Second // the longest wait in the queue; requests that would wait longer are refused
	maxPlaces  = 10_000          // that are remembered
)

// A limiter slows down callers that present wrong tokens. It is safe for concurrent use.
type limiter struct {
	mu   sync.Mutex
	next map[string]time.Time // when the next answer is due, by place
}

// blocked returns an error if too many answers are due already.
func (l *limiter) blocked(from string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Until(l.next[from]) > wrongQueue {
		return assay.Errorf(assay.ClassUnavailable, "too many wrong tokens from %s: wait some seconds", from)
	}
	return nil
}

// wait waits until a wrong token may be answered: the first 10 at once, then 10 a second.
func (l *limiter) wait(ctx context.Context, from string) error {
	const gap = time.Second / wrongRate
	l.mu.Lock()
	now := time.Now()
	if l.next == nil || len(l.next) > maxPlaces {
		l.next = map[string]time.Time{}
	}
	// A source without requests for a second has a whole second's answers.
	due := l.next[from]
	if earliest := now.Add(gap - time.Second); due.Before(earliest) {
		due = earliest
	}
	l.next[from] = due.Add(gap)
	l.mu.Unlock()
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
