package result

import "testing"

func TestAuditText(t *testing.T) {
	a := Audit{Stopped: 380, Audited: 20, Wrong: 1, Share: 0.05, CI95: [2]float64{0.0013, 0.2487}, Saved: 720, Least: 300}
	const found = "1 of 20 audited runs would have been stopped wrongly: 5.0 % of stops (95 %: 0.1 to 24.9)"
	const saved = "; 380 stopped runs would have gone on for about 12 min"
	for _, tt := range []struct {
		saved, least float64
		want         string
	}{
		{720, 300, found + saved + ", at least 5 min (95 %)"}, {720, 0, found + saved}, {0, 0, found},
	} {
		a.Saved, a.Least = tt.saved, tt.least
		if got := a.Text(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
