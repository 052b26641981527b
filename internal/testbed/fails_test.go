package testbed

import (
	"strings"
	"testing"
)

// A rig that fails in any way is a control that holds, and one that passes is no control.
func TestFails(t *testing.T) {
	for name, rig := range map[string]func(testing.TB){
		"Error":   func(t testing.TB) { t.Error("x") },
		"Errorf":  func(t testing.TB) { t.Errorf("x") },
		"Fail":    func(t testing.TB) { t.Fail() },
		"Fatal":   func(t testing.TB) { t.Fatal("x"); panic("goes on") },
		"Fatalf":  func(t testing.TB) { t.Fatalf("x"); panic("goes on") },
		"FailNow": func(t testing.TB) { t.FailNow(); panic("goes on") },
	} {
		Fails(t, name, rig)
	}
	passes := &witness{TB: t}
	Fails(passes, "nothing", func(testing.TB) {})
	if !passes.Failed() || passes.said == "" {
		t.Error("a control that passes is not seen")
	}
	skips := &witness{TB: t}
	done := make(chan struct{})
	rig := func(t testing.TB) { t.Skip("no program") }
	go func() {
		defer close(done)
		Fails(skips, "nothing to see it with", rig)
	}()
	if <-done; skips.Failed() || !strings.HasPrefix(skips.skipped, "no program") {
		t.Errorf("failed %v, skipped %q", skips.Failed(), skips.skipped)
	}
}
