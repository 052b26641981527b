package testbed

import (
	"context"
	"log/slog"
)

// Warnings returns a log that passes the text of each warning to add.
func Warnings(add func(text string)) *slog.Logger { return slog.New(collector(add)) }

type collector func(string)

func (collector) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (c collector) Handle(_ context.Context, r slog.Record) error {
	c(r.Message)
	return nil
}

func (c collector) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c collector) WithGroup(string) slog.Handler      { return c }
