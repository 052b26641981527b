package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/assay-run/assay/internal/report"
)

// NewLog returns a log that writes to w: everything as a JSON object in a line, or warnings in a line for people.
func NewLog(w io.Writer, asJSON bool) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(&plain{w: w})
}

// plain is a handler of warnings for people, such as "warning: study nap: the disk is full". A name that the message
// has is not written again.
type plain struct {
	mu sync.Mutex
	w  io.Writer
}

// Enabled implements [slog.Handler].
func (p *plain) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements [slog.Handler].
func (p *plain) Handle(_ context.Context, r slog.Record) error {
	at := ""
	r.Attrs(func(a slog.Attr) bool {
		name := fmt.Sprintf("%s %s", a.Key, a.Value)
		if !strings.Contains(r.Message, name) && !strings.Contains(r.Message, fmt.Sprintf("%s %q", a.Key, a.Value)) {
			at += name + ": "
		}
		return true
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	return report.Warning(p.w, at+r.Message)
}

// WithAttrs implements [slog.Handler]. Attributes of a logger are not for people.
func (p *plain) WithAttrs([]slog.Attr) slog.Handler { return p }

// WithGroup implements [slog.Handler].
func (p *plain) WithGroup(string) slog.Handler { return p }
