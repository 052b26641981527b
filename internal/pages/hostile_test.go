package pages

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/spec"
)

// hostile ends the element that it stands in, wherever that is.
const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>`${alert(4)}`" +
	"<!--\x1b[31m\u2028\u202e{{.Policy}}"

// Names and values of users are text on a page, whatever their content.
func TestNamesAndValuesAreText(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	def := &spec.Study{
		Version: spec.Version, Command: []string{strings.NewReplacer("{", "{{", "}", "}}").Replace(hostile), "{v}"},
		Params: []spec.Param{
			{Name: "v", Type: "categorical", Values: []string{hostile, "b"}}, {Name: hostile, Type: "int", Min: 1, Max: 9},
		},
		Where: []string{"v != 'c'"}, SubjectTo: []string{"elapsed <= 1000"},
		Metrics:   []spec.Metric{{Name: "m", Source: "stdout:/x([0-9])/", Unit: hostile}},
		Objective: spec.Objective{Metric: "m"},
	}
	name := "study " + hostile
	f.addHostile(name, def)
	page := f.page(Options{Now: time.Now(), Again: hostile, Priced: hostile, Version: hostile, Price: 1}, name, name)
	text := string(page)
	if n := strings.Count(text, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img", "<svg", "onerror=alert(2)>\"", "\x1b", "\u202e"} {
		if strings.Contains(text, bad) {
			i := strings.Index(text, bad)
			t.Errorf("the page has %q: %q", bad, text[max(0, i-80):i])
		}
	}
	_, island, _ := strings.Cut(text, `id="data">`)
	island, _, _ = strings.Cut(island, "</script>")
	var data struct {
		Studies []struct {
			Study  string
			Params []struct{ Levels []string }
		}
	}
	if err := json.Unmarshal([]byte(island), &data); err != nil {
		t.Fatal(err)
	}
	if data.Studies[0].Study != name || data.Studies[0].Params[0].Levels[0] != hostile {
		t.Errorf("the data say %q", data.Studies[0])
	}
	b := browser.Open(t) // a dialog of alert would be reported
	b.Page(page)
	b.Frame()
	if n := browser.Eval[int](b, `document.querySelectorAll("img, svg, script:not([src]):not(#data)").length`); n != 1 {
		t.Errorf("%d elements beside the page's own script", n-1)
	}
	if !strings.Contains(browser.Eval[string](b, `document.querySelector("h1").textContent`),
		"<script>alert(1)</script>") &&
		!strings.Contains(browser.Eval[string](b, `document.body.innerText`), "<script>alert(1)</script>") {
		t.Error("the value is not shown as it is")
	}
	b.Picture("hostile")
	b.Clean()
}

// The policy of the page protects it if all else fails: a script that it does not name does not run.
func TestThePolicyHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("s", definition, 20, 1)
	page := string(f.page(Options{Now: time.Now()}, "s"))
	page = strings.Replace(page, "</main>", `<script>window.broken = 1</script>
		<img src="data:," onerror="window.broken = 2">
		<link rel="stylesheet" href="http://127.0.0.1:1/x.css"></main>`, 1)
	b := browser.Open(t)
	b.Page([]byte(page))
	if browser.Eval[bool](b, `"broken" in window`) {
		t.Error("a script of somebody else has run")
	}
	if bad := b.Wrong(); len(bad) < 3 {
		t.Errorf("the browser refused only %q", bad)
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.js": "import { x, y as z } from \"./b.js\";\n" +
			"import {\n  w,\n} from \"./c.js\";\nexport function a() { return x + z + w; }\n",
		"b.js": "import { w } from \"./c.js\";\nexport const x = w;\nexport class y {}\n",
		"c.js": "export const w = 1;\n",
	}
	read := func(name string) ([]byte, error) { return []byte(files[name]), nil }
	got, err := link(read, "a.js")
	if err != nil || strings.Contains(got, "import") || strings.Contains(got, "export") ||
		strings.Index(got, "module_c =") > strings.Index(got, "module_b =") || strings.Count(got, "module_c = (") != 1 ||
		!strings.Contains(got, "const {x, y: z} = module_b;") || !strings.Contains(got, "return {x, y};") {
		t.Errorf("%v\n%s", err, got)
	}
	for name, text := range map[string]string{
		"each other": "import { a } from \"./a.js\";\nexport const w = 1;\n",
		"form":       "export default 1;\n",
		"elsewhere":  "import { a } from \"https://x/a.js\";\n",
	} {
		files["c.js"] = text
		if _, err := link(read, "a.js"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
