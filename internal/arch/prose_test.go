package arch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrases are the habits of prose that CONTRIBUTING.md asks to avoid, each with a pattern. A use as a question does not
// count: sentences that end in a question mark are left out.
var phrases = map[string]*regexp.Regexp{
	"what":                      regexp.MustCompile(`(?i)\bwhat(ever)?\b`),
	"that of, those of":         regexp.MustCompile(`(?i)\b(that|those) of\b`),
	"say, tell, hear":           regexp.MustCompile(`(?i)\b(say(s|ing)?|said|tell(s|ing)?|told|hears?|heard)\b`),
	"somebody, nobody, whoever": regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|whomever)\b`),
	"come to, so many, is none": regexp.MustCompile(`(?i)\b(comes? to|came to|so many|so long|is none)\b`),
	"sentence with Of or Where": regexp.MustCompile(`(?m)(^|[.:] )(Of|Where|Whoever|What) [a-z]`),
}

// prose is text of one kind: Go comments, Go string literals, documents, templates of pages.
type prose struct {
	words  int
	counts map[string]int
}

var (
	word     = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	question = regexp.MustCompile(`[^.!?\n]*\?`)
	fenced   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	tags     = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<[^>]*>|\{\{.*?\}\}`)
)

func (p *prose) add(text string) {
	text = question.ReplaceAllString(text, "")
	p.words += len(word.FindAllStringIndex(text, -1))
	for name, re := range phrases {
		p.counts[name] += len(re.FindAllStringIndex(text, -1))
	}
}

// per returns the uses of a phrase per 1,000 words.
func (p *prose) per(name string) float64 {
	return float64(p.counts[name]) * 1000 / float64(max(p.words, 1))
}

// TestProse holds the phrases of all kinds of text below the ceilings of testdata/prose.json, which may only fall.
// UPDATE_PROSE=1 lowers them to the counts of now. CONTRIBUTING.md has the rules of style.
func TestProse(t *testing.T) {
	kinds := map[string]*prose{}
	for _, k := range []string{"comments", "strings", "documents", "templates"} {
		kinds[k] = &prose{counts: map[string]int{}}
	}
	files(t, func(path string) {
		rel := strings.TrimPrefix(path, "../../")
		if strings.HasPrefix(rel, ".") || strings.HasPrefix(rel, "docs/reference/") {
			return
		}
		if err := count(kinds, path); err != nil {
			t.Fatal(err)
		}
	})
	const ceilings = "testdata/prose.json"
	var most map[string]map[string]float64
	if b, err := os.ReadFile(ceilings); err == nil {
		if err := json.Unmarshal(b, &most); err != nil {
			t.Fatal(err)
		}
	}
	now := map[string]map[string]float64{}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		p := kinds[kind]
		now[kind] = map[string]float64{}
		t.Logf("%s: %d words", kind, p.words)
		for _, name := range slices.Sorted(maps.Keys(phrases)) {
			rate, _ := strconv.ParseFloat(fmt.Sprintf("%.2f", p.per(name)+0.005), 64)
			ceiling, ok := most[kind][name]
			t.Logf("%s: %-28s %6.2f per 1,000 words, at most %.2f", kind, name, p.per(name), ceiling)
			if ok && p.per(name) > ceiling {
				t.Errorf("%s: %q %.2f times per 1,000 words, at most %.2f: see Style in CONTRIBUTING.md", kind, name, p.per(name),
					ceiling)
			}
			if ok {
				rate = min(rate, ceiling)
			}
			now[kind][name] = rate
		}
	}
	if os.Getenv("UPDATE_PROSE") != "" {
		b, err := json.MarshalIndent(now, "", "  ")
		if err == nil {
			err = os.WriteFile(ceilings, append(b, '\n'), 0o644) //nolint:gosec // for all to read
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// count adds the text of a file to its kind. Tests are not counted: their strings are data.
func count(kinds map[string]*prose, path string) error {
	switch filepath.Ext(path) {
	case ".md":
		b, err := os.ReadFile(path)
		kinds["documents"].add(string(fenced.ReplaceAll(b, nil)))
		return err
	case ".html", ".tmpl":
		b, err := os.ReadFile(path)
		kinds["templates"].add(string(tags.ReplaceAll(b, []byte(" "))))
		return err
	case ".go":
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
	default:
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	var comments bytes.Buffer
	for _, g := range file.Comments {
		comments.WriteString(g.Text() + "\n")
	}
	kinds["comments"].add(comments.String())
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
				kinds["strings"].add(text)
			}
		}
		return true
	})
	return nil
}
