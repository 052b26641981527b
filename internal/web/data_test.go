package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"github.com/assay-run/assay/internal/browser"
)

// looking opens a tab on pages that only look at a store of everything.
func looking(t *testing.T) (b *browser.Tab, at string) {
	t.Helper()
	url := ui(t, everything(t))
	b = browser.Open(t)
	b.Size(1280, 1000)
	b.Visit(url)
	b.Wait(`location.pathname === "/" && document.title === "Studies - assay"`)
	return b, base(url)
}

// A workflow that is uploaded is planned though the pages only look; the deadline can be typed and
// dragged, and the two are one.
func TestPlanPage(t *testing.T) {
	t.Parallel()
	b, at := looking(t)
	b.Go(at + "/plan")
	browser.Eval[bool](b, `((f) => { const d = new DataTransfer();
		d.items.add(new File([`+browser.Quote(fanned)+`], "my, flow.csv"));
		f.files.files = d.files; f.slots.value = "1..8"; f.price.value = "0.04/h"; f.submit(); return true;
			})(document.querySelector("form[action='/plan']"))`)
	b.Wait(`document.documentElement.dataset.drawn === "true" && document.getElementById("result")`)
	if got := b.Text("#result h2"); !strings.HasPrefix(got, "my_ flow.csv: 7 tasks") {
		t.Errorf("the plan is of %q", got)
	}
	if got := b.Text("#result .act code"); got != `assay plan 'my_ flow.csv' --slots 1..8 --levels tda,bua --price `+
		`0.04/h` {
		t.Errorf("as a command: %s", got)
	}
	b.Frame()
	for _, c := range b.Canvases() {
		if c.Share < 0.005 || c.Colors < 5 {
			t.Errorf("a chart is blank: %+v", c)
		}
	}
	if b.Text("textarea") == "" {
		t.Error("the workflow that was sent is not in the form again")
	}
	// Typed: the chart names the slots that meet it.
	said := func() string { return b.Text("[data-draw=curve] p.note") }
	b.Type("[data-deadline]", "4m")
	b.Wait(`document.querySelector("[data-draw=curve] p.note").textContent.startsWith("Within 4 min: ")`)
	if !strings.Contains(said(), "2 slots at least") {
		t.Errorf("%q", said())
	}
	b.Allow("willReadFrequently") // the test reads the picture
	b.Frame()                     // the words are there at once, the line with the next frame
	// Dragged: the line is at 4 minutes; the axis has 0 at its foot. It goes up by the keys too.
	b.Picture("plan-deadline")
	line := browser.Eval[float64](b, `(() => { const c = document.querySelector("[data-draw=curve] canvas"),
		k = c.width / c.clientWidth;
		const d = c.getContext("2d").getImageData(Math.round(c.width / 2) - 40, 0, 80, c.height).data,
			n = new Array(c.height).fill(0);
		const [r, g, bl] = getComputedStyle(document.documentElement).getPropertyValue("--failed").trim()
			.match(/[0-9a-f]{2}/gi).map((x) => parseInt(x, 16));
		for (let i = 0; i < d.length; i += 4) if (Math.abs(d[i] - r) + Math.abs(d[i + 1] - g) + Math.abs(d[i + 2] - bl) < 12)
			n[Math.floor(i / 320)]++;
		return Math.max(...n) < 20 ? -1 : n.indexOf(Math.max(...n)) / k; })()`)
	if line < 0 {
		t.Fatal("the chart has no line of the deadline")
	}
	browser.Eval[bool](b, `(document.querySelector("[data-draw=curve] canvas").scrollIntoView({block: "center"}), true)`)
	c := b.Place("[data-draw=curve] canvas")
	x, y := c.X+c.Width/2, c.Y+line
	b.Mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	b.Mouse(input.DispatchMouseEventTypeMouseMoved, x, y-40)
	b.Mouse(input.DispatchMouseEventTypeMouseReleased, x, y-40)
	b.Wait(`document.querySelector("[data-deadline]").value !== "4m"`)
	now := browser.Eval[string](b, `document.querySelector("[data-deadline]").value`)
	if !strings.HasPrefix(now, "4m") && !strings.HasPrefix(now, "5m") {
		t.Errorf("dragged up by 40 pixels the deadline is %q", now)
	}
	// And the server plans by it.
	browser.Eval[bool](b, `(globalThis.before = true)`)
	b.Click("form[action='/plan'] button.main")
	b.Wait(`!globalThis.before && document.querySelector("[data-deadline]").value === ` + browser.Quote(now) +
		` && document.documentElement.dataset.drawn === "true"`)
	if got := b.Text("#result"); !strings.Contains(got, "keeps the deadline") {
		t.Errorf("%.300s", got)
	}
}

