package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/prune"
	"github.com/assay-run/assay/stats"
)

// maxPriors is how many earlier studies serve one study: those that stand for all
// others best, where there are more.
const maxPriors = 40

// resolvePriors finds the earlier studies that a new study asks for and fixes them
// in it, so that its search can be repeated when they have grown. What helps, and
// what cannot and why, is returned in words; the study goes on without.
func resolvePriors(ctx context.Context, h *storeHandle, p *problem) (notes []string, err error) {
	prior := &p.study.Prior
	prior.Resolved = nil
	if !prior.On() {
		return nil, nil
	}
	kb, err := openKnowledge(ctx, h)
	if err != nil {
		return nil, err
	}
	p.known = kb
	names := prior.Studies
	if prior.Auto {
		names = kb.candidates(p)
	}
	var refused []string
	for _, name := range names {
		if kb.known[name] == nil {
			return nil, usagef("%s--prior %s: no such study (see assay study ls)", place(p.study, "prior"), name)
		}
		if why := kb.known[name].Flaw; why != "" {
			refused = append(refused, fmt.Sprintf("study %q: %s", name, why))
			continue
		}
		s, digest, err := kb.study(ctx, name, -1)
		if err != nil {
			return nil, err
		}
		if err := prune.Match(p.space, p.goal, s); err != nil {
			refused = append(refused, fmt.Sprintf("study %q: %s", name, forPeople(err)))
			continue
		}
		prior.Resolved = append(prior.Resolved, config.PriorStudy{Name: name, Trials: len(s.Trials), Digest: digest})
	}
	return sayPriors(prior, refused), nil
}

// recallPriors puts the earlier studies that a study began with in the place of
// those that serve now.
func recallPriors(ctx context.Context, h *storeHandle, p *problem, name string) error {
	old, err := stored(ctx, h, name)
	if err == nil {
		p.study.Prior.Resolved = old.Prior.Resolved
	}
	return err
}

// sayPriors says which studies serve and which of those asked for do not.
func sayPriors(prior *config.Prior, refused []string) (notes []string) {
	if prior.Auto {
		refused = refused[:min(len(refused), 3)]
	}
	for _, why := range refused {
		notes = append(notes, "not used: "+why)
	}
	switch n := len(prior.Resolved); n {
	case 0:
		return append(notes, "no earlier study serves; the search begins without")
	case 1:
		return append(notes, fmt.Sprintf("study %q helps", prior.Resolved[0].Name))
	default:
		return append(notes, fmt.Sprintf("%d earlier studies help", n))
	}
}

// candidates returns the names of the studies that auto takes: those with the same
// parameters by name and kind and the same objective, of the same program or of a
// table.
func (kb *knowledgeBase) candidates(p *problem) []string {
	program := programOf(p.study)
	var fit []*knownStudy
	for _, name := range slices.Sorted(maps.Keys(kb.known)) {
		k := kb.known[name]
		same := k.Flaw == "" && k.Metric == p.goal.Metric && k.Maximize == p.goal.Maximize && k.Unit == p.goal.Unit &&
			len(k.Params) == len(p.space.Params) && (program == "" || k.Program == "" || k.Program == program)
		for _, q := range p.space.Params {
			same = same && slices.ContainsFunc(k.Params, func(o assay.Param) bool { return o.Name == q.Name && o.Kind == q.Kind })
		}
		if same {
			fit = append(fit, k)
		}
	}
	return representatives(fit, maxPriors)
}

// representatives returns the names of at most n studies, chosen one by one such
// that the mean over all studies of the correlation of the fingerprints with the
// nearest chosen one grows most; those with most trials among equals. Studies with
// other ranges have fingerprints at other points and are like nothing but
// themselves. Cost: n times the square of their number.
func representatives(all []*knownStudy, n int) []string {
	var names []string
	if len(all) <= n {
		for _, k := range all {
			names = append(names, k.Name)
		}
		return names
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *knownStudy) int { return cmp.Compare(b.Told, a.Told) })
	unit := make([][]float32, len(all))
	for i, k := range all {
		unit[i] = standardized(k.Print)
	}
	alike := make([][]float32, len(all))
	for i := range all {
		alike[i] = make([]float32, len(all))
		for j := range i {
			if sameParams(all[i].Params, all[j].Params) {
				alike[i][j] = dot(unit[i], unit[j])
				alike[j][i] = alike[i][j]
			}
		}
		alike[i][i] = 1
	}
	nearest, chosen := make([]float32, len(all)), make([]bool, len(all))
	// A gain never grows while others are chosen: bound[i] is that of i when it was
	// computed last.
	bound := slices.Repeat([]float32{math.MaxFloat32}, len(all))
	for range n {
		at, most := -1, float32(-1)
		for i := range all {
			if chosen[i] || bound[i] <= most {
				continue
			}
			var gain float32
			for j, r := range alike[i] {
				if r > nearest[j] {
					gain += r - nearest[j]
				}
			}
			if bound[i] = gain; gain > most {
				at, most = i, gain
			}
		}
		chosen[at] = true
		names = append(names, all[at].Name)
		for j := range all {
			nearest[j] = max(nearest[j], alike[at][j])
		}
	}
	return names
}

