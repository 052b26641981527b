package pages

import (
	"errors"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/explain"
	"github.com/assay-run/assay/internal/noise"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
)

// A Study is what a page shows of one study.
type Study struct {
	*result.Whole
	Words   []report.Entry `json:"-"`
	Explain *Explained     `json:"explain"` // nil if there is nothing to explain
	Unknown string         `json:"-"`       // why there is not
	Noise   *noise.Report  `json:"noise"`   // nil if nothing was repeated
	File    string         `json:"-"`       // the study file
	IsFile  bool           `json:"-"`       // it is one, not the record
	IsAsked bool           `json:"-"`       // somebody else makes its runs
	Price   float64        `json:"price"`   // money per second of a run; 0 if none is given
}

// Explained is an explanation with the dependence of each parameter.
type Explained struct {
	explain.Output
	Of     int         `json:"of"` // trials on record, of which the model may have seen fewer
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

// Explain adds an explanation of the record r, by a model with that seed. Without enough
// trials it adds why there is none.
func (s *Study) explain(r *result.Record, trials []assay.Trial) error {
	e, err := Explain(r, trials)
	if errors.Is(err, assay.ErrTooFew) {
		s.Unknown = err.Error()
		return nil
	}
	s.Explain = e
	return err
}

// Explain explains trials of the record r with the dependence of each parameter. With many trials
// the model has seen some of them, so that it takes seconds and not minutes.
func Explain(r *result.Record, trials []assay.Trial) (*Explained, error) {
	of := len(trials)
	e, err := explain.Explain(r.Params, r.Goal, thin(trials), r.Definition.Search.Seed)
	if err != nil {
		return nil, err
	}
	out := &Explained{Output: e.Output(r), Of: of, Legend: e.Legend(r.Goal)}
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

// thin returns at most mostExplained trials: evenly spread over the study, and the best.
func thin(trials []assay.Trial) []assay.Trial {
	if len(trials) <= mostExplained {
		return trials
	}
	best, ok := assay.Best(trials)
	var out []assay.Trial
	for i, t := range trials {
		if i*mostExplained/len(trials) != (i+1)*mostExplained/len(trials) || ok && t.ID == best.ID {
			out = append(out, t)
		}
	}
	return out
}

// Money returns what the runs of the study cost, and what stopping has saved at least.
func (s *Study) Money() (spent, saved float64) {
	for _, l := range s.Table.Lines {
		spent += l.Elapsed.Seconds()
	}
	for _, a := range s.Again {
		spent += float64(a.Elapsed)
	}
	return spent * s.Price, float64(s.Saved) * s.Price
}

// At says when the study was made, for people.
func (s *Study) At() string { return s.Made.Local().Format("2006-01-02 15:04") }

// Span returns a time in seconds for people.
func Span(x float64) string { return report.Seconds(x) }
