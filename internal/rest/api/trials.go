package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// Trials are trials in order of their ids, as rows or as columns.
type Trials struct {
	Study   string        `json:"study"`
	Next    int64         `json:"next" doc:"after of the next page; 0 if this is the last"`
	Rows    []view.Trial  `json:"rows,omitempty" nullable:"false"`
	Columns *view.Columns `json:"columns,omitempty"`
}

// trials returns a page of the trials of a study.
func (s *Server) trials(
	ctx context.Context, study string, after int64, limit int, columns bool, want []string,
) (Trials, error) {
	out := Trials{Study: study}
	r, err := result.Read(ctx, s.o.Store, study)
	if err != nil {
		return out, err
	}
	if columns {
		out.Columns, out.Next, err = s.tallies.columns(ctx, r, after, limit, want)
		return out, err
	}
	n := 0
	for row, err := range s.o.Store.Trials(ctx, study, after, limit+1) {
		if err == nil {
			err = r.Fits(row.Trial)
		}
		if err != nil {
			return out, err
		}
		if n == limit {
			out.Next = after
			break
		}
		n, after = n+1, row.Trial.ID
		out.Rows = append(out.Rows, r.Trial(row.Trial))
	}
	return out, nil
}

// configs reads configurations of a study: the values of its parameters by their names.
func (s *Server) configs(ctx context.Context, study string, given []map[string]any) ([]assay.Config, error) {
	def, err := s.o.Store.Definition(ctx, study)
	if err != nil {
		return nil, err
	}
	space, err := def.Space()
	if err != nil {
		return nil, err
	}
	var out []assay.Config
	for i, g := range given {
		texts := make(map[string]string, len(g))
		for name, v := range g {
			if texts[name], err = textOf(v); err != nil {
				return nil, assay.Errorf(assay.ClassUsage, "configuration %d: %s: %w", i+1, name, err)
			}
		}
		c, err := space.Parse(texts)
		if err == nil {
			err = space.Check(c)
		}
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "configuration %d: %w", i+1, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// textOf returns the text of a value in JSON.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return assay.FormatNumber(v), nil
	}
	return "", assay.Errorf(assay.ClassUsage, "a value is a number, a text, true or false")
}

// notModified documents the not-modified response.
func notModified(op *huma.Operation) {
	op.Responses = map[string]*huma.Response{
		strconv.Itoa(http.StatusNotModified): {Description: "the client's copy is current"},
	}
}
