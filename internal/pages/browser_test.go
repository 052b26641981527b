package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/testbed"
)

func TestMain(m *testing.M) { testbed.Wide(3); browser.Main(m) }

// A page draws every chart, fits its width, has legible texts, and prints nothing on the console,
// on a desk and on a telephone, in light and in dark.
func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("encoder", definition, 160, 1)
	f.add("encoder after", definition, 90, 0.8)
	o := Options{Price: 0.4 / 3600, Priced: "0.4/h", Version: "test", Again: "assay report encoder", Now: time.Now()}
	for name, report := range map[string][]byte{
		"one": f.page(o, "encoder"), "two": f.page(o, "encoder", "encoder after"),
	} {
		b := browser.Open(t)
		for _, width := range []int64{1280, 390} {
			for _, dark := range []bool{false, true} {
				if (dark != (width == 390) || dark != (name == "two")) && !testbed.IsSystem() {
					continue // each report at one width and in one theme
				}
				b.Size(width, 900)
				b.Theme(dark)
				b.Page(report)
				b.Frame()
				all := b.Canvases()
				if want := map[string]int{"one": 14, "two": 29}[name]; len(all) != want {
					t.Errorf("%s: %d charts, want %d", name, len(all), want)
				}
				for _, c := range all {
					if c.Share < 0.01 || c.Colors < 10 || len(c.Label) < 20 {
						t.Errorf("%s, %d wide, dark %v: a chart is blank or has no label: %+v", name, width, dark, c)
					}
				}
				if w := browser.Eval[int64](b, `document.documentElement.scrollWidth`); w > width {
					t.Errorf("%s: the page is %d wide, the window %d", name, w, width)
				}
				small := browser.Eval[[]string](b, `[...document.querySelectorAll("main *, header *, footer *")].filter((e) =>
					[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) < 12)
					.map((e) => e.tagName + " " + e.textContent.slice(0, 40))`)
				if len(small) > 0 {
					t.Errorf("%s: texts below 12 px: %q", name, small)
				}
				b.Picture(fmt.Sprintf("%s-%d-%s", name, width, map[bool]string{true: "dark", false: "light"}[dark]))
			}
		}
		b.Clean()
	}
}

