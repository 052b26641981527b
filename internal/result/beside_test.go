package result

import (
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// What a command needs beside it is said with the values of its configuration, in the order in which
// it is done; what the study says has the placeholders.
func TestBeside(t *testing.T) {
	parsed := func(text string) *spec.Study {
		s, _, err := spec.Parse("s.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tt := range []struct{ text, run, study string }{
		{"", "", ""},
		{
			"service: {start: [serve, '80{slot}', '{n}']}\ncleanup: [rm, 'a b']\nprepare: load $N\nverify: [check]\n" +
				"setup: [cc, '-O{n}', '{setup}/p']\nfiles: {a.conf: '{n}', b: x}\n",
			"setup cc -O2 '{setup}/p', file a.conf, file b, prepare load $N, service serve 801 2, verify check, cleanup rm 'a b'",
			"setup cc '-O{n}' '{setup}/p', file a.conf, file b, prepare load $N, service serve '80{slot}' '{n}', " +
				"verify check, cleanup rm 'a b'",
		},
		{
			"prepare: |\n  one\n  " + strings.Repeat("é", 80) + "\n",
			"prepare one " + strings.Repeat("é", 56) + "...", "prepare one " + strings.Repeat("é", 56) + "...",
		},
	} {
		s := parsed("command: [c, '{n}']\nparameters: {n: 1..3}\n" + tt.text)
		p, err := s.Program()
		if err != nil {
			t.Fatal(err)
		}
		if got := Beside(p, assay.Config{2}); got != tt.run {
			t.Errorf("a run has\n%s, want\n%s", got, tt.run)
		}
		if got := besideOf(s); got != tt.study {
			t.Errorf("the study has\n%s, want\n%s", got, tt.study)
		}
	}
}
