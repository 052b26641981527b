package result

import (
	"strings"
	"testing"

	"github.com/assay-run/assay/spec"
)

// The commands and files beside the command of a study are shown in the order of their use, with the placeholders as
// they are written, and a long text is cut.
func TestBeside(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"service: {start: [serve, '80{slot}', '{n}']}\ncleanup: [rm, 'a b']\nprepare: load $N\nverify: [check]\n" +
			"setup: [cc, '-O{n}', '{setup}/p']\nfiles: {a.conf: '{n}', b: x}\n": "setup cc '-O{n}' '{setup}/p', file a.conf, " +
			"file b, prepare load $N, service serve '80{slot}' '{n}', verify check, cleanup rm 'a b'",
		"prepare: |\n  one\n  " + strings.Repeat("é", 80) + "\n": "prepare one " + strings.Repeat("é", 56) + "...",
	} {
		s, _, err := spec.Parse("s.yaml", []byte("command: [c, '{n}']\nparameters: {n: 1..3}\n"+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := besideOf(s); got != want {
			t.Errorf("the study has\n%s, want\n%s", got, want)
		}
	}
}
