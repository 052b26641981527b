package store

import (
	"maps"
	"testing"

	"github.com/assay-run/assay"
)

// Columns that cannot be are an error; those that can mean the same when they are written again.
func FuzzColumns(f *testing.F) {
	f.Add(`{"done":3}`, `[1,2]`, "2026-01-02T03:04:05Z")
	f.Add(`{"well":1}`, `[`, "noon")
	f.Add(`null`, `null`, "")
	f.Fuzz(func(t *testing.T, counts, config, started string) {
		if c, err := parseCounts(counts); err == nil {
			if again, err := parseCounts(countsText(c)); err != nil || !maps.Equal(c, again) {
				t.Errorf("%v became %v, %v", c, again, err)
			}
		}
		trial, err := AskedBefore(1, assay.Running, config, started)
		if err == nil && trial.Started.IsZero() && TimeText(trial.Started) != "" {
			t.Errorf("%q became %q", started, TimeText(trial.Started))
		}
	})
}

// The record of a creation is read as it was written, or refused.
func FuzzCreation(f *testing.F) {
	b, err := Creation{Study: "a", Spec: []byte("x")}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"study":"\u0000"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCreation(b)
		if err != nil || CheckName(c.Study) != nil {
			return
		}
		text, err := c.Encode()
		if err != nil {
			return // a time that no text has
		}
		again, err := DecodeCreation(text)
		if err != nil || again.Study != c.Study || string(again.Spec) != string(c.Spec) {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}