// Sliders predict at once, also on pages that only look; a wrong input gets a message.
func TestModelPage(t *testing.T) {
	t.Parallel()
	b, at := looking(t)
	b.Go(at + "/model?s=resources&a.cpu=2&a.mem=1GB&a.rtt=5")
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	before := b.Text("[data-say=time]")
	browser.Eval[bool](b, `((r) => { r.value = "8"; r.dispatchEvent(new Event("input")); return true; `+
		`})(document.querySelector("input[type=range]"))`)
	b.Wait(`document.querySelector("[data-say=time]").textContent !== ` + browser.Quote(before) +
		` && location.search.includes("a.cpu=8")`)
	if got := browser.Eval[string](b, `document.querySelector("[data-attribute=cpu]").value`); got != "8" {
		t.Errorf("the field says %q", got)
	}
	predicted := func() (s float64) {
		_, _ = fmt.Sscanf(b.Text("[data-say=time]"), "%f", &s)
		return s
	}
	if s := predicted(); !(s > 11 && s < 16) { // 4 + 40/8 + 0.3·5 + 3 at most
		t.Errorf("%v s on 8 processors", s)
	}
	// The same address shows the same without a script.
	said := b.Text("[data-say=time]")
	b.Scripts(false)
	b.Visit(browser.Eval[string](b, "location.href"))
	if got := b.Text("[data-say=time]"); got != said {
		t.Errorf("with a script %q, without %q", said, got)
	}
	if got := b.Text("[data-draw=parts] table"); !strings.Contains(got, "compute") {
		t.Errorf("parts: %q", got)
	}
	b.Scripts(true)
	b.Go(at + "/model?s=resources&a.cpu=64")
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	if got := b.Text("#predicted"); !strings.Contains(got, "cpu=64 is beyond the 8 that was run") {
		t.Errorf("%.300s", got)
	}
	b.Allow("422")
	browser.Eval[bool](b, `((f) => { f.value = "fast"; f.dispatchEvent(new Event("input")); return true; `+
		`})(document.querySelector("[data-attribute=cpu]"))`)
	b.Wait(`document.querySelector("[data-say=wrong]").hidden === false`)
	if got := b.Text("[data-say=wrong]"); !strings.Contains(got, "cpu") {
		t.Errorf("%q", got)
	}
}

// Studies that are chosen are set beside each other, in words and in a chart.
func TestComparePage(t *testing.T) {
	t.Parallel()
	b, at := looking(t)
	b.Go(at + "/compare")
	for _, name := range []string{"before", "after"} {
		b.Click(`input[name=s][value=` + name + `]`)
	}
	b.Click("form[action='/compare'] button")
	b.Wait(`location.search.includes("s=before") && document.documentElement.dataset.drawn === "true"`)
	if got := b.Text("main dl"); !strings.Contains(got, "% more elapsed than after, 95 % interval") ||
		!strings.Contains(got, "▼ worse") {
		t.Errorf("%q", got) // after comes first by name
	}
	if got := b.Text("table.settings"); !strings.Contains(got, "threads ≠") {
		t.Errorf("what differs: %q", got)
	}
	b.Frame()
	for _, c := range b.Canvases() {
		if c.Share < 0.005 || !strings.Contains(c.Label, "before") || !strings.Contains(c.Label, "after") {
			t.Errorf("a chart is blank: %+v", c)
		}
	}
}

// The map leads from study to study, with the values that the others would prune and the risk of it.
func TestKnowledgePage(t *testing.T) {
	t.Parallel()
	b, at := looking(t)
	b.Go(at + "/kb")
	if n := browser.Eval[int](b, `document.querySelectorAll("table.map tbody tr").length`); n != 4 {
		t.Errorf("%d studies in the map", n)
	}
	b.Click(`table.map a[href="/kb?s=after"]`)
	b.Wait(`location.search === "?s=after"`)
	b.Ready()
	if got := b.Text("main"); !strings.Contains(got, "Most like after") ||
		!strings.Contains(got, "later trials that ran to their end") {
		t.Errorf("%.400s", got)
	}
	browser.Eval[bool](b, `((f) => { f.after.value = "60"; f.requestSubmit(); return true; `+
		`})(document.querySelector("form[action='/kb']"))`)
	b.Wait(`location.search === "?s=after&after=60"`)
	b.Ready()
	if got := b.Text("main"); !strings.Contains(got, "after the first 60 trials") {
		t.Errorf("%.400s", got)
	}
	if got := browser.Eval[string](b,
		`[...document.querySelectorAll(".act code")].map((c) => c.textContent).join("|")`); !strings.Contains(got,
		"assay study similar after --prune --after 60|GET /api/v1/studies/after/pruned?after=60") {
		t.Errorf("as commands: %s", got)
	}
}
