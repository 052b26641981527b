package api

import (
	"testing"

	"github.com/assay-run/assay"
)

func TestSlowest(t *testing.T) {
	r := newRig(t)
	c := r.client(t, "viewer")
	if got, err := c.Slowest(t.Context(), "tuned"); err != nil || got != (Slowest{4, 4}) {
		t.Errorf("the slowest trial is %+v, %v", got, err)
	}
	if got, err := c.Slowest(t.Context(), "other"); err != nil || got.Trial != 0 {
		t.Errorf("the slowest trial of none is %+v, %v", got, err)
	}
	if _, err := c.Slowest(t.Context(), "nothing"); assay.ClassOf(err) != assay.ClassNotFound {
		t.Errorf("the slowest trial of no study: %v", err)
	}
}
