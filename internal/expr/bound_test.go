package expr

import (
	"testing"
)

// A limit holds if and only if the left side of each of its bounds is at most the right one, except where a strict
// comparison is met exactly.
func TestBounds(t *testing.T) {
	m := metrics(map[string]float64{"rss": 1.5e9, "size": 5e7, "errors": 0, "p99-latency": 3, "median": 2})
	type sides struct{ left, right float64 }
	for _, tt := range []struct {
		text   string
		want   []sides
		metric []string
	}{
		{"rss <= 2e9 && size < 1e8", []sides{{1.5e9, 2e9}, {5e7, 1e8}}, []string{"rss", "size"}},
		{"rss <= 2e9 and size > 1e8 && errors == 0", []sides{{1.5e9, 2e9}, {1e8, 5e7}, {0, 0}}, []string{"rss", "", ""}},
		{"2e9 >= rss", []sides{{1.5e9, 2e9}}, []string{"rss"}},
		{"(rss) <= 2 * 1e9", []sides{{1.5e9, 2e9}}, []string{"rss"}},
		{"p99_latency <= 2 * median", []sides{{3, 4}}, []string{""}},
		{`$env["p99-latency"] < 5`, []sides{{3, 5}}, []string{"p99-latency"}},
		{"median == 5", []sides{{3, 0}}, []string{""}},
		{"max(median, errors) <= 1 + 2", []sides{{2, 3}}, []string{""}},
		{"errors == 0 || rss < 1", []sides{{0, 0.5}}, []string{""}},
		{"!(rss < 1e9) && median in 4..5", []sides{{0, 0.5}, {1, 0.5}}, []string{"", ""}},
		{"rss > 1e9 ? size < 1 : true", []sides{{1, 0.5}}, []string{""}},
		{"rss != 1.5e9", []sides{{1, 0.5}}, []string{""}},
		{"rss <= 2e9 && 1 < 2", []sides{{1.5e9, 2e9}}, []string{"rss"}},
	} {
		l, _, err := Limit(tt.text, "p99-latency")
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if len(l.Bounds) != len(tt.want) {
			t.Errorf("%s: %d bounds, want %d", tt.text, len(l.Bounds), len(tt.want))
			continue
		}
		kept := true
		for i, b := range l.Bounds {
			left, right, err := b.Sides(m)
			if err != nil || (sides{left, right}) != tt.want[i] || b.Metric != tt.metric[i] || b.Text == "" {
				t.Errorf("%s: bound %d is %v <= %v of %q (%q), %v; want %v of %q", tt.text, i, left, right, b.Metric,
					b.Text, err, tt.want[i], tt.metric[i])
			}
			kept = kept && left <= right
		}
		if holds, err := l.Holds(m); err != nil || holds != kept {
			t.Errorf("%s holds: %v, %v; its bounds: %v", tt.text, holds, err, kept)
		}
		for _, b := range l.Bounds {
			if _, _, err := b.Sides(metrics(nil)); err == nil {
				t.Errorf("%s: the sides of %q are known of a run that measured nothing", tt.text, b.Text)
			}
		}
	}
}
