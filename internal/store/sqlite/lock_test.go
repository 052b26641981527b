package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

func TestHolder(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	h := holder{PID: 12, Host: "here", Since: since}
	if got, want := h.String(), "process 12 on here since 2026-01-02 03:04:05"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	h.By = "assay"
	if got, want := h.String(), "assay, process 12 on here since 2026-01-02 03:04:05"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (holder{By: "assay"}).String(); got != "another process" {
		t.Errorf("got %q of nobody", got)
	}
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    holder
		want bool
	}{
		{holder{PID: os.Getpid(), Host: here}, false},
		{holder{PID: 1 << 30, Host: here}, true},
		{holder{PID: 1 << 30, Host: here + "x"}, false},
		{holder{PID: 0, Host: here}, false},
		{holder{PID: -1 << 30, Host: here}, false},
	} {
		if got := c.h.killed(); got != c.want {
			t.Errorf("%+v: killed is %v", c.h, got)
		}
	}
	path := filepath.Join(t.TempDir(), "lock")
	f, err := tryFlock(path, holder{Study: "a", By: "one"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tryFlock(path, holder{})
	who := fmt.Sprintf("by one, process %d on ", os.Getpid())
	if !errors.Is(err, assay.ErrLocked) || !strings.Contains(err.Error(), who) {
		t.Errorf("got %v, want who has it", err)
	}
	if err := f.release(); err != nil {
		t.Fatal(err)
	}
	if f, err = tryFlock(path, holder{}); err != nil {
		t.Fatal(err)
	}
	if err := f.release(); err != nil {
		t.Error(err)
	}
}
