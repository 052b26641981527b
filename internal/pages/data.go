package pages

import (
	"context"
	"errors"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/abtest"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
)

// A Study is the data of a page about one study.
type Study struct {
	*result.Whole
	Words   []report.Entry      `json:"-"`
	Explain *Explained          `json:"explain"` // nil without enough trials
	Unknown string              `json:"-"`       // why Explain is nil
	Noise   *abtest.NoiseReport `json:"noise"`   // nil if nothing was repeated
	File    string              `json:"-"`       // the study file
	IsFile  bool                `json:"-"`       // it is one, not the record
	IsAsked bool                `json:"-"`       // an external study
	Price   float64             `json:"price"`   // money per second of a run; 0 if none is given
}

// Explained is an explanation with the dependence of each parameter.
type Explained struct {
	result.Output
	Of     int         `json:"of"` // trials on record; the model may have used fewer
	Curves [][]Sampled `json:"curves"`
	Legend [][2]string `json:"-"`
}

// Sampled is a point of a dependence for JSON.
type Sampled struct {
	X    result.Real `json:"x"`
	Mid  result.Real `json:"mid"`
	Low  result.Real `json:"low"`
	High result.Real `json:"high"`
}

// explain adds an explanation of the record r or, with too few trials, the reason why none exists.
func (s *Study) explain(ctx context.Context, r *result.Record) error {
	e, err := Explain(ctx, r)
	if errors.Is(err, assay.ErrTooFew) {
		s.Unknown = err.Error()
		return nil
	}
	s.Explain = e
	return err
}

// Explain explains the record r with the dependence of each parameter. With many trials the model has seen some of
// them, so that it takes seconds and not minutes.
func Explain(ctx context.Context, r *result.Record) (*Explained, error) {
	e, trials, _, err := r.Explain(ctx, mostExplained)
	if err != nil {
		return nil, err
	}
	out := &Explained{Output: e.Output(r), Of: len(trials), Legend: e.Legend(r.Goal)}
	for _, p := range e.Params {
		var curve []Sampled
		i := slices.IndexFunc(r.Params, func(q assay.Param) bool { return q.Name == p.Name })
		if i < 0 || r.Params[i].Kind == assay.Permutation {
			out.Curves = append(out.Curves, curve) // its orders have no line between them
			continue
		}
		for _, q := range e.Dependence(p.Name) {
			curve = append(curve, Sampled{result.Real(q.X), result.Real(q.Mid), result.Real(q.Low), result.Real(q.High)})
		}
		out.Curves = append(out.Curves, curve)
	}
	return out, nil
}

// mostExplained is how many trials a model is fitted to: more take minutes.
const mostExplained = 300

// Money returns the cost of the study's runs, and the least saving by early stopping.
func (s *Study) Money() (spent, saved float64) {
	for _, l := range s.Table.Lines {
		spent += l.Elapsed.Seconds()
	}
	for _, a := range s.Again {
		spent += float64(a.Elapsed)
	}
	return spent * s.Price, float64(s.Saved) * s.Price
}

// At returns the time when the study was created, as text.
func (s *Study) At() string { return s.Made.Local().Format("2006-01-02 15:04") }

// Span formats a time in seconds.
func Span(x float64) string { return report.Seconds(x) }
