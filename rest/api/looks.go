package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/explain"
	"github.com/assay-run/assay/internal/noise"
	"github.com/assay-run/assay/internal/pages"
	"github.com/assay-run/assay/internal/result"
)

// data is an answer that is what a command prints with --json: a contract of its own.
type data struct {
	ETag string `header:"ETag"`
	Body json.RawMessage
}

// look answers with what is computed of a study. Of that there is one at a time: it is work
// for the processor.
func (s *Server) look(
	ctx context.Context, study string, c Cached, what func(context.Context, *result.Record) (any, error),
) (*data, error) {
	i, err := s.see(ctx, study)
	if err != nil {
		return nil, err
	}
	if err := c.unchanged(i.Events); err != nil {
		return nil, err
	}
	free, err := s.compute(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	r, err := result.Read(ctx, s.o.Store, study)
	if err != nil {
		return nil, err
	}
	v, err := what(ctx, r)
	if errors.Is(err, assay.ErrTooFew) || assay.ClassOf(err) == assay.ClassUsage { // nothing is wrong with the request
		err = assay.Errorf(assay.ClassConflict, "study %q: %w", study, err)
	}
	if err != nil {
		return nil, err
	}
	out, err := encoded(v)
	if err == nil {
		out.ETag = tag(i.Events)
	}
	return out, err
}

// compute waits for the one place there is for work for the processor, and returns what gives
// it back.
func (s *Server) compute(ctx context.Context) (free func(), err error) {
	select {
	case s.fits <- struct{}{}:
		return func() { <-s.fits }, nil
	case <-ctx.Done():
		return nil, assay.WithClass(assay.ClassUnavailable, ctx.Err())
	}
}

// encoded returns v as an answer.
func encoded(v any) (*data, error) {
	b, err := json.Marshal(v)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		err = refuse(http.StatusUnprocessableEntity, "the numbers of the request come to no finite answer")
	}
	return &data{Body: b}, err
}

// looks registers the routes that say what a study means.
func (s *Server) looks() {
	type in struct {
		StudyPath
		Cached
	}
	object := func(op *huma.Operation) {
		notModified(op)
		op.Errors = append(op.Errors, http.StatusConflict)
	}
	handle(s, http.MethodGet, prefix+"/studies/{study}/answer", func(ctx context.Context, in *in) (*data, error) {
		return s.look(ctx, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (any, error) {
			return answerOf(ctx, r)
		})
	}, notModified)
	type explainIn struct {
		StudyPath
		Cached
		Curves bool `query:"curves" doc:"how the objective depends on each parameter, too; the model has seen at most 300 trials then"`
	}
	handle(s, http.MethodGet, prefix+"/studies/{study}/explain", func(ctx context.Context, in *explainIn) (*data, error) {
		return s.look(ctx, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (any, error) {
			var trials []assay.Trial
			for t, err := range r.Trials(ctx) {
				if err != nil {
					return nil, err
				}
				trials = append(trials, t)
			}
			if in.Curves {
				return pages.Explain(r, trials)
			}
			e, err := explain.Explain(r.Params, r.Goal, trials, r.Definition.Search.Seed)
			if err != nil {
				return nil, err
			}
			return e.Output(r), nil
		})
	}, object)
	handle(s, http.MethodGet, prefix+"/studies/{study}/noise", func(ctx context.Context, in *in) (*data, error) {
		return s.look(ctx, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (any, error) {
			samples, err := noise.Samples(r.Runs(ctx), r.Params.Text)
			if err != nil {
				return nil, err
			}
			n, err := noise.OfSamples(samples, r.Goal.Unit, noise.Options{Difference: 0.05, Error: 0.05})
			if n != nil {
				n.Study = in.Study
			}
			return n, err
		})
	}, object)
	handle(s, http.MethodGet, prefix+"/studies/{study}/similar", func(ctx context.Context, in *in) (*data, error) {
		who := whoOf(ctx)
		return s.look(ctx, in.Study, in.Cached, func(ctx context.Context, _ *result.Record) (any, error) {
			kb, err := s.o.Store.Knowledge(ctx)
			if err != nil {
				return nil, err
			}
			list, err := kb.Similar(ctx, in.Study)
			out := map[string]any{"studies": []any{}}
			var seen []any
			for _, o := range list {
				if who.sees(o.Study) {
					seen = append(seen, o)
				}
			}
			if len(seen) > 0 {
				out["studies"] = seen
			}
			return out, err
		})
	}, object)

	type pageOut struct {
		ContentType string `header:"Content-Type"`
		Disposition string `header:"Content-Disposition"`
		ETag        string `header:"ETag"`
		Body        []byte
	}
	handle(s, http.MethodGet, prefix+"/studies/{study}/report", func(ctx context.Context, in *in) (*pageOut, error) {
		i, err := s.see(ctx, in.Study)
		if err != nil {
			return nil, err
		}
		if err := in.unchanged(i.Events); err != nil {
			return nil, err
		}
		o := pages.Options{Version: s.o.About.Version, Now: s.o.Now(), Again: "assay report"}
		st, err := pages.Read(ctx, s.o.Store, in.Study, o)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := pages.Write(&b, []*pages.Study{st}, o); err != nil {
			return nil, err
		}
		// It is kept, not shown: a page of the server's own origin has no script.
		name := mime.FormatMediaType("attachment", map[string]string{"filename": in.Study + ".html"})
		return &pageOut{"text/html; charset=utf-8", name, tag(i.Events), b.Bytes()}, nil
	}, object, func(op *huma.Operation) {
		op.Responses["200"] = &huma.Response{
			Description: "the page, to be kept as a file",
			Content:     map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}
	})
	s.events()
}
