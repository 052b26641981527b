package service

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/stop"
)

func TestGuardFollows(t *testing.T) {
	for rule, want := range map[assay.Stopper]bool{stop.Median{}: true, stop.Static{}: false} {
		if got := (guardedStopper{Stopper: rule}).Follows(); got != want {
			t.Errorf("%T: follows is %v", rule, got)
		}
	}
}
