package jobpruner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// For each method the first variant is that without knowledge, of which an alpha of 0
// and a base of no studies are other names.
func TestVariants(t *testing.T) {
	vs, err := Choices{
		Methods: []string{"pso", "sa"}, Alpha: []string{"0", "0.6", "auto"}, KB: []string{"0", "5", "all"},
		Use: []string{"none", "first", "prior", "transfer"},
	}.Variants()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range vs {
		got = append(got, fmt.Sprintf("%s %s alpha=%s(%v) kb=%s(%d)", v.Method, v.Use, v.Alpha, v.alpha, v.KB, v.kb))
	}
	var want []string
	for _, m := range []string{"pso", "sa"} {
		for _, v := range []string{
			"none alpha=(0) kb=0(0)", "prune alpha=0.6(0.6) kb=all(-1)", "prune alpha=auto(0) kb=all(-1)",
			"prune alpha=auto(0) kb=5(5)", "first alpha=(0) kb=all(-1)", "prior alpha=auto(0) kb=all(-1)",
			"transfer alpha=(0) kb=all(-1)",
		} {
			want = append(want, m+" "+v)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for want, c := range map[string]Choices{
		"alpha 1: not a number from 0": {Alpha: []string{"1"}},
		"alpha x: not a number from 0": {Alpha: []string{"x"}},
		"alpha NaN:":                   {Alpha: []string{"NaN"}},
		"kb -1: not a number of":       {KB: []string{"-1"}},
		"kb many: not a number of":     {KB: []string{"many"}},
		"use x: none of first, prior":  {Use: []string{"x"}},
	} {
		c.Methods = []string{"pso"}
		if _, err := c.Variants(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}

// Each rule and each surrogate has its own variants, of both tables.
func TestVariantsOfRules(t *testing.T) {
	c := Choices{
		Methods: []string{"pso"}, Alpha: []string{"0", "0.6"}, KB: []string{"5"},
		Rules: []string{"guarded", "published"}, Surrogates: []string{"knn", "cubic"},
	}
	vs, err := c.Variants()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range vs {
		got = append(got, fmt.Sprint(v.Use, " ", v.Surrogate, "=", v.surrogate, " ", v.Alpha, " ", v.KB))
	}
	want := []string{"none =none  0"}
	for _, use := range []string{"prune", "published"} {
		for _, s := range []string{"knn", "cubic"} {
			want = append(want, use+" "+s+"="+s+" 0.6 all", use+" "+s+"="+s+" auto 5")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for want, c := range map[string]Choices{
		"rule printed: neither guarded":       {Rules: []string{"printed"}},
		`surrogate "forest" is not one of kn`: {Surrogates: []string{"forest"}},
	} {
		c.Methods = []string{"pso"}
		if _, err := c.Variants(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}

// A variant of n studies knows n of them, drawn by the seed; one of more than there are
// knows all.
func TestKnown(t *testing.T) {
	var b strings.Builder
	b.WriteString("machine,x,y,t,p,ok\n")
	for m := range 9 {
		for x := range 4 {
			fmt.Fprintf(&b, "m%d,%d,0,%d,1,yes\n", m, x, 1+x)
		}
	}
	d := mustOpen(t, sourceOf(t, b.String()))
	all := d.knowledge(d.subjects[0])
	draws := map[string]bool{}
	for seed := range uint64(10) {
		got := Variant{kb: 3}.known(all, seed).Studies()
		again := Variant{kb: 3}.known(all, seed).Studies()
		if len(got) != 3 || !slices.Equal(got, again) || slices.Contains(got, "m0") {
			t.Errorf("seed %d knows %v, then %v", seed, got, again)
		}
		slices.Sort(got)
		draws[strings.Join(got, " ")] = true
	}
	if len(draws) < 5 {
		t.Errorf("ten seeds know %v", draws)
	}
	for _, kb := range []int{-1, 8, 100} {
		if got := (Variant{kb: kb}).known(all, 1).Studies(); len(got) != 8 {
			t.Errorf("%d studies are %v", kb, got)
		}
	}
}

// hinted is a searcher that gets a hint.
type hinted struct {
	assay.Searcher
	assay.Narrower
	hint func(assay.Config) float64
}

func (h *hinted) Hint(f func(assay.Config) float64) { h.hint = f }

// Transfer and prior hint at the values of the other studies, the rest do not.
func TestBuildHints(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	sub := d.subjects[0]
	for use, want := range map[string]bool{
		"none": false, "prune": false, "published": false, "first": false, "transfer": true, "prior": true,
	} {
		var inner *hinted
		o := Options{Searcher: func(_ string, space *assay.Space, seed uint64) (assay.Searcher, error) {
			s := search.NewRandom(space, seed)
			inner = &hinted{Searcher: s, Narrower: s}
			return inner, nil
		}}
		if _, _, err := o.build(Variant{Use: use, kb: -1}, sub.space, d.knowledge(sub), 1); err != nil {
			t.Fatal(err)
		}
		if got := inner.hint != nil; got != want {
			t.Errorf("%s hints: %v", use, got)
		}
	}
}

// fixed is a searcher that cannot be narrowed.
type fixed struct{ assay.Searcher }

func TestBuild(t *testing.T) {
	d := mustOpen(t, sourceOf(t, bowls()))
	sub := d.subjects[0]
	k := d.knowledge(sub)
	var asked []string
	o := Options{Searcher: func(name string, space *assay.Space, seed uint64) (assay.Searcher, error) {
		asked = append(asked, fmt.Sprintf("%s %d %v", name, seed, space == sub.space))
		if name == "none" {
			return nil, errors.New("no such searcher")
		}
		s := assay.Searcher(search.NewRandom(space, seed))
		if name == "fixed" {
			s = fixed{s}
		}
		return s, nil
	}}
	for _, use := range []string{"none", "prune", "first", "transfer", "prior", "published"} {
		s, pruner, err := o.build(Variant{Method: "random", Use: use, kb: -1}, sub.space, k, 7)
		if err != nil || s == nil || (pruner != nil) != (use == "prune" || use == "prior" || use == "published") {
			t.Errorf("%s: %v, pruner %v, %v", use, s, pruner, err)
		}
		_, _, err = o.build(Variant{Method: "fixed", Use: use, kb: -1}, sub.space, k, 7)
		prunes := use == "prune" || use == "prior" || use == "published"
		if (err != nil) != prunes || prunes && assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s of a searcher that cannot be narrowed: %v", use, err)
		}
	}
	if len(asked) != 12 || asked[0] != "random 7 true" {
		t.Errorf("asked for %v", asked)
	}
	if _, _, err := o.build(Variant{Method: "none"}, sub.space, k, 7); err == nil || err.Error() != "no such searcher" {
		t.Errorf("got %v", err)
	}
}
