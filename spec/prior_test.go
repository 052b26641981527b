package spec

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestPriorKey(t *testing.T) {
	const head = "command: [run, \"{n}\"]\nparameters: {n: 1..9}\n"
	for _, tc := range []struct {
		text string
		want Prior
		flaw string
	}{
		{"prior: auto", Prior{Auto: true}, ""},
		{"prior: none", Prior{None: true}, ""},
		{"prior: [a, b]", Prior{Studies: []string{"a", "b"}}, ""},
		{"prior: a,b", Prior{Studies: []string{"a", "b"}}, ""},
		{
			"prior: {use: auto, alpha: 0.8, threshold: 0.6, keep: [n=3]}",
			Prior{Auto: true, Alpha: 0.8, Threshold: 0.6, Keep: []string{"n=3"}},
			"",
		},
		{
			"prior: {use: [a], rule: published, surrogate: cubic}",
			Prior{Studies: []string{"a"}, Rule: "published", Surrogate: "cubic"},
			"",
		},
		{"prior: {use: auto, rule: guarded, surrogate: knn}", Prior{Auto: true, Rule: "guarded", Surrogate: "knn"}, ""},
		{"prior: {use: auto, rule: printed}", Prior{}, `s.yaml:3:26: prior.rule: "printed" is not one of guarded, published`},
		{"prior: {use: auto, rule: publishd}", Prior{}, "(did you mean published?)"},
		{
			"prior: {use: auto, surrogate: forest}",
			Prior{},
			`s.yaml:3:31: prior.surrogate: "forest" is not one of knn, linear, cubic, spline`,
		},
		{"prior: a,a", Prior{}, "neither auto, none nor"},
		{"prior: {use: auto, alpha: 1}", Prior{}, "between 0 and 1"},
		{"prior: {use: auto, keep: [m=3]}", Prior{}, `no parameter "m"`},
		{"prior: {use: auto, keep: [n=30]}", Prior{}, "not in 1..9"},
		{"prior: {use: auto, keep: [n]}", Prior{}, "NAME=VALUE"},
		{"prior: {when: auto}", Prior{}, "unknown key"},
	} {
		s, _, err := Parse("s.yaml", []byte(head+tc.text+"\n"), nil)
		if tc.flaw != "" {
			if err == nil || !strings.Contains(err.Error(), tc.flaw) {
				t.Errorf("%s: error %v, want %q", tc.text, err, tc.flaw)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if a, b := show(s.Prior), show(tc.want); a != b {
			t.Errorf("%s: %s, want %s", tc.text, a, b)
		}
	}
}

// The found studies are no part of the identity of a study; the prior that was asked for is.
func TestPriorIdentity(t *testing.T) {
	s := &Study{Command: []string{"run"}, Params: []Param{{Name: "n", Type: "int", Min: 1, Max: 9}}}
	plain := s.Identity()
	r := *s
	r.Prior.Resolved = []PriorStudy{{Name: "a", Trials: 3, Digest: "x"}}
	if r.Identity() != plain {
		t.Error("the studies that were found change the identity")
	}
	if r.Prior.None = true; r.Identity() != plain || len(s.Diff(&r)) > 0 {
		t.Error("to leave out all earlier studies changes the identity")
	}
	r.Prior.Auto = true
	if r.Identity() == plain || len(s.Diff(&r)) != 1 {
		t.Errorf("asking for earlier studies does not change the identity: %q", s.Diff(&r))
	}
	r.Version = Version
	b, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(b)
	if err != nil || !slices.Equal(back.Prior.Resolved, r.Prior.Resolved) {
		t.Errorf("stored as %s, read as %+v, %v", b, back, err)
	}
}
