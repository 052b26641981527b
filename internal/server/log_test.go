package server_test

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/server"
)

// A warning names its study once, and cannot control a terminal; the log for people has warnings alone.
func TestLog(t *testing.T) {
	for _, tt := range []struct{ message, want string }{
		{"the disk is full", "warning: study a: the disk is full\n"},
		{"the search of study a panicked", "warning: the search of study a panicked\n"},
		{`study "a": it is locked`, `warning: study "a": it is locked` + "\n"},
		{"bad \x1b[2J", `warning: study a: bad \x1b[2J` + "\n"},
	} {
		var b strings.Builder
		log := server.NewLog(&b, false)
		log.Info("attempt placed", "study", "a")
		log.Warn(tt.message, "study", "a")
		if b.String() != tt.want {
			t.Errorf("%q, want %q", b.String(), tt.want)
		}
	}
	var b strings.Builder
	server.NewLog(&b, true).Info("attempt placed", "study", "a", "trial", int64(3))
	if !strings.HasSuffix(b.String(), `"level":"INFO","msg":"attempt placed","study":"a","trial":3}`+"\n") {
		t.Error(b.String())
	}
}
