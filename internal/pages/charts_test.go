package pages

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/testbed"
)

var update = flag.Bool("update", false, "write what the charts look like into testdata/prints.json")

// A policy that no module may offend against: the policy of the server's pages.
const strict = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

const chartsPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>charts</title>
<link rel="stylesheet" href="/style.css"></head><body><main></main>
<script type="module" src="/page.js"></script></body></html>`

// charts opens a page on which tests draw charts, under the policy of a server.
func charts(t *testing.T) *browser.Tab {
	t.Helper()
	files := Files()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", strict)
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch name {
		case "":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, chartsPage)
		case "favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		case "page.js", "fixture.js":
			text, err := os.ReadFile("webtest/" + name)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, strings.ReplaceAll(string(text), `"../web/`, `"./`))
		default:
			text, err := fs.ReadFile(files, name)
			if err != nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type",
				map[bool]string{true: "text/javascript", false: "text/css"}[strings.HasSuffix(name, ".js")])
			fmt.Fprintf(w, "%s", text)
		}
	}))
	t.Cleanup(s.Close)
	b := browser.Open(t)
	b.Size(1000, 900)
	b.Theme(false)
	b.Go(s.URL + "/")
	b.Ready()
	return b
}

// printed are the charts whose looks are kept.
var printed = []string{
	"history", "parallel", "front", "noise", "space", "slices", "contour", "timeline", "curve", "levels", "occupancy",
}

// Charts look as they did: how much ink each of 32 times 16 parts of a picture has, with a
// tolerance for letters that another machine draws otherwise. The same of a study that differs in
// little does not pass, which shows that the tolerance lets no change through.
func TestPrints(t *testing.T) {
	t.Parallel()
	b := charts(t)
	prints := func(names []string, change string) map[string][]float64 {
		browser.Eval[any](b, fmt.Sprintf(`draw(120, %s, (s) => {%s})`, browser.Quote(names), change))
		b.Frame()
		out := map[string][]float64{}
		for _, name := range names {
			out[name] = browser.Eval[[]float64](b, fmt.Sprintf(`print(%q)`, name))
		}
		return out
	}
	got := prints(printed, "")
	// The width of a text distinguishes fonts.
	const font = "font"
	got[font] = []float64{browser.Eval[float64](b, `(() => {
		const c = document.createElement("canvas").getContext("2d");
		c.font = "100px system-ui, sans-serif";
		return Math.round(c.measureText("best so far 0.123 s").width);
	})()`)}
	b.Picture("charts-light")
	if *update {
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.ReplaceAll(string(text), "],", "],\n") + "\n")
		if err := os.WriteFile("testdata/prints.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/prints.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want[font], got[font]) {
		t.Logf("PRINTS NOT COMPARED: this machine has other fonts than the one where they were made: a text is %v wide, "+
			"not %v",
			got[font], want[font])
		want = got
	}
	for _, name := range printed {
		if a := apart(got[name], want[name]); a > tolerance {
			t.Errorf("%s looks different: %.2f of its ink is elsewhere; see it with ASSAY_PICTURES, and accept it with -update",
				name, a)
		}
	}
	for name, change := range map[string]string{
		"history":  `for (let k = 0; k < 120; k += 3) s.trials.state[k] = "failed", s.trials.value[k] = null; s.redo()`,
		"parallel": `s.trials.config[3].fill(1)`,
		"front":    `s.trials.metrics.max_rss.reverse()`,
		"slices":   `s.trials.config[1].reverse()`,
		"contour":  `s.trials.config[4].fill(0)`,
		"timeline": `for (let k = 0; k < 120; k += 2) s.trials.worker[k] = "rack-1"`,
		"noise":    `for (const a of s.again) if (a.trial === 1) a.value /= 2`,
		"space":    `s.trials.config[0].fill(3)`,
	} {
		other := prints([]string{name}, change)
		a := apart(other[name], want[name])
		t.Logf("%s of another study: %.2f of its ink is elsewhere", name, a)
		if a <= tolerance {
			t.Errorf("%s: another study looks the same: %.2f", name, a)
		}
	}
	b.Theme(true)
	browser.Eval[any](b, fmt.Sprintf(`draw(120, %s)`, browser.Quote(printed)))
	b.Frame()
	b.Picture("charts-dark")
	b.Size(390, 900)
	b.Theme(false)
	b.Frame()
	b.Picture("charts-narrow")
	if w := browser.Eval[int](b, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("the page is %d wide, the window 390", w)
	}
}

// tolerance is which part of the ink of a picture may be elsewhere.
const tolerance = 0.06

// apart returns which part of the ink of a print is elsewhere in another.
func apart(a, b []float64) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return math.Inf(1)
	}
	other, all := 0.0, 0.0
	for i := range a {
		other, all = other+math.Abs(a[i]-b[i]), all+b[i]
	}
	return other / max(all, 1)
}

// Every chart has a label, is reached by the keyboard, describes its marks, and has the same data in a table.
func TestChartsWithoutEyesOrPointer(t *testing.T) {
	t.Parallel()
	b := charts(t)
	browser.Eval[any](b, `draw(120)`)
	b.Frame()
	for _, c := range b.Canvases() {
		if c.Share < 0.01 || len(c.Label) < 40 {
			t.Errorf("blank, or without a label: %+v", c)
		}
	}
	for _, name := range append([]string{"again"}, printed...) {
		canvas := fmt.Sprintf("#%s canvas[role=img]", name)
		browser.Eval[any](b, fmt.Sprintf(`document.querySelector(%q).focus()`, canvas))
		if name != "parallel" { // its marks are the rows of the table of trials
			b.Key(browser.End)
			said := b.Text("#" + name + " .live")
			b.Key(browser.ArrowLeft)
			if before := b.Text("#" + name + " .live"); said == "" || before == "" || before == said {
				t.Errorf("%s: the last mark is %q, the one before %q", name, said, before)
			}
			shown := fmt.Sprintf(`document.querySelectorAll("#%s .tip:not([hidden])").length`, name)
			if n := browser.Eval[int](b, shown); n != 1 {
				t.Errorf("%s: %d texts at a mark", name, n)
			}
			b.Key(browser.Escape)
			if n := browser.Eval[int](b, shown); n != 0 {
				t.Errorf("%s: the text stays after Escape", name)
			}
		}
		rows := browser.Await[int](b, fmt.Sprintf(`(async () => {
			const d = [...document.querySelectorAll("#%s details")].at(-1);
			for (const e of document.querySelectorAll("#%s details")) e.open = true;
			await new Promise((ok) => setTimeout(ok, 50));
			return d.querySelectorAll("tbody tr").length; })()`, name, name))
		if rows < 2 {
			t.Errorf("%s: a table of %d rows", name, rows)
		}
	}
	b.Picture("charts-tables")
}

// A study grows while it is looked at: a run that has begun is a ring that rises with time, and
// becomes a mark when it ends.
func TestChartsGrow(t *testing.T) {
	t.Parallel()
	b := charts(t)
	browser.Eval[any](b, `draw(60, ["history", "parallel", "front", "noise", "space", "table"])`)
	b.Frame()
	picture := func(name string) string {
		b.Frame()
		return browser.Eval[string](b, fmt.Sprintf(`document.querySelector("#%s canvas[role=img]").toDataURL()`, name))
	}
	update := func(columns string) {
		browser.Eval[any](b, fmt.Sprintf(`(() => { s.append(%s); for (const c of Object.values(charts)) c.update(); })()`,
			columns))
	}
	status := func() string { b.Frame(); return b.Text("#table [aria-live]") }
	before := picture("history")
	running := `{id: [61], state: ["running"], nth: [0], started_ms: [s.trials.ended_ms[59]], config: {level: [7], ` +
		`threads: [8], ratio: [1], buffer: ["4M"], codec: ["zstd"]}}`
	update(running)
	begun := picture("history")
	if begun == before || status() != "61 of 61 trials" {
		t.Errorf("a run that has begun: %s, and the chart differs: %v", status(), begun != before)
	}
	if got := browser.Eval[string](b, `s.about(60)[0]`); got != "trial 61: running for 0 s" {
		t.Errorf("%q", got)
	}
	browser.Eval[any](b, `(() => { s.now += 40000; charts.history.update(); })()`)
	if later := picture("history"); later == begun {
		t.Error("a run that goes on does not grow")
	}
	if got := browser.Eval[string](b, `s.about(60)[0]`); got != "trial 61: running for 40 s" {
		t.Errorf("%q", got)
	}
	parallel, space := picture("parallel"), picture("space")
	update(`{id: [61], state: ["done"], nth: [61], spent_s: [s.trials.spent_s[59] + 3], value: [3], elapsed_s: [3],
		ended_ms: [s.trials.ended_ms[59] + 3000], metrics: {size: [7e6], other: [1]},
		config: {level: [7], threads: [8], ratio: [1], buffer: ["4M"], codec: ["zstd"]}}`)
	if picture("parallel") == parallel || picture("space") == space {
		t.Error("a trial that has ended is not drawn in all charts")
	}
	if got := browser.Eval[int](b, `s.trials.id[s.bestRow]`); got != 61 {
		t.Errorf("the best is trial %d", got)
	}
	if got := b.Text("#history .legend"); strings.Contains(got, "unfinished 1") {
		t.Errorf("the legend: %q", got)
	}
	if got := browser.Eval[string](b, `[...document.querySelectorAll("#table [role=columnheader]")].map((e) => `+
		`e.textContent).join()`); !strings.Contains(got, "other") {
		t.Errorf("a metric that is new is not in the table: %s", got)
	}
}

// The keyboard moves through the table, which shows the position, and remembers it in another order.
func TestTableByKeyboard(t *testing.T) {
	t.Parallel()
	b := charts(t)
	browser.Eval[any](b, `draw(100000, ["table"])`)
	b.Frame()
	browser.Eval[any](b, `document.querySelector(".trials").focus()`)
	b.Key("jjjk")
	attribute := func(name string) string {
		b.Frame()
		return browser.Eval[string](b, fmt.Sprintf(`document.querySelector(".trials").getAttribute(%q) ?? ""`, name))
	}
	row := func() string {
		return browser.Eval[string](b,
			fmt.Sprintf(`document.getElementById(%q)?.firstChild.textContent ?? "none"`, attribute("aria-activedescendant")))
	}
	if got := row(); got != "2" {
		t.Errorf("after jjjk: row %q", got)
	}
	if got := attribute("aria-rowcount"); got != "100002" {
		t.Errorf("aria-rowcount %q", got)
	}
	b.Key(browser.End)
	if got := row(); got != "100000" {
		t.Errorf("the last row is %q", got)
	}
	if got := browser.Eval[string](b,
		`document.querySelector(".trials .body .row:last-child").getAttribute("aria-rowindex")`); got != "100002" {
		t.Errorf("its aria-rowindex %q", got)
	}
	if n := browser.Eval[int](b, `document.querySelectorAll(".trials *").length`); n > 1500 {
		t.Errorf("%d elements for 100,000 rows", n)
	}
	said := b.Text("#table .live")
	if !strings.HasPrefix(said, "trial 100000: ") {
		t.Errorf("said: %q", said)
	}
	// In another order the current row is the same one.
	b.Click(".trials [role=columnheader]:nth-child(1) .sort")
	browser.Eval[any](b, `document.querySelector(".trials").scrollTop = 0`)
	if got := row(); got != "100000" {
		t.Errorf("sorted downwards, the current row is %q", got)
	}
	b.Key("/")
	if got := browser.Eval[string](b, `document.activeElement.ariaLabel`); got != "condition on trial" {
		t.Errorf("/ leads to %q", got)
	}
	browser.Eval[any](b, `document.activeElement.value = ""`) // the browser of tests types the key that led here
	b.Key("5")
	if got := b.Text("#table [aria-live]"); got != "1 of 100 000 trials" {
		t.Errorf("the condition: %q", got)
	}
	b.Key("x")
	if got := browser.Eval[string](b, `document.activeElement.getAttribute("aria-invalid")`); got != "true" {
		t.Error("5x is taken for a condition")
	}
}

// A hundred thousand trials take not much more than ten times as long as ten thousand, however busy the machine is.
func TestManyTrialsAreDrawnInTime(t *testing.T) {
	testbed.System(t)
	t.Parallel()
	b := charts(t)
	names := `["history", "parallel", "front", "space", "table"]`
	took := func(n int) float64 {
		least := math.Inf(1)
		for range 3 {
			least = min(least, browser.Await[float64](b, fmt.Sprintf(`painted(%d, %s)`, n, names)))
		}
		return least
	}
	took(1000)
	few, many := took(10_000), took(100_000)
	t.Logf("painted in %.0f ms and %.0f ms", few, many)
	t.Logf("of 100,000, in ms: %v", browser.Eval[map[string]float64](b, fmt.Sprintf(`draw(100000, %s)`, names)))
	if many > 25*few+500 {
		t.Errorf("100,000 trials are drawn in %.0f ms, 10,000 in %.0f", many, few)
	}
	b.Frame()
	b.Picture("charts-100000")
	// A pointer over the chart draws one ring, not all marks.
	ratio := browser.Eval[float64](b, `(() => {
		const c = document.querySelector("#history canvas[role=img]"), r = c.getBoundingClientRect();
		let from = performance.now();
		charts.history.update();
		const surface = performance.now();
		for (let i = 0; i < 20; i++) c.dispatchEvent(new PointerEvent("pointermove", {clientX: r.x + 100 + 20 * i,
			clientY: r.y + 250}));
		return (performance.now() - surface) / 20; })()`)
	t.Logf("a move of the pointer takes %.1f ms", ratio)
	if ratio > many/4 {
		t.Errorf("a move of the pointer takes %.1f ms", ratio)
	}
}
