package pages

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/report"
)

// A page formats numbers as the command line does.
func TestNumbersAreSaidAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	xs := []float64{0, 1, -1, 59.94, 59.96, 60, 3599, 3601, 86400, 1e-12, 999.7, 1e9, 0.00001, 123456}
	for range 300 {
		xs = append(xs, math.Exp(40*rng.Float64()-20)*math.Copysign(1, rng.Float64()-0.2))
	}
	var script, want []string
	add := func(text, call string, x float64, more string) {
		script = append(script, fmt.Sprintf("module_format.%s(%s%s)", call, browser.Quote(x), more))
		want = append(want, text)
	}
	for _, x := range xs {
		add(report.Number(x, 4), "number", x, ", 4")
		add(report.Seconds(x), "seconds", x, "")
		add(report.Metric(x, ""), "metric", x, `, ""`)
		add(report.Percent(x), "percent", x, "")
		for _, unit := range []string{"B", "J", "s", "B/s", "%"} {
			add(report.Metric(x, unit), "metric", x, fmt.Sprintf(", %q", unit))
		}
	}
	f := newFixture(t)
	f.add("s", definition, 5, 1)
	b := browser.Open(t)
	b.Page(f.page(Options{Now: time.Now()}, "s"))
	got := browser.Eval[[]string](b, "["+strings.Join(script, ",")+"]")
	wrong := 0
	for i := range want {
		if got[i] != want[i] && wrong < 10 {
			t.Errorf("%s: %q, and on the command line %q", script[i], got[i], want[i])
			wrong++
		}
	}
	b.Clean()
}

// Ticks are in order, inside of their range, and about as many as were asked for.
func TestTicks(t *testing.T) {
	f := newFixture(t)
	f.add("s", definition, 5, 1)
	b := browser.Open(t)
	b.Page(f.page(Options{Now: time.Now()}, "s"))
	wrong := browser.Eval[[]string](b, `(() => {
		const s = module_scale, wrong = [];
		let seed = 1;
		const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
		for (let i = 0; i < 2000; i++) {
			const lo = Math.exp(30 * random() - 15), hi = lo * (1 + Math.exp(16 * random() - 6));
			const n = 2 + Math.floor(8 * random());
			for (const [name, ticks] of [["linear", s.linearTicks(lo, hi, n)], ["log", s.logTicks(lo, hi, n)],
				["time", s.timeTicks(lo, hi, n)], ["below", s.linearTicks(-hi, lo, n)]]) {
				const from = name === "below" ? -hi : lo, to = name === "below" ? lo : hi;
				const off = (to - from) * 1e-6 + 1e-9 * hi;
				const bad = (x, k) => !(x >= from - off && x <= to + off) || (k > 0 && x <= ticks[k - 1]);
				if (ticks.length > 2 * n + 3 || ticks.some(bad))
					wrong.push([name, lo, hi, n, ticks].join(" "));
				if (hi > 3 * lo && n > 3 && ticks.length < 2) wrong.push(["few", name, lo, hi, n, ticks].join(" "));
			}
			const scale = s.log(lo, hi, 10, 200), x = lo * (hi / lo) ** random();
			if (Math.abs(scale.invert(scale(x)) / x - 1) > 1e-9) wrong.push("inverse " + x);
		}
		return wrong.slice(0, 8);
	})()`)
	for _, w := range wrong {
		t.Error(w)
	}
	for in, want := range map[string]string{
		"3": "3", "2..4": "2 3 4", ">= 4": "4 5", "!3": "1 2 4 5", "1,5": "1 5", "<2": "1", "..2": "1 2",
	} {
		got := browser.Eval[string](b, fmt.Sprintf(
			`[1, 2, 3, 4, 5, null].filter(module_filter.parseNumber(%s)).join(" ")`, browser.Quote(in)))
		if got != want {
			t.Errorf("the condition %q means %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"zst": "zstd Zstd-2", "=zstd": "zstd", "!zs": "gzip", "gz, =zstd": "zstd gzip",
	} {
		got := browser.Eval[string](b, fmt.Sprintf(
			`["zstd", "gzip", "Zstd-2"].filter(module_filter.parseText(%s)).join(" ")`, browser.Quote(in)))
		if got != want {
			t.Errorf("the condition %q means %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "x", "..x", "> ", ","} {
		if !browser.Eval[bool](b, fmt.Sprintf(`module_filter.parseNumber(%s) === null`, browser.Quote(in))) {
			t.Errorf("%q is taken for a condition", in)
		}
	}
}
