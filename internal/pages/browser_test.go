package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A tab is a tab of a browser that remembers what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

// browse starts a browser, whose first tab it returns.
func browse(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("NO PAGE WAS LOOKED AT IN A BROWSER: install chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				text += " " + x.Description
			}
			b.wrong("exception: " + text)
		case *runtime.EventConsoleAPICalled:
			b.wrong(fmt.Sprintf("console: %s %v", e.Type, e.Args))
		case *log.EventEntryAdded:
			b.wrong("log: " + e.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			b.wrong("a dialog: " + e.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *tab) wrong(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = append(b.bad, text)
}

// clean fails the test if the page has said that something is wrong: an error, an exception, a
// violation of its policy.
func (b *tab) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.bad {
		b.t.Errorf("the browser says: %s", text)
	}
}

func do[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](expression))
}

// open shows a page that stands in a file, as a person opens it, and waits until it is drawn.
func (b *tab) open(page []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.visit("file://" + file)
}

func (b *tab) visit(address string) {
	b.t.Helper()
	do(b, chromedp.Navigate(address))
	b.wait(`document.documentElement.dataset.ready === "true"`)
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("("+expression+") || false",
		chromedp.WithPollingTimeout(time.Minute))); err != nil {
		b.clean()
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// frame waits until what was asked for is drawn.
func (b *tab) frame() {
	b.t.Helper()
	do(b, chromedp.Evaluate[bool](`new Promise((ok) =>
		requestAnimationFrame(() => requestAnimationFrame(() => ok(true))))`, chromedp.EvalAwaitPromise))
}

func (b *tab) size(width, height int64) { do(b, chromedp.EmulateViewport(width, height)) }

func (b *tab) dark(dark bool) {
	b.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	f := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}
	do(b, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: f})
		return err
	}))
	b.frame()
}

