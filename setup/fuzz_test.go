package setup

import (
	"bytes"
	"testing"

	"github.com/assay-run/assay"
)

// A report of a trial has a number and a place, or is refused as a mistake of its sender.
func FuzzReadReports(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"value":2}`, "[{\"id\":1},\n{\"id\":2,\"state\":\"failed\"}]", `[[{"id":1}]]`, `{"id":1}{`, `[`,
		`{"id":"x"}`, ``, ` [1,`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ReadReports("in", bytes.NewReader(b))
		if err != nil && (assay.ClassOf(err) != assay.ClassUsage || len(all) > 0) {
			t.Errorf("%d reports and %v", len(all), err)
		}
		for _, r := range all {
			if r.ID < 1 || r.Place == "" {
				t.Errorf("%+v", r)
			}
		}
	})
}
