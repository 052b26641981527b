package setup

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/spec"
)

// This file puts the help of earlier studies around the algorithm of a study.

// helped returns the searcher of a study with the earlier studies that help it, a function that lists the cuts (nil
// without any), and a note if the help is limited.
//
// The help is the one of the claim, not today's: the searcher of a resumed study must repeat its proposals. A
// searcher that cannot leave out values is helped by proposals alone.
func (p *Problem) helped(ctx context.Context, s *Store, c claim) (searcher assay.Searcher, cuts func() []assay.Pruned,
	note string, err error,
) {
	if len(c.helpers) == 0 {
		searcher, err = p.searcher(nil)
		return searcher, nil, "", err
	}
	if c.helpers[0].Ships {
		searcher, err = p.shippedSearcher(c.helpers)
		return searcher, nil, "", err
	}
	base := c.base
	if base == nil {
		if base, err = s.Knowledge(ctx); err != nil {
			return nil, nil, "", err
		}
	}
	studies, err := base.Studies(ctx, c.helpers)
	if err != nil {
		return nil, nil, "", err
	}
	k := prune.NewKnowledge(p.Space, p.Goal, studies)
	searcher, err = p.searcher(func(inner assay.Searcher) (assay.Searcher, error) {
		if p.Definition.Prior.Rule == publishedRule {
			inner, cuts, err = published(p.Definition, inner, k)
			return inner, err
		}
		if _, ok := assay.As[assay.Narrower](inner); ok {
			if inner, cuts, err = pruned(p.Definition, inner, k); err != nil {
				return nil, err
			}
		} else {
			note = fmt.Sprintf("the searcher %s cannot leave out values: "+
				"earlier studies propose configurations, but nothing is pruned",
				cmp.Or(p.Definition.Search.Name, DefaultSearcher))
		}
		return prune.NewTransfer(inner, k, prune.TransferOptions{
			Seed: p.Definition.Search.Seed, Judged: p.searchers < 2,
		}), nil
	})
	return searcher, cuts, note, err
}

// publishedRule is the word of prior.rule for Algorithm 1 as printed.
const publishedRule = "published"

// published returns inner with JobPruner as published: earlier studies leave out
// values, and do nothing else.
func published(
	def *spec.Study, inner assay.Searcher, k *prune.Knowledge,
) (assay.Searcher, func() []assay.Pruned, error) {
	if _, ok := assay.As[assay.Narrower](inner); !ok {
		return nil, nil, usagef("%sprior.rule published: the searcher %s cannot leave out values",
			def.At("prior.rule"), cmp.Or(def.Search.Name, DefaultSearcher))
	}
	return pruned(def, inner, k)
}

// pruned returns inner without the values that earlier studies leave out, and a function that lists these. An error
// is of the class usage and names the place in the study file. Numbers that were not given stay 0, which leaves them
// to the library.
func pruned(def *spec.Study, inner assay.Searcher, k *prune.Knowledge) (assay.Searcher, func() []assay.Pruned, error) {
	asked := def.Prior
	o := prune.Options{Alpha: asked.Alpha, Threshold: asked.Threshold}
	var err error
	if o.Rule, err = prune.ParseRule(asked.Rule); err != nil {
		return nil, nil, usagef("%sprior.rule: %w", def.At("prior.rule"), err)
	}
	if o.Surrogate, err = prune.ParseSurrogate(asked.Surrogate); err != nil {
		return nil, nil, usagef("%sprior.surrogate: %w", def.At("prior.surrogate"), err)
	}
	for _, text := range asked.Keep {
		name, value, _ := strings.Cut(text, "=")
		o.Keep = append(o.Keep, prune.Kept{Param: name, Value: value})
	}
	pruner, err := prune.New(inner, k, o)
	if err != nil {
		return nil, nil, usageError(err)
	}
	return pruner, pruner.Cuts, nil
}
