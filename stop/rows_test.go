package stop

import (
	"math"
	"testing"

	"github.com/assay-run/assay"
)

// The process sees 120 trials: the latest 60, and the 60 most informative of the earlier ones, exact ones before
// stopped ones, and the best of each first. They stay in the order of time.
func TestRowsOfManyTrials(t *testing.T) {
	space, err := assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Integer, Lo: 0, Hi: 999}})
	if err != nil {
		t.Fatal(err)
	}
	p := NewPosterior(space, PosteriorOptions{})
	for _, tt := range []struct {
		n       int
		dropped []int
	}{
		{120, nil},
		{121, []int{40}},                // stopped, although of the second least value
		{122, []int{30, 40}},            // and stopped, of the least value
		{124, []int{10, 20, 30, 40}},    // and the two worst of the exact ones
		{125, []int{0, 10, 20, 30, 40}}, // and the next worst
	} {
		var evidence []assay.Trial
		for i := range tt.n {
			tr := assay.Trial{State: assay.Done, Value: 500 - float64(i)}
			switch i {
			case 10, 20:
				tr.Value = 1000 + float64(i)
			case 30, 40:
				tr.State, tr.Value = assay.Censored, 1+float64(i)/1000
			}
			tr.ID, tr.Config = int64(i+1), assay.Config{float64(i)}
			evidence = append(evidence, tr)
		}
		d := p.rows(evidence)
		if want := min(tt.n, 120); len(d.X) != want || len(d.Y) != want || len(d.Censored) != want {
			t.Fatalf("%d trials: %d rows, want %d", tt.n, len(d.X), want)
		}
		k := 0
		for i, tr := range evidence {
			if len(tt.dropped) > 0 && i == tt.dropped[0] {
				tt.dropped = tt.dropped[1:]
				continue
			}
			if d.X[k][0] != space.Encode(tr.Config)[0] || d.Y[k] != math.Log(tr.Value) ||
				d.Censored[k] != (tr.State == assay.Censored) {
				t.Fatalf("%d trials: row %d is not trial %d: %v, %v", tt.n, k, i, d.X[k], d.Y[k])
			}
			k++
		}
	}
}
