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
	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/pages"
	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/result"
)

// A data is an answer with the JSON of a T, as a command prints it with --json. That JSON is a contract of its own.
type data[T any] struct {
	ETag string `header:"ETag"`
	Body json.RawMessage
}

// look answers with a value computed from a study. Computations run one at a time, because they are bound by the
// processor.
func look[T any](
	ctx context.Context, s lookRoutes, study string, c Cached, what func(context.Context, *result.Record) (T, error),
) (*data[T], error) {
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
	if errors.Is(err, assay.ErrTooFew) || assay.ClassOf(err) == assay.ClassUsage { // the request itself is valid
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

// lookRoutes answer requests for the results that are computed from the record of studies.
type lookRoutes struct{ *Server }

// compute waits for the only slot for computations, and returns the function that frees it.
func (s lookRoutes) compute(ctx context.Context) (free func(), err error) {
	select {
	case s.fits <- struct{}{}:
		return func() { <-s.fits }, nil
	case <-ctx.Done():
		return nil, assay.WithClass(assay.ClassUnavailable, ctx.Err())
	}
}

// decoded returns the T of an answer.
func decoded[T any](d *data[T], err error) (v T, _ error) {
	if err == nil {
		err = json.Unmarshal(d.Body, &v)
	}
	return v, err
}

// encoded returns v as an answer.
func encoded[T any](v T) (*data[T], error) {
	b, err := json.Marshal(v)
	if _, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		err = refuse(http.StatusUnprocessableEntity, "the numbers of the request have no finite answer")
	}
	return &data[T]{Body: b}, err
}

// lookIn names a study to look at.
type lookIn struct {
	StudyPath
	Cached
}

func (s lookRoutes) getAnswer(ctx context.Context, in *lookIn) (*data[*Answer], error) {
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (*Answer, error) {
		return answerOf(ctx, r)
	})
}

type explainIn struct {
	StudyPath
	Cached
	Curves bool `query:"curves" doc:"add a curve for each parameter, by a model of at most 300 trials"`
}

func (s lookRoutes) getExplain(ctx context.Context, in *explainIn) (*data[any], error) {
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (any, error) {
		if in.Curves {
			if e, ok := s.explained.find(r.Name, r.Summary.Events); ok {
				return e, nil
			}
			e, err := pages.Explain(ctx, r)
			if err == nil {
				s.explained.keep(r.Name, r.Summary.Events, e)
			}
			return e, err
		}
		e, _, _, err := r.Explain(ctx, 0)
		if err != nil {
			return nil, err
		}
		return e.Output(r), nil
	})
}

func (s lookRoutes) getNoise(ctx context.Context, in *lookIn) (*data[*abtest.NoiseReport], error) {
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (*abtest.NoiseReport, error) {
		samples, err := abtest.Samples(r.Runs(ctx), r.Params.Text)
		if err != nil {
			return nil, err
		}
		o := abtest.Options{Difference: 0.05, Error: 0.05, Maximize: r.Goal.Maximize}
		n, err := abtest.NoiseOf(samples, r.Goal.Unit, o)
		if n != nil {
			n.Study = in.Study
		}
		return n, err
	})
}

// similar are the studies that are most like one.
type similar struct {
	Studies []prior.Similar `json:"studies"`
}

func (s lookRoutes) getSimilar(ctx context.Context, in *lookIn) (*data[similar], error) {
	who := whoOf(ctx)
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, _ *result.Record) (out similar, err error) {
		kb, err := s.o.Store.Knowledge(ctx)
		if err != nil {
			return out, err
		}
		list, err := kb.Similar(ctx, in.Study)
		out.Studies = []prior.Similar{}
		for _, o := range list {
			if who.sees(o.Study) {
				out.Studies = append(out.Studies, o)
			}
		}
		return out, err
	})
}

type pageOut struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	ETag        string `header:"ETag"`
	Body        []byte
}

func (s lookRoutes) getReport(ctx context.Context, in *lookIn) (*pageOut, error) {
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
}

// page documents an answer that is a page of one file.
func page(op *huma.Operation) {
	op.Responses["200"] = &huma.Response{
		Description: "the page, to be kept as a file",
		Content:     map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
}

// Answer returns the result of a study so far.
func (c *Client) Answer(ctx context.Context, study string) (Answer, error) {
	a, err := decoded(call(ctx, c, lookRoutes.getAnswer, &lookIn{StudyPath: StudyPath{study}}))
	if err != nil {
		return Answer{}, err
	}
	return *a, nil
}

// Similar returns the studies that are most similar to one, the most similar first.
func (c *Client) Similar(ctx context.Context, study string) ([]prior.Similar, error) {
	out, err := decoded(call(ctx, c, lookRoutes.getSimilar, &lookIn{StudyPath: StudyPath{study}}))
	return out.Studies, err
}
