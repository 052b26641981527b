package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/web"
)

// A view is a page as a user sees it.
type view struct {
	name, path string
	// act, if there is one, is done before the page is looked at.
	act func(*browser.Tab)
}

// fanned is a workflow of seven tasks.
const fanned = "id,kind,run_s,parents\nsplit,split,10,\nalign1,align,120,split\nalign2,align,90,split\n" +
	"align3,align,100,split\nsort1,sort,30,align1\nmerge,merge,40,sort1 align2 " +
	"align3\n<img/src=x/onerror=alert(1)>,</script><script>alert(2)</script>,5,merge\n"

// queries are the queries of pages, beside their paths.
var queries = map[string]string{
	"/compare": "?s=before&s=after&s=encoder", "/kb": "?s=after&after=60",
	"/model": "?s=resources&a.cpu=32&a.mem=2GB&a.rtt=5",
}

// views returns a view of each page of the table, by the studies and trials that [everything] has,
// and, in make system, of pages after an action.
func views(t *testing.T) (all []view) {
	t.Helper()
	for _, pattern := range web.Patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		if method != "GET" {
			continue
		}
		name := strings.Trim(regexp.MustCompile(`[^a-z]+`).ReplaceAllString(path, "-"), "-")
		path = strings.NewReplacer("{$}", "", "{study}", "encoder", "{trial}", "61", "{worker}", "rack-07").Replace(path)
		if strings.Contains(path, "{") {
			t.Fatalf("%s: what stands for this in the test?", pattern)
		}
		if name == "" {
			name = "studies"
		}
		all = append(all, view{name: name, path: path + queries[path]})
	}
	if !testbed.IsSystem() {
		return all
	}
	return append(all,
		view{name: "compare-choose", path: "/compare"},
		view{name: "compare-hostile", path: "/compare?s=before&s=" + url.QueryEscape(hostile)},
		view{name: "kb-hostile", path: "/kb?s=" + url.QueryEscape(hostile)},
		view{name: "model-hostile", path: "/model?s=" + url.QueryEscape(hostile)},
		view{name: "model-none", path: "/model?s=empty"},
		view{name: "kb-none", path: "/kb?s=empty"},
		view{name: "nothing", path: "/no/such/page"},
		view{name: "plan-made", path: "/plan", act: func(b *browser.Tab) {
			browser.Eval[bool](b, `((f) => { f.text.value = `+browser.Quote(fanned)+`; f.price.value = "0.04/h";
				f.error.value = "10";
				f.deadline.value = "4m"; f.submit(); return true; })(document.querySelector("form[action='/plan']"))`)
			b.Wait(`document.getElementById("result")`)
		}},
		view{name: "plan-wrong", path: "/plan", act: func(b *browser.Tab) {
			b.Allow("422")
			browser.Eval[bool](b, `((f) => { f.text.value = "id,run_s\na,fast\n"; f.submit(); return true; `+
				`})(document.querySelector("form[action='/plan']"))`)
			b.Wait(`document.querySelector("[role=alert]")`)
		}},
	)
}

// axe returns the text of axe-core, which scripts/deps.sh installs, "" if it is not there.
func axe(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(testbed.Installed("axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Log("WHETHER THE PAGES CAN BE USED BY ALL WAS NOT CHECKED: npm and scripts/deps.sh test install axe-core")
		return ""
	}
	return string(b)
}

// A violation is a finding of axe-core.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML    string
		Target  []any
		Summary string `json:"failureSummary"`
	}
}

// found returns the violations that axe-core finds in the page, by the rules of WCAG 2.2 AA and good practice. In
// the dark, these are the rules of colours: nothing else changes with the theme.
func found(b *browser.Tab, axe string, dark bool) (all []violation) {
	if axe == "" {
		return nil
	}
	if !browser.Eval[bool](b, "Boolean(window.axe)") {
		browser.Eval[bool](b, axe+";true")
	}
	options := `{resultTypes: ["violations"]}`
	if dark {
		options = `{resultTypes: ["violations"], runOnly: ["color-contrast", "link-in-text-block"]}`
	}
	text := browser.Await[string](b, `axe.run(document, `+options+`).then((r) => JSON.stringify(r.violations))`)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		panic(err)
	}
	return all
}

// wide is how many pixels a page is wider than its window, and the element that stands out most.
const wide = `((w) => JSON.stringify({by: document.documentElement.scrollWidth - w,
	what: [...document.querySelectorAll("body *")]
	.filter((e) => e.getBoundingClientRect().right > w + 1 &&
		!e.closest(".scroll, .trials, .bars, pre, details:not([open]) > :not(summary)")).slice(0, 3)
	.map((e) => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40))}))(innerWidth)`

