package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/prior"
)

// A Name names a study in a list.
type Name string

// Schema implements [huma.SchemaProvider].
func (Name) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 1024
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
}

// compares registers the routes that set studies beside each other.
func (s *Server) compares() {
	type compareIn struct {
		Studies []Name `query:"s,explode" required:"true" minItems:"2" maxItems:"8" nullable:"false" doc:"the studies, each as s=NAME; the first is what the others are compared with"`
	}
	handle(s, http.MethodGet, prefix+"/compare", func(ctx context.Context, in *compareIn) (*data, error) {
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
	}, func(op *huma.Operation) { op.Errors = append(op.Errors, http.StatusNotFound) })

	handle(s, http.MethodGet, prefix+"/knowledge", func(ctx context.Context, _ *struct{}) (*data, error) {
		free, err := s.compute(ctx)
		if err != nil {
			return nil, err
		}
		defer free()
		kb, err := s.o.Store.Knowledge(ctx)
		if err != nil {
			return nil, err
		}
		out := struct {
			Families []prior.Family `json:"families"`
			Apart    []prior.Apart  `json:"apart"`
		}{[]prior.Family{}, []prior.Apart{}}
		families, apart := kb.Families(whoOf(ctx).sees)
		out.Families, out.Apart = append(out.Families, families...), append(out.Apart, apart...)
		return encoded(out)
	})

	type prunedIn struct {
		StudyPath
		Cached
		After int `query:"after" minimum:"1" maximum:"10000" default:"10" doc:"trials of the study that the others are compared with"`
	}
	handle(s, http.MethodGet, prefix+"/studies/{study}/pruned", func(ctx context.Context, in *prunedIn) (*data, error) {
		who := whoOf(ctx)
		// What the others have learned is no part of the study's events: no ETag tells that it is the same.
		return s.look(ctx, in.Study, Cached{}, func(ctx context.Context, _ *result.Record) (any, error) {
			kb, err := s.o.Store.Knowledge(ctx)
			if err != nil {
				return nil, err
			}
			return kb.Pruned(ctx, in.Study, in.After, who.sees)
		})
	}, func(op *huma.Operation) { op.Errors = append(op.Errors, http.StatusConflict) })
}
