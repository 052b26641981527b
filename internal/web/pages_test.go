package web_test

import (
	"fmt"
	"testing"

	"github.com/assay-run/assay/internal/browser"
)

// The address that assay ui prints leads to the studies, and from there to one, which grows as its
// events come: without an error on the console, and within the page's own policy.
func TestStudyLive(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecord(t, store, "encoder")
	r.run(400)
	url := ui(t, store) // it ends after the tab, whose last request would be refused
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Visit(url)
	b.Wait(`location.pathname === "/" && document.title === "Studies - assay"`)
	b.Ready()
	b.Picture("studies")
	b.Click(`a[href="/s/encoder"]`)
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	b.Frame()
	for _, c := range b.Canvases() {
		if c.Share < 0.01 || c.Colors < 10 {
			t.Errorf("a chart is blank: %+v", c)
		}
	}
	b.Picture("study")
	b.Wait(`document.querySelector("[data-live=link]").textContent === "live"`)
	done := func() int {
		var n int
		_, _ = fmt.Sscanf(b.Text("[data-live=counts]"), "%d done", &n)
		return n
	}
	before := done()
	r.run(20)
	b.Wait(fmt.Sprintf(`parseInt(document.querySelector("[data-live=counts]").textContent) > %d`, before))
}

// A study is reached whatever its name is.
func TestNamesInAddresses(t *testing.T) {
	t.Parallel()
	store := memory(t)
	names := []string{"a/b", "what? #1 & 50%", "größe", "<b>"}
	for _, name := range names {
		newRecord(t, store, name).run(3)
	}
	url := ui(t, store)
	b := browser.Open(t)
	b.Visit(url)
	for _, name := range names {
		b.Wait(`document.title === "Studies - assay"`)
		b.Ready()
		browser.Eval[bool](b, `([...document.querySelectorAll("a")].find((a) => a.textContent === `+browser.Quote(name)+
			`).click(), true)`)
		b.Wait(`document.documentElement.dataset.drawn === "true" && document.querySelector("h1").textContent === ` +
			browser.Quote(name))
		b.Visit(base(url) + "/")
	}
}
