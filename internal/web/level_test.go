package web_test

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/browser"
)

const levelled = `
name: frames
command: [encode, --preset, "{preset}", --threads, "{threads}", --tune, "{tune}", --refs, "{refs}", --frames,
  "{frames}", in, out]
parameters:
  preset: {type: int, min: 1, max: 9}
  threads: {type: int, min: 1, max: 8}
  tune: [film, grain]
  refs: {type: int, min: 1, max: 4}
  frames: {values: [8, 32, 128]}
objective: {minimize: elapsed}
level: {parameter: frames, full: 128}
search: {seed: 7}
budget: {time: 2h}
`

// A trial below the full level is called so everywhere, and not "outside limits": there are none.
func TestStudyWithLevels(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecordOf(t, store, "frames", levelled)
	r.run(30)
	at := ui(t, store)
	b := browser.Open(t) // which is closed before the pages are
	b.Size(1280, 900)
	b.Visit(at)
	b.Wait(`document.title === "Studies - assay"`)
	b.Visit(base(at) + "/s/frames")
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	browser.Eval[bool](b, `document.getElementById("trials").scrollIntoView(), true`)
	b.Wait(`[...document.querySelectorAll(".trials .body .row")].some((r) => r.textContent.includes("below full"))`)
	b.Picture("frames")
	page := browser.Eval[string](b, `document.body.innerText`)
	if strings.Contains(page, "outside limits") || !strings.Contains(page, ", 2 below full") {
		t.Errorf("the page says\n%s", page)
	}
	one := browser.Await[string](b, `fetch("/api/v1/studies/frames/trials").then((r) => r.json()).then((p) => {
		const t = p.rows.find((t) => t.state === "infeasible");
		return fetch("/s/frames/t/" + t.id).then((r) => r.text()).then((page) => t.state + page);
	})`)
	if !strings.HasPrefix(one, "infeasible<") || !strings.Contains(one, "</span> below full</span>") ||
		strings.Contains(one, "outside limits") {
		t.Errorf("the page of a trial is\n%s", one)
	}
}
