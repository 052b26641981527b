package web_test

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/browser"
)

// Studies are filtered by name and objective, and chosen to be compared.
func TestStudiesAreFilteredAndChosen(t *testing.T) {
	t.Parallel()
	b, at := looking(t)
	names := func() string {
		return browser.Eval[string](b, `[...document.querySelectorAll("tbody th")].map((c) => c.textContent).join(" ")`)
	}
	if all := names(); !strings.Contains(all, "encoder") || !strings.Contains(all, "resources") {
		t.Fatalf("there are %q", all)
	}
	b.Go(at + "/?q=ENCODER")
	if some := names(); !strings.Contains(some, "encoder") || strings.Contains(some, "resources") {
		t.Errorf("the filter leaves %q", some)
	}
	b.Go(at + "/?q=" + "nosuch%3Cb%3E")
	if said := b.Text("main"); !strings.Contains(said, "No study has nosuch<b>") {
		t.Errorf("it says %q", said)
	}
	b.Go(at + "/")
	browser.Eval[bool](b, `(() => { const all = [...document.querySelectorAll("input[name=s]")];
		for (const c of all) c.checked = ["before", "after"].includes(c.value); return true; })()`)
	b.Click("form[action='/compare'] button")
	b.Wait(`location.pathname === "/compare" && new URLSearchParams(location.search).getAll("s").length > 1`)
}
