package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// mostLearned is how many runs a cost model is fitted to here: the work grows with their cube.
const mostLearned = 300

// A fitted is a cost model with its learner.
type fitted struct {
	learner *costmodel.ActiveLearner
	model   *costmodel.Model
}

// model returns the cost model of a study on record, as assay learn --from makes it.
func (s lookRoutes) model(ctx context.Context, r *result.Record) (fitted, error) {
	if f, ok := s.models.find(r.Name, r.Summary.Events); ok {
		return f, nil
	}
	if n := r.Summary.Trials() + r.Summary.Checks; n > mostLearned {
		return fitted{}, assay.Errorf(assay.ClassConflict,
			"a server fits a cost model to at most %d runs, and there are %d: assay learn --from fits it", mostLearned, n)
	}
	space, err := r.Definition.Space()
	if err != nil {
		return fitted{}, err
	}
	f := fitted{}
	if f.learner, err = setup.Learned(ctx, s.o.Store, r.Name, r.Definition, space); err != nil {
		return f, err
	}
	f.model, err = f.learner.Model()
	if errors.Is(err, assay.ErrTooFew) {
		return f, assay.Errorf(assay.ClassConflict, "no run to its end: there is no model")
	}
	if err == nil {
		s.models.keep(r.Name, r.Summary.Events, f)
	}
	return f, err
}

// A Prediction is a request for predictions.
type Prediction struct {
	At        []map[string]any `json:"at" minItems:"1" maxItems:"64" nullable:"false" doc:"values of attributes, by name"`
	Explain   bool             `json:"explain,omitempty" doc:"percent of change of the time for 1 % of each attribute"`
	On        json.RawMessage  `json:"on,omitempty" type:"object" doc:"the machine, as from assay profile --json"`
	LearnedOn json.RawMessage  `json:"learned_on,omitempty" type:"object" doc:"the machine of the model's runs, likewise"`
}

// Predictions are the answers, in order; each is the output of `assay predict --json`.
type Predictions struct {
	Study       string             `json:"study"`
	Predictions []result.Predicted `json:"predictions"`
}

// machines returns the machine to predict for, nil for the machine of the runs, and the model with the machine that it
// was learned on.
func (b Prediction) machines(m *costmodel.Model) (there costmodel.Machine, _ *costmodel.Model, err error) {
	read := func(name string, text json.RawMessage) (machine costmodel.Machine, err error) {
		if len(text) == 0 || string(text) == "null" {
			return nil, nil
		}
		if machine, err = costmodel.ReadMachine(text); err != nil {
			err = refuse(http.StatusUnprocessableEntity, "%s: %v", name, err)
		}
		return machine, err
	}
	if there, err = read("on", b.On); err != nil {
		return nil, nil, err
	}
	here, err := read("learned_on", b.LearnedOn)
	switch {
	case err != nil:
		return nil, nil, err
	case here == nil:
		return there, m, nil
	case there == nil:
		return nil, nil, refuse(http.StatusUnprocessableEntity, "learned_on needs on: the machine to predict for")
	}
	m, err = m.LearnedOn(here)
	return there, m, err
}

// predict computes the predictions. Its errors are errors of the request.
func (b Prediction) predict(study string, m *costmodel.Model) (*Predictions, error) {
	there, m, err := b.machines(m)
	if err != nil {
		return nil, err
	}
	out := &Predictions{Study: study}
	for i, values := range b.At {
		at := map[string]string{}
		for name, v := range values {
			if at[name], err = textOf(v); err != nil {
				return nil, refuse(http.StatusUnprocessableEntity, "assignment %d: %s: %v", i+1, name, err)
			}
		}
		p, err := result.Predict(m, at, there)
		if err == nil && b.Explain {
			err = p.Explain(m)
		}
		if err != nil {
			return nil, refuse(http.StatusUnprocessableEntity, "assignment %d: %v", i+1, err)
		}
		out.Predictions = append(out.Predictions, p)
	}
	return out, nil
}

func (s lookRoutes) getModel(ctx context.Context, in *lookIn) (*data[result.StudyModel], error) {
	type model = result.StudyModel
	return look(ctx, s, in.Study, in.Cached, func(ctx context.Context, r *result.Record) (model, error) {
		f, err := s.model(ctx, r)
		if err != nil {
			return model{}, err
		}
		return result.NewStudyModel(in.Study, f.learner, f.model), nil
	})
}

const aboutMachines = "on and learned_on are machines as assay profile --json describes them: the machine to predict " +
	"for, which gives the values that at lacks, and the machine of the runs."

type predictIn struct {
	StudyPath
	Written
	Body Prediction
}

func (s lookRoutes) postPredict(ctx context.Context, in *predictIn) (*data[*Predictions], error) {
	return look(ctx, s, in.Study, Cached{}, func(ctx context.Context, r *result.Record) (*Predictions, error) {
		f, err := s.model(ctx, r)
		if err != nil {
			return nil, err
		}
		return in.Body.predict(in.Study, f.model)
	})
}

// Model returns the cost model of a study.
func (c *Client) Model(ctx context.Context, study string) (result.StudyModel, error) {
	return decoded(call(ctx, c, lookRoutes.getModel, &lookIn{StudyPath: StudyPath{study}}))
}

// Predict predicts by the cost model of a study.
func (c *Client) Predict(ctx context.Context, study string, p Prediction) ([]result.Predicted, error) {
	in := &predictIn{StudyPath: StudyPath{study}, Body: p}
	out, err := decoded(call(ctx, c, lookRoutes.postPredict, in))
	if err != nil {
		return nil, err
	}
	return out.Predictions, nil
}
