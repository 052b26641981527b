package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// Every test that the table names is there, and the page speaks of every promise.
func TestTable(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)
	for _, p := range promises {
		if !strings.Contains(string(page), "## "+p.id+". "+p.words) {
			t.Errorf("%s: the page lacks %s (make promises writes it)", p.id, p.words)
		}
		if p.control == "" || len(p.controls) == 0 && !strings.HasPrefix(p.control, "none: ") {
			t.Errorf("%s has no control, and no reason for that", p.id)
		}
		for _, c := range slices.Concat(p.checks, p.controls) {
			files, err := filepath.Glob(filepath.Join("..", "..", c.pkg, "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: no tests in %s: %v", p.id, c.pkg, err)
			}
			var names []string
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
					names = append(names, m[1])
				}
			}
			for _, one := range strings.Split(pattern(c.run), "|") {
				one, _, _ = strings.Cut(one, "/")
				e := regexp.MustCompile(one)
				found := false
				for _, n := range names {
					found = found || e.MatchString(n)
				}
				if !found {
					t.Errorf("%s: no test of %s matches %s", p.id, c.pkg, one)
				}
			}
		}
	}
}

// Every line that can be broken is there, once; each promise has one; and the tests that are to see it are tests of the
// promise.
func TestBreaches(t *testing.T) {
	broken := map[string]bool{}
	for i, b := range slices.Concat(breaches, otherBreaches) {
		broken[b.id] = true
		text, err := os.ReadFile(filepath.Join("..", "..", b.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), b.old); n != 1 || b.old == b.new {
			t.Errorf("%s: %s has %d times %q", b.id, b.file, n, b.old)
		}
		if i >= len(breaches) {
			continue
		}
		i := slices.IndexFunc(promises, func(p promise) bool { return p.id == b.id })
		if i < 0 || own(b.seen, promises[i].checks) != "" {
			t.Errorf("%s: %v are no tests of it", b.id, b.seen)
		}
	}
	for _, p := range promises {
		if !broken[p.id] {
			t.Errorf("%s: no line of its code is broken", p.id)
		}
	}
}

// A control that is one of the tests of its promise does not run twice.
func TestOwn(t *testing.T) {
	checks := []check{{"a", "TestA|TestKill"}, {"b", "TestScripts/one"}}
	for _, tt := range []struct{ pkg, run, want string }{
		{"a", "TestA", ""},
		{"a", "TestA$", ""},
		{"a", "TestAControl|TestA", "TestAControl"},
		{"b", "TestA", "TestA"},
		{"a", "TestKilled", ""},
		{"b", "TestScripts/one", ""},
		{"b", "TestScripts/two", "TestScripts/two"},
	} {
		if got := own(check{tt.pkg, tt.run}, checks); got != tt.want {
			t.Errorf("of %s in %s: %q, want %q", tt.run, tt.pkg, got, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	var r result
	r.read(strings.NewReader(`{"Action":"output","Test":"TestA","Output":"    a_test.go:7: cut 3\n"}
{"Action":"output","Test":"TestA","Output":"    a_test.go:9: counted: cuts 20, lost 0\n"}
{"Action":"pass","Test":"TestA/sub"}
{"Action":"pass","Test":"TestA"}
{"Action":"output","Test":"TestB","Output":"    b_test.go:9: 12 kills\n"}
{"Action":"fail","Test":"TestB"}
{"Action":"skip","Test":"TestC"}
{"Action":"pass"}
`))
	if got := r.String(); got != "1 passed, FAILED: TestB, skipped: TestC" || len(r.counts) != 1 ||
		r.counts[0] != "cuts 20, lost 0" {
		t.Errorf("%s; %q", got, r.counts)
	}
}

// The page has the counts of the long forms, of each promise the last.
func TestLongForms(t *testing.T) {
	testbed.Outside(t)
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(longFile), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"7 kills", "8 kills"} {
		if err := keepLong("P1", result{passed: 3, counts: []string{n}}); err != nil {
			t.Fatal(err)
		}
	}
	long, err := readLong()
	if err != nil {
		t.Fatal(err)
	}
	text := string(page(map[string]result{"P1": {passed: 1}}, long))
	if !strings.Contains(text, ": 3 passed\n    - 8 kills\n") || strings.Contains(text, "7 kills") {
		t.Errorf("the page is\n%.900s", text)
	}
}
