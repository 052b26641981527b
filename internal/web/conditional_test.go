package web_test

import (
	"testing"

	"github.com/assay-run/assay/internal/browser"
)

const conditional = `
name: packer
command: [pack, --level, "{level}", --threads, "{threads}", --codec, "{codec}", --window, "{window}", --order,
  "{order}", in, out]
parameters:
  level: {type: int, min: 1, max: 19, default: 6}
  threads: {type: int, min: 1, max: 64, log: true, default: 1}
  codec: {type: categorical, values: [gzip, zstd], default: gzip}
  window: {type: int, min: 10, max: 27, when: "codec == 'zstd'", default: 20}
  order: {type: permutation, values: [read, pack, write]}
objective: {minimize: elapsed}
search: {seed: 7}
budget: {time: 2h}
`

// A parameter that is not in force has no value on a page, also in rows that are added as the study goes on; an
// order is shown as it is.
func TestConditionalStudy(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecordOf(t, store, "packer", conditional)
	r.run(60)
	at := ui(t, store)
	b := browser.Open(t) // which is closed before the pages are
	b.Size(1280, 900)
	b.Visit(at)
	b.Wait(`document.title === "Studies - assay"`)
	b.Visit(base(at) + "/s/packer")
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	b.Picture("packer")
	browser.Eval[bool](b, `document.getElementById("trials").scrollIntoView(), true`)
	b.Wait(`document.querySelector(".trials .body .row")`)
	r.run(30)
	b.Wait(`document.querySelector("#trials").textContent.includes("90 of 90 trials")`)
	browser.Eval[bool](b, `(() => { const g = document.querySelector(".trials"); g.scrollTop = g.scrollHeight; return `+
		`true; })()`)
	// The rows of later trials show the values of the API.
	browser.Await[bool](b, `fetch("/api/v1/studies/packer/trials?format=columns").then((r) => r.json()).then((p) => {
		window.columns = p.columns;
		return true;
	})`)
	b.Wait(`(() => {
		const names = [...document.querySelectorAll(".trials [role=columnheader]")].map((c) => c.textContent);
		const at = ["codec", "window", "order"].map((n) => [n, names.findIndex((x) => x.startsWith(n))]);
		const rows = [...document.querySelectorAll(".trials .body .row")].map((r) => [...r.children]
			.map((c) => c.textContent))
			.filter((r) => Number.parseInt(r[0]) > 60);
		return rows.length > 4 && rows.some((r) => r[at[1][1]] === "–") && rows.some((r) => r[at[0][1]] === "zstd") &&
			rows.every((r) => {
			const k = columns.id.indexOf(Number.parseInt(r[0]));
			return at.every(([n, i]) => r[i] === String(columns.config[n][k] ?? "–"));
		});
	})()`)
	b.Picture("packer-table")
}
