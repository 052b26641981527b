package prune

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

func TestMatch(t *testing.T) {
	space := must(assay.NewSpace([]assay.Param{
		{Name: "n", Kind: assay.Integer, Lo: 1, Hi: 10},
		{Name: "c", Kind: assay.Categorical, Levels: []string{"p", "q"}},
	}))
	base := func() Study {
		return Study{Name: "old", Goal: testGoal, Params: []assay.Param{
			{Name: "c", Kind: assay.Categorical, Levels: []string{"z", "q", "p"}},
			{Name: "n", Kind: assay.Integer, Lo: 5, Hi: 20},
		}, Trials: []assay.Trial{
			{Proposal: assay.Proposal{Config: assay.Config{1, 6}}, State: assay.Done, Value: 2},
			{Proposal: assay.Proposal{Config: assay.Config{2, 7}}, State: assay.Done, Value: 3},
			{Proposal: assay.Proposal{Config: assay.Config{0, 7}}, State: assay.Done, Value: 1},  // z is not here
			{Proposal: assay.Proposal{Config: assay.Config{2, 15}}, State: assay.Done, Value: 1}, // nor is 15
		}}
	}
	for _, tc := range []struct {
		name string
		edit func(*Study)
		want string // "" if it serves
	}{
		{"other order and ranges", func(*Study) {}, ""},
		{"other objective", func(s *Study) { s.Goal.Metric = "energy" }, "its objective is energy"},
		{"other direction", func(s *Study) { s.Goal.Maximize = true }, "maximized"},
		{"other unit", func(s *Study) { s.Goal.Unit = "ms" }, `"ms"`},
		{"missing parameter", func(s *Study) { s.Params[0].Name = "d" }, "no parameter c"},
		{"other kind", func(s *Study) { s.Params[1].Kind = assay.Real }, "n is real, not int"},
		{"one more parameter", func(s *Study) {
			s.Params = append(s.Params,
				assay.Param{Name: "x", Kind: assay.Real, Hi: 1})
		}, "another parameter, x"},
		{"no trials", func(s *Study) { s.Trials = nil }, "no trials"},
		{"one trial", func(s *Study) { s.Trials = s.Trials[:1] }, "1 finished trial"},
		{"nothing in common", func(s *Study) { s.Trials = s.Trials[2:] }, "within the ranges"},
		{"failures only", func(s *Study) {
			for i := range s.Trials {
				s.Trials[i].State, s.Trials[i].Value = assay.Failed, math.Inf(1)
			}
		}, "none of its 4 trials"},
		{"constant", func(s *Study) { s.Trials[1].Value = 2 }, "all equal"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := base()
			tc.edit(&s)
			err := Match(space, testGoal, s)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if k := NewKnowledge(space, testGoal, []Study{s}); len(k.refused) != min(1, len(tc.want)) ||
				len(k.Studies()) != 1-min(1, len(tc.want)) {
				t.Errorf("refused %v, studies %q", k.refused, k.Studies())
			}
		})
	}
	src, err := newSource(space, testGoal, base())
	if err != nil {
		t.Fatal(err)
	}
	if len(src.trials) != 2 || !src.trials[0].Config.Equal(assay.Config{6, 1}) ||
		!src.trials[1].Config.Equal(assay.Config{7, 0}) {
		t.Errorf("translated trials %v", src.trials)
	}
}

// The correlation is 1 for another scale of the same shape, -1 for its mirror
// image, and undefined for equal outcomes and fewer than three points.
// Reference: section 3.4, and the remark on sd = 0 in docs/papers.md.
func TestRank(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return math.Exp(0.1 * (c[0] + 2*c[1])) }
	k := NewKnowledge(space, testGoal, []Study{
		earlier("unlike", space, 3000, 1, func(c assay.Config) float64 { return 1 / f(c) }),
		earlier("like", space, 3000, 2, func(c assay.Config) float64 { return 7 * f(c) }),
		earlier("constant", space, 50, 3, func(assay.Config) float64 { return 1 }),
	})
	running := earlier("", space, 30, 4, f).Trials
	got := Rank(k, running)
	if len(got) != 3 || got[0].Study != "like" || !(math.Abs(got[0].Correlation-1) <= 1e-9) ||
		got[1].Study != "unlike" || !(math.Abs(got[1].Correlation+1) <= 1e-9) || got[2].Err == nil {
		t.Errorf("ranking %+v", got)
	}
	if got[0].Points != 30 {
		t.Errorf("%d points, want 30", got[0].Points)
	}
	for _, few := range [][]assay.Trial{nil, running[:2]} {
		if r := Rank(k, few); !math.IsNaN(r[0].Correlation) {
			t.Errorf("correlation %v of %d points", r[0].Correlation, len(few))
		}
	}
	for i := range running {
		running[i].Value = 3
	}
	if r := Rank(k, running); !math.IsNaN(r[0].Correlation) {
		t.Errorf("correlation %v of equal outcomes", r[0].Correlation)
	}
}

func TestFingerprint(t *testing.T) {
	space := grid()
	f := func(c assay.Config) float64 { return 1 + c[0] + c[1] }
	a, err := Fingerprint(earlier("a", space, 3000, 1, f))
	if err != nil || len(a) != FingerprintPoints {
		t.Fatal(len(a), err)
	}
	b, _ := Fingerprint(earlier("b", space, 3000, 2, f))
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 0.5) {
			t.Errorf("point %d is %v in one and %v in the other", i, a[i], b[i])
		}
	}
	if _, err := Fingerprint(Study{Name: "x", Params: space.Params}); err == nil {
		t.Error("no error for a study without trials")
	}
}
