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
	"github.com/assay-run/assay/prior"
)

// A data is an answer that has the JSON of a T, as a command prints it with --json. That JSON is a contract of its own.
type data[T any] struct {
	ETag string `header:"ETag"`
	Body json.RawMessage
}

// look answers with what is computed of a study. Of that there is one at a time: it is work
// for the processor.
func look[T any](
	ctx context.Context, s *Server, study string, c Cached, what func(context.Context, *result.Record) (T, error),
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
		err = refuse(http.StatusUnprocessableEntity, "the numbers of the request come to no finite answer")
	}
	return &data[T]{Body: b}, err
}

// lookIn names a study to look at.
type lookIn struct {
	StudyPath
	Cached
}

func (s *Server) getAnswer(ctx context.Context, in *lookIn) (*data[*Answer], error) {
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (*Answer, error) {
		return answerOf(ctx, r)
	})
}

type explainIn struct {
	StudyPath
	Cached
	Curves bool `query:"curves" doc:"add a curve for each parameter, by a model of at most 300 trials"`
}

func (s *Server) getExplain(ctx context.Context, in *explainIn) (*data[any], error) {
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (any, error) {
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
}

func (s *Server) getNoise(ctx context.Context, in *lookIn) (*data[*noise.Report], error) {
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (*noise.Report, error) {
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
}

// similar are the studies that are most like one.
type similar struct {
	Studies []prior.Similar `json:"studies"`
}

func (s *Server) getSimilar(ctx context.Context, in *lookIn) (*data[similar], error) {
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

func (s *Server) getReport(ctx context.Context, in *lookIn) (*pageOut, error) {
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
	a, err := decoded(call(ctx, c, (*Server).getAnswer, &lookIn{StudyPath: StudyPath{study}}))
	if err != nil {
		return Answer{}, err
	}
	return *a, nil
}

// Similar returns the studies that are most similar to one, the most similar first.
func (c *Client) Similar(ctx context.Context, study string) ([]prior.Similar, error) {
	out, err := decoded(call(ctx, c, (*Server).getSimilar, &lookIn{StudyPath: StudyPath{study}}))
	return out.Studies, err
}
