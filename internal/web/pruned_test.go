package web_test

import (
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/browser"
)

// Values that earlier studies keep out are listed until they are back. A person has the best configuration run
// with such a value, also without a script.
func TestPruned(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecord(t, store, "encoder")
	r.run(60)
	cut := func(param string, values []string, restored bool) assay.Event {
		return assay.Event{At: r.at.Add(r.spent), Spent: r.spent, Pruned: &assay.Pruned{
			Param: param, Values: values, Study: "before", Correlation: 0.87, Alpha: 0.5, Threshold: 60, Restored: restored,
			Reason: "like <b>this</b>",
		}}
	}
	r.append(cut("codec", []string{"gzip", "zstd"}, false), cut("level", []string{"12..19"}, false),
		cut("codec", []string{"zstd"}, true))
	var given []assay.Config
	at, enter := serveGiven(t, store, &given)
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Visit(enter())
	b.Wait(`document.title === "Studies - assay"`)
	b.Scripts(false)
	b.Visit(at + "/s/encoder")
	list := b.Text(".pruned")
	if !strings.Contains(list, "codec gzip before: like <b>this</b>") || !strings.Contains(list, "level 12..19") ||
		strings.Contains(list, "zstd before") {
		t.Errorf("pruned is %q", list)
	}
	b.Click(`.pruned li:nth-child(2) form button`)
	b.Wait(`document.querySelector(".flash .did")`)
	if got := b.Text(".flash"); !strings.Contains(got, "level=12") || !strings.Contains(got, "assay study add encoder") {
		t.Errorf("after the act the page says %q", got)
	}
	if len(given) != 1 || given[0][0] != 12 {
		t.Errorf("%v were given", given)
	}
	b.Scripts(true)
	b.Visit(at + "/s/encoder")
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	browser.Eval[bool](b, `document.querySelector(".space").scrollIntoView(), true`)
	b.Wait(`document.querySelector(".space canvas")`)
	b.Picture("pruned")
}
