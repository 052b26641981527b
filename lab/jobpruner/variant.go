package jobpruner

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/search"
)

// A Variant is one way to use the knowledge base.
type Variant struct {
	Method string `json:"method"` // name of the searcher
	// Use is "none", "prune", "published", "first", "transfer" or "prior".
	Use   string `json:"use"`
	Alpha string `json:"alpha"` // of prune, published and prior; "" otherwise
	KB    string `json:"kb"`    // a number of studies, or "all"
	// Surrogate is the surrogate of both studies; "" for the default of the rule.
	Surrogate string  `json:"surrogate,omitempty"`
	alpha     float64 // 0 for automatic
	kb        int     // -1 for all
	surrogate prune.Surrogate
}

// prunes reports whether the variant does nothing but leave out values, by either rule.
func (v Variant) prunes() bool { return v.Use == "prune" || v.Use == "published" }

// Choices are the lists that variants are combined from, as the flags of
// `assay-lab jobpruner` have them.
type Choices struct {
	Methods []string // names of searchers
	Alpha   []string // aggressiveness of the pruning, with all studies: in [0, 1), or auto
	KB      []string // sizes of the knowledge base, with the automatic alpha; or all
	// Rules are guarded, published or both: by which the values are left out. None
	// means guarded.
	Rules []string
	// Surrogates are the surrogates of both studies by which values are left out, one after the other. An
	// empty list means the default of the rule.
	Surrogates []string
	Use        []string // first, prior, transfer; none adds nothing
}

// Variants returns the combinations to measure. For each method the first is that
// without a knowledge base, of which an alpha of 0 and no study are other names.
func (c Choices) Variants() ([]Variant, error) {
	var vs []Variant
	for _, m := range c.Methods {
		vs = append(vs, Variant{Method: m, Use: "none", KB: "0"})
		pruning, err := c.pruning(m)
		if err != nil {
			return nil, err
		}
		vs = append(vs, pruning...)
		for _, u := range c.Use {
			switch u {
			case "none":
			case "first", "transfer", "prior":
				v := Variant{Method: m, Use: u, KB: "all", kb: -1}
				if u == "prior" {
					v.Alpha = "auto"
				}
				vs = append(vs, v)
			default:
				return nil, fmt.Errorf("use %s: none of first, prior, transfer", u)
			}
		}
	}
	return vs, nil
}

// pruning returns the variants of a method that leave out values: for each rule and surrogate a variant
// of every aggressiveness and of every size.
func (c Choices) pruning(method string) (vs []Variant, err error) {
	for _, rule := range orOne(c.Rules, prune.Guarded.String()) {
		use := map[string]string{"guarded": "prune", "published": "published"}[rule]
		if use == "" {
			return nil, fmt.Errorf("rule %s: neither guarded nor published", rule)
		}
		for _, name := range orOne(c.Surrogates, "") {
			v := Variant{Method: method, Use: use, KB: "all", kb: -1, Surrogate: name}
			if v.surrogate, err = prune.ParseSurrogate(name); err != nil {
				return nil, fmt.Errorf("surrogate %w", err)
			}
			some, err := c.sizes(v)
			if err != nil {
				return nil, err
			}
			vs = append(vs, some...)
		}
	}
	return vs, nil
}

// sizes returns v with every aggressiveness, and with every size of the knowledge base.
func (c Choices) sizes(v Variant) (vs []Variant, err error) {
	for _, a := range c.Alpha {
		w := v
		if w.Alpha = a; a != "auto" {
			x, err := strconv.ParseFloat(a, 64)
			if err != nil || !(x >= 0 && x < 1) {
				return nil, fmt.Errorf("alpha %s: not a number from 0 to below 1, nor auto", a)
			}
			if w.alpha = x; x == 0 {
				continue // the variant without knowledge
			}
		}
		vs = append(vs, w)
	}
	for _, k := range c.KB {
		n, err := strconv.Atoi(k)
		if k == "all" || k == "0" {
			continue // is there already
		}
		if err != nil || n < 0 {
			return nil, fmt.Errorf("kb %s: not a number of studies, nor all", k)
		}
		w := v
		w.Alpha, w.KB, w.kb = "auto", k, n
		vs = append(vs, w)
	}
	return vs, nil
}

// orOne returns the words, or the one if there are none.
func orOne(words []string, one string) []string {
	if len(words) == 0 {
		return []string{one}
	}
	return words
}

// known returns the part of the knowledge base that the variant uses: all of it, or so
// many studies drawn by the seed.
func (v Variant) known(all *prune.Knowledge, seed uint64) *prune.Knowledge {
	if v.kb < 0 {
		return all
	}
	names := all.Studies()
	rng := rand.New(rand.NewPCG(seed, 99))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return all.Among(names[:min(v.kb, len(names))]...)
}

// build makes the searcher of a variant, and the pruner in it, nil if it prunes nothing. The error is
// the error of Options.Searcher, or of the class usage for a searcher that has to be narrowed and cannot
// be.
func (o *Options) build(
	v Variant, space *assay.Space, all *prune.Knowledge, seed uint64,
) (assay.Searcher, *prune.Pruner, error) {
	var pruner *prune.Pruner
	inner, err := o.Searcher(v.Method, space, seed)
	if err != nil {
		return nil, nil, err
	}
	k := v.known(all, seed)
	if v.prunes() || v.Use == "prior" {
		po := prune.Options{Alpha: v.alpha, Threshold: o.Threshold, Surrogate: v.surrogate}
		if v.Use == "published" {
			po.Rule = prune.Published
		}
		pruner, err = prune.New(inner, k, po)
		if errors.Is(err, prune.ErrNotNarrower) {
			return nil, nil, assay.Errorf(assay.ClassUsage, "searcher %s cannot be narrowed", v.Method)
		}
		if err != nil {
			return nil, nil, err
		}
		inner = pruner
	}
	switch v.Use {
	case "prior", "transfer":
		inner = prune.NewTransfer(inner, k, prune.TransferOptions{Seed: seed})
	case "first":
		inner = prune.NewReuse(inner, k, 5)
	}
	return search.Cache(inner), pruner, nil
}