// Every control of a page does what its label promises.
func TestReportAnswersAReader(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("encoder", definition, 160, 1)
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Page(f.page(Options{Now: time.Now()}, "encoder"))
	status := func() string {
		b.Frame()
		return browser.Eval[string](b, `document.querySelector("[data-draw=table] [aria-live]").textContent`)
	}
	rows := func(column int) []string {
		b.Frame()
		return browser.Eval[[]string](b, fmt.Sprintf(
			`[...document.querySelectorAll(".trials .body .row")].map((r) => r.children[%d].textContent)`, column))
	}
	if got := status(); got != "160 of 160 trials" {
		t.Errorf("all: %s", got)
	}
	// Sorted by the metric, the first row is the least; a second time, the greatest.
	click := b.Click
	click(".trials [role=columnheader]:nth-child(3) .sort")
	up := rows(2)
	click(".trials [role=columnheader]:nth-child(3) .sort")
	down := rows(2)
	least := browser.Eval[string](b, `(() => {
		const d = JSON.parse(document.getElementById("data").textContent).studies[0];
		const v = d.trials.value.filter((x) => x !== null); return module_format.metric(Math.min(...v), "s"); })()`)
	sort := browser.Eval[string](b, `document.querySelector(".trials [role=columnheader]:nth-child(3)").ariaSort`)
	if !strings.HasSuffix(up[0], least) || down[0] == up[0] || sort != "descending" {
		t.Errorf("sorted: %q then %q, least %s", up[:3], down[:3], least)
	}
	// A condition in a field, by keyboard.
	b.Type(`.trials input[aria-label="condition on state"]`, "failed")
	if got := status(); got != "9 of 160 trials" {
		t.Errorf("failed ones: %s", got)
	}
	for _, s := range rows(1) {
		if s != "failed" {
			t.Errorf("a row is %q", s)
		}
	}
	click("[data-draw=table] .bar button")
	if got := status(); got != "160 of 160 trials" {
		t.Errorf("cleared: %s", got)
	}
	// A brush from the middle of the first axis to its lower end: the table follows.
	browser.Eval[bool](b, `document.querySelector("[data-draw=parallel] canvas").scrollIntoView({block: "center"}), true`)
	b.Frame()
	place := b.Place
	at := place("[data-draw=parallel] canvas")
	mouse := b.Mouse
	before := browser.Eval[string](b, `document.querySelector("[data-draw=parallel] canvas").toDataURL()`)
	middle := at.Y + 44 + (at.Height-44-30)/2
	mouse(input.DispatchMouseEventTypeMousePressed, at.X+46, middle)
	mouse(input.DispatchMouseEventTypeMouseMoved, at.X+46, middle+60)
	mouse(input.DispatchMouseEventTypeMouseMoved, at.X+46, at.Y+at.Height-28)
	mouse(input.DispatchMouseEventTypeMouseReleased, at.X+46, at.Y+at.Height-28)
	got := status()
	var levels, n int
	if _, err := fmt.Sscanf(got, "%d of %d trials", &n, &levels); err != nil || n < 20 || n > 140 {
		t.Errorf("brushed: %s", got)
	}
	field := `document.querySelector(".trials input[aria-label='condition on level']").value`
	if text := browser.Eval[string](b, field); text != "1..10" {
		t.Errorf("the brush is the condition %q", text)
	}
	if before == browser.Eval[string](b, `document.querySelector("[data-draw=parallel] canvas").toDataURL()`) {
		t.Error("the brush is not drawn")
	}
	// Escape on the chart clears it.
	browser.Eval[bool](b, `document.querySelector("[data-draw=parallel] canvas").focus(), true`)
	b.Key(browser.Escape)
	if got := status(); got != "160 of 160 trials" {
		t.Errorf("after Escape: %s", got)
	}
	// The pointer over a mark, and the keyboard, show its description.
	browser.Eval[bool](b, `document.querySelector("[data-draw=history] canvas[role=img]").scrollIntoView({block: `+
		`"center"}), true`)
	b.Frame()
	at = place("[data-draw=history] canvas[role=img]")
	mouse(input.DispatchMouseEventTypeMouseMoved, at.X+at.Width/2, at.Y+at.Height-80)
	b.Frame()
	tip := browser.Eval[string](b, `[...document.querySelectorAll("[data-draw=history] .tip:not([hidden])")]
		.map((e) => e.innerText).join()`)
	if !strings.HasPrefix(tip, "trial ") || !strings.Contains(tip, "level=") {
		t.Errorf("over a mark: %q", tip)
	}
	browser.Eval[bool](b, `document.querySelector("[data-draw=history] canvas[role=img]").focus(), true`)
	b.Key(browser.End)
	b.Frame()
	said := browser.Eval[string](b, `document.querySelector("[data-draw=history] .live").textContent`)
	if !strings.HasPrefix(said, "trial 160: ") {
		t.Errorf("by keyboard: %q", said)
	}
	// Other parameters, another scale, another colour: each draws something else.
	contour := `document.querySelector("[data-draw=contour] canvas").toDataURL()`
	was := browser.Eval[string](b, contour)
	browser.Eval[bool](b, `((s) => { s.value = [...s.options].at(-1).value; `+
		`s.dispatchEvent(new Event("change")); return true; })(document.querySelector("[data-draw=contour] select"))`)
	if b.Frame(); was == browser.Eval[string](b, contour) {
		t.Error("another parameter changes nothing")
	}
	for _, c := range []struct{ button, canvas string }{
		{"[data-draw=history] .choice:nth-of-type(2) button[aria-pressed=false]", "[data-draw=history] canvas[role=img]"},
		{"[data-draw=history] .choice:nth-of-type(1) button:nth-of-type(2)", "[data-draw=history] canvas[role=img]"},
		{"#theme", "[data-draw=parallel] canvas"},
	} {
		picture := fmt.Sprintf("document.querySelector(%q).toDataURL()", c.canvas)
		was := browser.Eval[string](b, picture)
		click(c.button)
		b.Frame()
		if was == browser.Eval[string](b, picture) {
			t.Errorf("%s changes nothing", c.button)
		}
	}
	b.Clean()
}

// Thousands of trials are few elements, of which the last can be reached.
func TestReportOfManyTrials(t *testing.T) {
	t.Parallel()
	n := 600
	if testbed.IsSystem() {
		n = 10_000
	}
	f := newFixture(t)
	f.add("many", definition, n, 1)
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Page(f.page(Options{Now: time.Now()}, "many"))
	if n := browser.Eval[int](b, `document.querySelectorAll(".trials .row").length`); n > 60 {
		t.Errorf("%d rows are elements", n)
	}
	browser.Eval[bool](b, `(() => { const g = document.querySelector(".trials"); g.scrollTop = g.scrollHeight; return `+
		`true; })()`)
	b.Wait(`[...document.querySelectorAll(".trials .body .row")].some((r) => r.children[0].textContent === "` +
		strconv.Itoa(n) + `")`)
	b.Click(".trials [role=columnheader]:nth-child(3) .sort")
	b.Frame()
	b.Picture("many")
	b.Clean()
}

// The modules are modules: a server sends them as they are, under a policy of its own.
func TestModulesAreModules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("encoder", definition, 40, 1)
	one := string(f.page(Options{Now: time.Now()}, "encoder"))
	head, rest, _ := strings.Cut(one, "<style>")
	_, rest, _ = strings.Cut(rest, "</style>")
	body, _, ok := strings.Cut(rest, "<script>\"use strict\"")
	before, after, found := strings.Cut(head, "<meta http-equiv")
	if !ok || !found {
		t.Fatal("the page has another form")
	}
	_, after, _ = strings.Cut(after, ">")
	served := before + after + `<link rel="stylesheet" href="style.css">` + body +
		`<script type="module" src="report.js"></script>`
	files := http.FileServerFS(Files())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; require-trusted-types-for 'script'")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, served)
		case "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	b := browser.Open(t)
	b.Go(s.URL + "/")
	for _, c := range b.Canvases() {
		if c.Share < 0.01 {
			t.Errorf("blank: %+v", c)
		}
	}
	b.Clean()
}