// keep keeps a picture of the whole page where ASSAY_PICTURES says.
func (b *tab) keep(name string) {
	b.t.Helper()
	dir := os.Getenv("ASSAY_PICTURES")
	if dir == "" {
		return
	}
	png := do(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// drawn is what a canvas shows: the share of its pixels that have a colour, and how many colours.
type drawn struct {
	Label  string
	Share  float64
	Colors int
	Box    box
}

type box struct{ X, Y, Width, Height float64 }

const canvases = `[...document.querySelectorAll("canvas[role=img]")].map((c) => {
	const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, colors = new Set();
	let n = 0;
	for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0) { n++; colors.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); }
	const r = c.getBoundingClientRect();
	return {Label: c.getAttribute("aria-label"), Share: n / (d.length / 4), Colors: colors.size,
		Box: {X: r.x, Y: r.y + scrollY, Width: r.width, Height: r.height}};
})`

// A page draws every chart, fits its width, has texts that can be read, and says nothing on the
// console, on a desk and on a telephone, in light and in dark.
func TestReportInABrowser(t *testing.T) {
	f := newFixture(t)
	f.add("encoder", definition, 160, 1)
	f.add("encoder after", definition, 90, 0.8)
	o := Options{Price: 0.4 / 3600, Priced: "0.4/h", Version: "test", Again: "assay report encoder", Now: time.Now()}
	for name, report := range map[string][]byte{
		"one": f.page(o, "encoder"), "two": f.page(o, "encoder", "encoder after"),
	} {
		b := browse(t)
		for _, width := range []int64{1280, 390} {
			for _, dark := range []bool{false, true} {
				b.size(width, 900)
				b.dark(dark)
				b.open(report)
				b.frame()
				all := eval[[]drawn](b, canvases)
				if want := map[string]int{"one": 7, "two": 15}[name]; len(all) != want {
					t.Errorf("%s: %d charts, want %d", name, len(all), want)
				}
				for _, c := range all {
					if c.Share < 0.01 || c.Colors < 10 || len(c.Label) < 20 {
						t.Errorf("%s, %d wide, dark %v: a chart is blank or has no label: %+v", name, width, dark, c)
					}
				}
				if w := eval[int64](b, `document.documentElement.scrollWidth`); w > width {
					t.Errorf("%s: the page is %d wide, the window %d", name, w, width)
				}
				small := eval[[]string](b, `[...document.querySelectorAll("main *, header *, footer *")].filter((e) =>
					[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) < 12)
					.map((e) => e.tagName + " " + e.textContent.slice(0, 40))`)
				if len(small) > 0 {
					t.Errorf("%s: texts below 12 px: %q", name, small)
				}
				b.keep(fmt.Sprintf("%s-%d-%s", name, width, map[bool]string{true: "dark", false: "light"}[dark]))
			}
		}
		b.clean()
	}
}

// What a reader does to a page does what it says.
func TestReportAnswersAReader(t *testing.T) {
	f := newFixture(t)
	f.add("encoder", definition, 160, 1)
	b := browse(t)
	b.size(1280, 900)
	b.open(f.page(Options{Now: time.Now()}, "encoder"))
	status := func() string {
		b.frame()
		return eval[string](b, `document.querySelector("[data-draw=table] [aria-live]").textContent`)
	}
	rows := func(column int) []string {
		b.frame()
		return eval[[]string](b, fmt.Sprintf(
			`[...document.querySelectorAll(".trials .body .row")].map((r) => r.children[%d].textContent)`, column))
	}
	if got := status(); got != "160 of 160 trials" {
		t.Errorf("all: %s", got)
	}
	// Sorted by the metric, the first row is the least; a second time, the greatest.
	click := func(selector string) { do(b, chromedp.Click(chromedp.CSS(selector))) }
	click(".trials [role=columnheader]:nth-child(3) .sort")
	up := rows(2)
	click(".trials [role=columnheader]:nth-child(3) .sort")
	down := rows(2)
	least := eval[string](b, `(() => {
		const d = JSON.parse(document.getElementById("data").textContent).studies[0];
		const v = d.trials.value.filter((x) => x !== null); return module_format.metric(Math.min(...v), "s"); })()`)
	sort := eval[string](b, `document.querySelector(".trials [role=columnheader]:nth-child(3)").ariaSort`)
	if !strings.HasSuffix(up[0], least) || down[0] == up[0] || sort != "descending" {
		t.Errorf("sorted: %q then %q, least %s", up[:3], down[:3], least)
	}
	// A condition in a field, by keyboard.
	do(b, chromedp.SendKeys(chromedp.CSS(`.trials input[aria-label="condition on state"]`), "failed"))
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
	eval[bool](b, `document.querySelector("[data-draw=parallel] canvas").scrollIntoView({block: "center"}), true`)
	b.frame()
	place := func(selector string) box {
		b.frame()
		return eval[box](b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect();
			return {X: r.x, Y: r.y, Width: r.width, Height: r.height}; })()`, selector))
	}
	at := place("[data-draw=parallel] canvas")
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		do(b, chromedp.MouseEvent(kind, x, y, chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)))
	}
	before := eval[string](b, `document.querySelector("[data-draw=parallel] canvas").toDataURL()`)
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
	if text := eval[string](b, field); text != "1..10" {
		t.Errorf("the brush is the condition %q", text)
	}
	if before == eval[string](b, `document.querySelector("[data-draw=parallel] canvas").toDataURL()`) {
		t.Error("the brush is not drawn")
	}
	// Escape on the chart clears it.
	eval[bool](b, `document.querySelector("[data-draw=parallel] canvas").focus(), true`)
	do(b, chromedp.KeyEvent(kb.Escape))
	if got := status(); got != "160 of 160 trials" {
		t.Errorf("after Escape: %s", got)
	}
	// The pointer over a mark, and the keyboard, say what it is.
	eval[bool](b, `document.querySelector("[data-draw=history] canvas[role=img]").scrollIntoView({block: "center"}), true`)
	b.frame()
	at = place("[data-draw=history] canvas[role=img]")
	mouse(input.DispatchMouseEventTypeMouseMoved, at.X+at.Width/2, at.Y+at.Height-80)
	b.frame()
	tip := eval[string](b, `[...document.querySelectorAll("[data-draw=history] .tip:not([hidden])")]
		.map((e) => e.innerText).join()`)
	if !strings.HasPrefix(tip, "trial ") || !strings.Contains(tip, "level=") {
		t.Errorf("over a mark: %q", tip)
	}
	eval[bool](b, `document.querySelector("[data-draw=history] canvas[role=img]").focus(), true`)
	do(b, chromedp.KeyEvent(kb.End))
	b.frame()
	said := eval[string](b, `document.querySelector("[data-draw=history] .live").textContent`)
	if !strings.HasPrefix(said, "trial 160: ") {
		t.Errorf("by keyboard: %q", said)
	}
	// Another parameter, another scale, another colour: each draws something else.
	for _, c := range []struct{ button, canvas string }{
		{"[data-draw=importance] .barrow:nth-child(2)", "[data-draw=importance] canvas"},
		{"[data-draw=history] .choice:nth-of-type(2) button[aria-pressed=false]", "[data-draw=history] canvas[role=img]"},
		{"[data-draw=history] .choice:nth-of-type(1) button:nth-of-type(2)", "[data-draw=history] canvas[role=img]"},
		{"#theme", "[data-draw=parallel] canvas"},
	} {
		picture := fmt.Sprintf("document.querySelector(%q).toDataURL()", c.canvas)
		was := eval[string](b, picture)
		click(c.button)
		b.frame()
		if was == eval[string](b, picture) {
			t.Errorf("%s changes nothing", c.button)
		}
	}
	b.clean()
}

// Ten thousand trials are few elements, of which the last can be reached.
func TestReportOfManyTrials(t *testing.T) {
	f := newFixture(t)
	f.add("many", definition, 10_000, 1)
	b := browse(t)
	b.size(1280, 900)
	b.open(f.page(Options{Now: time.Now()}, "many"))
	if n := eval[int](b, `document.querySelectorAll(".trials .row").length`); n > 60 {
		t.Errorf("%d rows are elements", n)
	}
	eval[bool](b, `(() => { const g = document.querySelector(".trials"); g.scrollTop = g.scrollHeight; return true; })()`)
	b.wait(`[...document.querySelectorAll(".trials .body .row")].some((r) => r.children[0].textContent === "10000")`)
	do(b, chromedp.Click(chromedp.CSS(".trials [role=columnheader]:nth-child(3) .sort")))
	b.frame()
	b.keep("many")
	b.clean()
}

// The modules are modules: a server sends them as they are, under a policy of its own.
func TestModulesAreModules(t *testing.T) {
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
	b := browse(t)
	b.visit(s.URL + "/")
	for _, c := range eval[[]drawn](b, canvases) {
		if c.Share < 0.01 {
			t.Errorf("blank: %+v", c)
		}
	}
	b.clean()
}

// jsonOf returns v as JavaScript.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
