package prior

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

func everybody(string) bool { return true }

// A study that is like the others loses values in which its own later trials were bad, and keeps its
// best; the record of the others is not changed by looking.
func TestPruned(t *testing.T) {
	r := newRecord()
	def := define(t, "")
	put(t, r, "earlier", def, 60, hill)
	put(t, r, "like", def, 60, func(x float64) float64 { return 3 * hill(x) })
	put(t, r, "unlike", def, 60, valley)
	put(t, r, "short", def, 4, hill)
	kb := open(t, r, "")
	out, err := kb.Pruned(t.Context(), "like", 12, everybody)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Cuts) == 0 || out.Cuts[0].Study != "earlier" || out.Cuts[0].Param != "n" {
		t.Fatalf("cuts %+v, want values of n by earlier", out.Cuts)
	}
	if !(out.Left > 0.05 && out.Left < 0.95) {
		t.Errorf("%v of the space is left", out.Left)
	}
	if out.Later != 48 || out.Outside == 0 || out.Outside >= out.Later {
		t.Errorf("%d of %d later trials are outside, want some of 48", out.Outside, out.Later)
	}
	if out.Loss == nil || *out.Loss != 0 || *out.Best != *out.BestLeft {
		t.Errorf("loss %v, best %v, best left %v: the best is what earlier studies know", out.Loss, out.Best, out.BestLeft)
	}
	if out.After != 12 || len(out.Helpers) != 3 {
		t.Errorf("after %d trials, helped by %+v", out.After, out.Helpers)
	}
	var b strings.Builder
	if err := out.Write(&b, report.Palette{}); err != nil || !strings.Contains(b.String(), "is in the remaining space") {
		t.Errorf("%v: %s", err, b.String())
	}

	unlike, err := kb.Pruned(t.Context(), "unlike", 12, everybody)
	if err != nil || len(unlike.Cuts) != 0 || unlike.Left != 1 || unlike.Outside != 0 {
		t.Errorf("a study like no other: %+v, %v", unlike, err)
	}
	// A study that the caller may not see helps no other.
	alone, err := kb.Pruned(t.Context(), "like", 12, func(name string) bool { return name == "like" })
	if err != nil || len(alone.Helpers) != 0 || len(alone.Cuts) != 0 {
		t.Errorf("with no other study to be seen: %+v, %v", alone, err)
	}
	if _, err := kb.Pruned(t.Context(), "none", 0, everybody); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such study: %v", err)
	}
}

// A wrong removal is seen afterwards as a loss: the study turns after the trials that it is compared by.
func TestPrunedRisk(t *testing.T) {
	r := newRecord()
	def := define(t, "")
	put(t, r, "earlier", def, 80, hill)
	put(t, r, "turns", def, 12, hill)
	put(t, r, "turns", def, 60, func(x float64) float64 { return 9 - x/10 })
	out, err := open(t, r, "").Pruned(t.Context(), "turns", 12, everybody)
	if err != nil {
		t.Fatal(err)
	}
	if out.Outside == 0 || out.BestLeft != nil && !(*out.Loss > 0) {
		t.Errorf("%d of %d outside, best %v, of what is left %v, loss %v: a loss is wanted",
			out.Outside, out.Later, *out.Best, out.BestLeft, out.Loss)
	}
	if risk := strings.Join(out.Risk(), "; "); !strings.Contains(risk, "worse") && !strings.Contains(risk, "no trial") {
		t.Errorf("risk: %s", risk)
	}
}

// Families are of one space and one goal; those that are alike stand beside each other.
func TestFamilies(t *testing.T) {
	r := newRecord()
	def := define(t, "")
	put(t, r, "a", def, 60, hill)
	put(t, r, "b", def, 50, valley)
	put(t, r, "c", def, 40, hill)
	put(t, r, "hidden", def, 40, hill)
	put(t, r, "other", define(t, "objective: {maximize: score}\nmetrics: {score: 'stdout:/(.*)/'}\n"), 30, hill)
	put(t, r, "empty", def, 0, hill)
	families, apart := open(t, r, "").Families(func(name string) bool { return name != "hidden" })
	if len(families) != 2 || len(families[0].Studies) != 3 || families[1].Studies[0].Study != "other" {
		t.Fatalf("families %+v", families)
	}
	f := families[0]
	if f.Studies[0].Study != "a" || f.Studies[1].Study != "c" || f.Studies[2].Study != "b" {
		t.Errorf("order %+v, want a, then c which is like it", f.Studies)
	}
	if r := *f.Correlation[0][1]; !(r > 0.9) || *f.Correlation[1][0] != r {
		t.Errorf("a and c are alike: %v", r)
	}
	if r := *f.Correlation[0][2]; !(r < 0) {
		t.Errorf("a and b are not alike: %v", r)
	}
	if *f.Correlation[0][0] < 0.999 || f.Metric != "elapsed" || len(f.Params) != 2 {
		t.Errorf("%+v", f)
	}
	if len(apart) != 1 || apart[0].Study != "empty" || apart[0].Reason == "" {
		t.Errorf("apart %+v", apart)
	}
}

var _ assay.Searcher = bystander{}
