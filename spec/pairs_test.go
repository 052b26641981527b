package spec

import (
	"encoding/json"
	"strings"
	"testing"
)

const pairsStudy = "command: ['true', '{n}']\nparameters: {n: 1..9}\n"

// Each form of check is read, is written back, and equals the form of the flag.
func TestPairs(t *testing.T) {
	for text, want := range map[string]Pairs{
		"":                                  {},
		"check: auto\n":                     {},
		"check: none\n":                     {None: true},
		"check: 0\n":                        {None: true},
		"check: 6\n":                        {Runs: 6},
		"check: {share: 30%}\n":             {Share: 30},
		"check: {share: 12.5%, pairs: 4}\n": {Share: 12.5, Runs: 4},
		"check: {pairs: none}\n":            {None: true},
	} {
		s, _, err := Parse("f.yaml", []byte(pairsStudy+text), nil)
		if err != nil || s.Pairs != want {
			t.Errorf("%q: %+v, %v", text, s.Pairs, err)
			continue
		}
		if written, ok := s.YAML(); !ok || strings.Contains(written, "check") != (want != Pairs{}) {
			t.Errorf("%q is written %v as\n%s", text, ok, written)
		}
		if b, err := json.Marshal(s); err != nil || strings.Contains(string(b), "check") != (want != Pairs{}) {
			t.Errorf("%q is stored as %s, %v", text, b, err)
		}
	}
	for text, says := range map[string]string{
		"check: often\n":                "check.pairs: write auto, a number of pairs, or none, not \"often\"",
		"check: -1\n":                   "not \"-1\"",
		"check: 1.5\n":                  "not \"1.5\"",
		"check: {share: 90%}\n":         "from 1% to 80%",
		"check: {share: 20}\n":          "write per cent",
		"check: {runs: 5}\n":            "runs",
		"metrics: [x]\ncheck: {5: 6}\n": "check",
	} {
		if _, _, err := Parse("f.yaml", []byte(pairsStudy+text), nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	s := &Study{Pairs: Pairs{Share: 30}}
	for value, want := range map[string]Pairs{
		"7": {Runs: 7, Share: 30}, "none": {None: true, Share: 30}, "auto": {Share: 30},
	} {
		if err := s.Set("check.pairs", value); err != nil || s.Pairs != want {
			t.Errorf("--check %s: %+v, %v", value, s.Pairs, err)
		}
	}
}
