package testbed

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Fails runs a rig from which the protection that it tests was taken away, and fails the test unless the
// rig fails. This shows that the rig detects faults. The rig's output is logged. A rig that is skipped
// skips the test.
func Fails(t testing.TB, what string, rig func(testing.TB)) {
	t.Helper()
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rig(w)
	}()
	<-done
	switch {
	case w.skipped != "":
		t.Skip(w.skipped)
	case !w.failed:
		t.Errorf("the control, %s, passes: the rig sees nothing", what)
	default:
		first, _, _ := strings.Cut(w.said, "\n")
		t.Logf("the control, %s: %.200s", what, first)
	}
}

// A witness is a test whose failure is kept and does not count.
type witness struct {
	testing.TB

	mu      sync.Mutex
	failed  bool
	said    string // with the first failure
	skipped string
}

func (w *witness) fail(said string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.said == "" {
		w.said = said
	}
	w.failed = true
}

func (w *witness) Error(args ...any)                 { w.fail(fmt.Sprintln(args...)) }
func (w *witness) Errorf(format string, args ...any) { w.fail(fmt.Sprintf(format, args...)) }
func (w *witness) Fail()                             { w.fail("") }
func (w *witness) FailNow()                          { w.fail(""); runtime.Goexit() }
func (w *witness) Fatal(args ...any)                 { w.Error(args...); runtime.Goexit() }
func (w *witness) Fatalf(format string, args ...any) { w.Errorf(format, args...); runtime.Goexit() }

func (w *witness) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *witness) Skip(args ...any)                 { w.skipped = fmt.Sprintln(args...); runtime.Goexit() }
func (w *witness) Skipf(format string, args ...any) { w.Skip(fmt.Sprintf(format, args...)) }
func (w *witness) SkipNow()                         { w.Skip("skipped") }
