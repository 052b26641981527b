package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/result"
)

// A Name names a study in a list.
type Name string

// Schema implements [huma.SchemaProvider].
func (Name) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 1024
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
}

type compareIn struct {
	Studies []Name `query:"s,explode" required:"true" minItems:"2" maxItems:"8" nullable:"false" doc:"a reference first"`
}

func (s lookRoutes) getCompare(ctx context.Context, in *compareIn) (*data[result.Contrast], error) {
	for _, name := range in.Studies {
		if _, err := s.see(ctx, string(name)); err != nil {
			return nil, err
		}
	}
	free, err := s.compute(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	var all []*result.Whole
	for _, name := range in.Studies {
		r, err := result.Read(ctx, s.o.Store, string(name))
		if err != nil {
			return nil, err
		}
		w, err := r.Whole(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return encoded(result.NewContrast(all))
}

// knowledge are the families of studies that can be compared, and the studies that serve no other.
type knowledge struct {
	Families []prior.Family `json:"families"`
	Apart    []prior.Apart  `json:"apart"`
}

func (s lookRoutes) getKnowledge(ctx context.Context, _ *struct{}) (*data[knowledge], error) {
	free, err := s.compute(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	kb, err := s.o.Store.Knowledge(ctx)
	if err != nil {
		return nil, err
	}
	families, apart := kb.Families(whoOf(ctx).sees)
	return encoded(knowledge{append([]prior.Family{}, families...), append([]prior.Apart{}, apart...)})
}

type prunedIn struct {
	StudyPath
	Cached
	After int `query:"after" minimum:"1" maximum:"10000" default:"10" doc:"trials used to find similar studies"`
}

func (s lookRoutes) getPruned(ctx context.Context, in *prunedIn) (*data[*prior.Pruned], error) {
	who := whoOf(ctx)
	// The result depends on other studies too, so no ETag of this study's events can validate it.
	return look(ctx, s, in.Study, Cached{}, func(ctx context.Context, _ *result.Record) (*prior.Pruned, error) {
		kb, err := s.o.Store.Knowledge(ctx)
		if err != nil {
			return nil, err
		}
		return kb.Pruned(ctx, in.Study, in.After, who.sees)
	})
}

// Compare returns studies side by side.
func (c *Client) Compare(ctx context.Context, studies ...string) (result.Contrast, error) {
	in := &compareIn{}
	for _, s := range studies {
		in.Studies = append(in.Studies, Name(s))
	}
	return decoded(call(ctx, c, lookRoutes.getCompare, in))
}

// Knowledge returns the families of studies that can be compared, and those that serve no other.
func (c *Client) Knowledge(ctx context.Context) ([]prior.Family, []prior.Apart, error) {
	out, err := decoded(call(ctx, c, lookRoutes.getKnowledge, &struct{}{}))
	return out.Families, out.Apart, err
}

// Pruned returns the part of the space of a study that earlier studies would have left out after the given number of
// its trials.
func (c *Client) Pruned(ctx context.Context, study string, after int) (prior.Pruned, error) {
	out, err := decoded(call(ctx, c, lookRoutes.getPruned, &prunedIn{StudyPath: StudyPath{study}, After: after}))
	if err != nil {
		return prior.Pruned{}, err
	}
	return *out, nil
}