// standardized returns x with mean 0 and length 1; nil if it is constant.
func standardized(x []float32) []float32 {
	var mean, square float64
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		square += (float64(v) - mean) * (float64(v) - mean)
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return nil
	}
	u := make([]float32, len(x))
	for i, v := range x {
		u[i] = float32((float64(v) - mean) / math.Sqrt(square))
	}
	return u
}

func dot(a, b []float32) (sum float32) {
	if len(a) != len(b) {
		return 0
	}
	b = b[:len(a)]
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// sameParams reports whether fingerprints of studies of these parameters are at the
// same points.
func sameParams(a, b []assay.Param) bool {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return true
	}
	return slices.EqualFunc(a, b, func(p, q assay.Param) bool {
		return p.Name == q.Name && p.Kind == q.Kind && p.Lo == q.Lo && p.Hi == q.Hi && p.Step == q.Step && p.Log == q.Log && slices.Equal(p.Levels, q.Levels)
	})
}

// printCorrelation estimates how alike two studies are; NaN if they have other
// parameters.
func printCorrelation(a, b *knownStudy) float64 {
	if !sameParams(a.Params, b.Params) || len(a.Print) == 0 || len(a.Print) != len(b.Print) {
		return math.NaN()
	}
	x, y := make([]float64, len(a.Print)), make([]float64, len(a.Print))
	for i := range x {
		x[i], y[i] = float64(a.Print[i]), float64(b.Print[i])
	}
	return stats.CrossCorrelation(x, y)
}

// priorSearcher returns the searcher of a study with the earlier studies that are
// fixed in it, and what lists the cuts, nil if there are none.
func priorSearcher(ctx context.Context, warn io.Writer, h *storeHandle, p *problem) (assay.Searcher, func() []assay.Cut, error) {
	prior := p.study.Prior
	if len(prior.Resolved) == 0 {
		s, err := newSearcher(p.study, p.space, p.first)
		return s, nil, err
	}
	kb := p.known
	if kb == nil {
		var err error
		if kb, err = openKnowledge(ctx, h); err != nil {
			return nil, nil, err
		}
	}
	var studies []prune.Study
	for _, r := range prior.Resolved {
		s, digest, err := kb.study(ctx, r.Name, r.Trials)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, usagef("the search of this study was helped by study %q, which is gone: it cannot be resumed", r.Name)
		}
		if err != nil {
			return nil, nil, err
		}
		if digest != r.Digest {
			return nil, nil, usagef("the search of this study was helped by study %q, which is another one now: it cannot be resumed", r.Name)
		}
		studies = append(studies, s)
	}
	k := prune.NewKnowledge(p.space, p.goal, studies)
	var cuts func() []assay.Cut
	s, err := newSearcherAround(p.study, p.space, p.first, func(inner assay.Searcher) (assay.Searcher, error) {
		k.Hint(inner)
		if _, ok := assay.As[assay.Narrower](inner); ok {
			opts := prune.Options{Alpha: prior.Alpha, Threshold: prior.Threshold}
			for _, text := range prior.Keep {
				name, value, _ := strings.Cut(text, "=")
				opts.Keep = append(opts.Keep, prune.Kept{Param: name, Value: value})
			}
			pruner, err := prune.New(inner, k, opts)
			if err != nil {
				return nil, usageError(err)
			}
			inner, cuts = pruner, pruner.Cuts
		} else {
			fmt.Fprintf(warn, "note: the searcher %s cannot leave out values: earlier studies propose configurations, but nothing is pruned\n", cmp.Or(p.study.Search.Name, "auto"))
		}
		return prune.NewTransfer(inner, k, prune.TransferOptions{Seed: p.study.Search.Seed}), nil
	})
	return s, cuts, err
}

// rememberStudy brings the knowledge base up to a study that has grown. That it
// fails costs time later, and nothing else.
func rememberStudy(ctx context.Context, h *storeHandle) {
	if h.path != "" {
		_, _ = openKnowledge(context.WithoutCancel(ctx), h)
	}
}

// applyPrior puts the flags of earlier studies over st.
func (f *tuneFlags) applyPrior(given func(string) bool, st *config.Study) error {
	if given("prior") {
		auto, studies, ok := config.ParsePrior(f.prior)
		if !ok {
			return usagef("--prior %s: neither auto, none nor different names with commas", f.prior)
		}
		st.Prior.Auto, st.Prior.Studies = auto, studies
	}
	if given("alpha") {
		if f.alpha != "auto" {
			if _, err := fmt.Sscanf(f.alpha, "%g", &st.Prior.Alpha); err != nil || !(st.Prior.Alpha > 0 && st.Prior.Alpha < 1) {
				return usagef("--alpha %s: neither a number between 0 and 1 nor auto", f.alpha)
			}
		} else {
			st.Prior.Alpha = 0
		}
	}
	st.Prior.Keep = append(st.Prior.Keep, f.keep...)
	return nil
}
