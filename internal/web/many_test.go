package web_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
)

// cpu returns the time of processors that this process has used.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The page of a study can be used with many trials: it is drawn, and its table reaches the last
// one. -v prints how long that takes; ASSAY_MANY is the number of trials.
func TestManyTrials(t *testing.T) {
	testbed.System(t)
	t.Parallel()
	n := 10_000
	if text := os.Getenv("ASSAY_MANY"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatal(err)
		}
	}
	store, err := setup.OpenStore(t.Context(), t.TempDir()+"/many.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	newRecord(t, store, "few").run(100)
	r := newRecord(t, store, "many")
	r.run(n)
	at := ui(t, store)
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Visit(at)
	b.Wait(`document.title === "Studies - assay"`)
	b.Ready()
	took := func(study string) (html, drawn time.Duration) {
		began, busy := time.Now(), cpu(t)
		b.Visit(base(at) + "/s/" + study)
		html = time.Since(began)
		b.Wait(`document.documentElement.dataset.drawn === "true"`)
		drawn = time.Since(began)
		t.Logf("%s: page %s, drawn %s; %s of the server's processor; by the browser: first paint %.0f ms, "+
			"drawn %.0f ms", study,
			html.Round(time.Millisecond), drawn.Round(time.Millisecond), (cpu(t) - busy).Round(time.Millisecond),
			browser.Eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`),
			browser.Eval[float64](b, `performance.getEntriesByName("drawn")[0]?.startTime ?? -1`))
		return html, drawn
	}
	_, few := took("few")
	_, cold := took("many")
	_, warm := took("many")
	for _, dark := range []bool{false, true} {
		b.Theme(dark)
		b.Frame()
		b.Picture(fmt.Sprintf("state-%d-1280-%s", n, map[bool]string{true: "dark", false: "light"}[dark]))
	}
	// A hundred times the trials take at most some times as long: nothing is done again for each.
	if limit := 20*few + time.Duration(n)*time.Millisecond; cold > limit || warm > limit {
		t.Errorf("%d trials are drawn in %s, then in %s; 100 in %s", n, cold, warm, few)
	}
	browser.Eval[bool](b, `document.getElementById("trials").scrollIntoView(), true`)
	b.Wait(`document.querySelector(".trials .body .row")`)
	if rows := browser.Eval[int](b, `document.querySelectorAll(".trials .row").length`); rows > 60 {
		t.Errorf("%d rows are elements", rows)
	}
	browser.Eval[bool](b, `(() => { const g = document.querySelector(".trials");
		g.scrollTop = g.scrollHeight; return true; })()`)
	b.Wait(fmt.Sprintf(`[...document.querySelectorAll(".trials .body .row")]
		.some((r) => r.children[0].textContent.startsWith("%d"))`, n))
	// A new trial is there soon, with all of this on the page.
	before := browser.Eval[string](b, `document.querySelector("[data-live=counts]").textContent`)
	began := time.Now()
	r.run(1)
	b.Wait(`document.querySelector("[data-live=counts]").textContent !== ` + browser.Quote(before))
	t.Logf("%d: an event is on the page after %s", n, time.Since(began).Round(time.Millisecond))
}