// Every page of the table is whole at two widths, in two themes and without scripts: nothing goes wrong
// in it, it loads nothing from elsewhere, it is never wider than the window, and axe-core finds
// nothing. make test takes one width and one theme, and has
// axe-core look at the page of a study.
func TestAllPages(t *testing.T) {
	t.Parallel()
	at, enter := serveAll(t, everything(t))
	rules := axe(t)
	tab := browser.Open(t)
	tab.Visit(enter())
	tab.Wait(`location.pathname === "/" && document.title === "Studies - assay"`)
	for _, v := range views(t) {
		t.Run(v.name, func(t *testing.T) {
			b := tab.For(t)
			if v.name == "nothing" {
				b.Allow("404")
			}
			b.Asked()
			widths := []int64{1280, 320}
			if !testbed.IsSystem() {
				widths = widths[:1]
			}
			if os.Getenv("ASSAY_PICTURES") != "" {
				widths = []int64{1280, 320, 390, 1920}
			}
			for _, width := range widths {
				b.Size(width, 900)
				b.Go(at + v.path)
				if v.act != nil {
					v.act(b)
					b.Ready()
				}
				b.Wait(`![...document.scripts].some((s) => /page_(compare|plan|model|study)/.test(s.src)) || ` +
					`document.documentElement.dataset.drawn === "true"`)
				for _, dark := range []bool{false, true} {
					if dark && !testbed.IsSystem() {
						continue
					}
					b.Theme(dark)
					b.Frame()
					name := fmt.Sprintf("%s-%d", v.name, width)
					if dark {
						name += "-dark"
					}
					b.Picture(name)
					if v.name != "s-study" && !testbed.IsSystem() {
						check(t, b, name, at, "", dark)
						continue
					}
					check(t, b, name, at, rules, dark)
				}
			}
			if v.act == nil && testbed.IsSystem() {
				b.Scripts(false)
				defer b.Scripts(true)
				b.Visit(at + v.path)
				b.Wait(`document.readyState === "complete"`)
				b.Picture(v.name + "-plain")
				check(t, b, v.name+" without scripts", at, "", false)
				if b.Text("main h1") == "" {
					t.Error("without scripts the page has no heading")
				}
			}
		})
	}
}

// The check of the pages finds the flaws of a page that has some.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src *; style-src 'unsafe-inline'")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>t</title><html data-ready="true"><body>
			<p style="width:2000px;color:#999">pale</p>
			<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><img src="http://elsewhere.invalid/x.png">
			<script>console.log(1)</script>`)
	}))
	defer srv.Close()
	b := browser.Open(t)
	b.Size(320, 900)
	b.Go(srv.URL)
	if !strings.Contains(browser.Eval[string](b, wide), `"by":1`) {
		t.Errorf("a page that is too wide: %s", browser.Eval[string](b, wide))
	}
	if asked := strings.Join(b.Asked(), " "); !strings.Contains(asked, "http://elsewhere.invalid/") {
		t.Errorf("a page that asks elsewhere: %s", asked)
	}
	if wrong := strings.Join(b.Wrong(), " "); !strings.Contains(wrong, "Content Security Policy") {
		t.Errorf("a page that violates its policy: %s", wrong)
	}
	rules := axe(t)
	if rules == "" {
		return
	}
	var ids []string
	for _, v := range found(b, rules, false) {
		ids = append(ids, v.ID)
	}
	if dark := found(b, rules, true); len(dark) != 1 || dark[0].ID != "color-contrast" {
		t.Errorf("by the rules of colours axe-core finds %+v", dark)
	}
	for _, id := range []string{"color-contrast", "image-alt", "html-has-lang"} {
		if !slices.Contains(ids, id) {
			t.Errorf("axe-core finds %q, and not %s", ids, id)
		}
	}
}

// check fails the test for each flaw of the page as it is now.
func check(t *testing.T, b *browser.Tab, name, at, rules string, dark bool) {
	t.Helper()
	var w struct {
		By   int
		What []string
	}
	if err := json.Unmarshal([]byte(browser.Eval[string](b, wide)), &w); err != nil {
		t.Fatal(err)
	}
	if w.By > 0 {
		t.Errorf("%s is %d pixels wider than its window: %q", name, w.By, w.What)
	}
	for _, url := range b.Asked() {
		if !strings.HasPrefix(url, at+"/") {
			t.Errorf("%s asks for %s", name, url)
		}
	}
	for _, v := range found(b, rules, dark) {
		for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
			t.Errorf("%s: axe %s (%s, %d): %s\n  %.200s\n  %v %s", name, v.ID, v.Impact, len(v.Nodes), v.Help, n.HTML, n.Target,
				n.Summary)
		}
	}
	b.Clean()
}
