package api

import (
	"context"

	"github.com/assay-run/assay/internal/result"
)

// An Answer is what a study has come to so far: all that is on record of it but for its trials,
// of which there may be many.
type Answer struct {
	*result.Whole
	// Trials are none: see GET studies/{study}/trials.
	Trials *result.Columns `json:"trials,omitempty"`
	// Words are the answer in the words of the command line.
	Words []Line `json:"words"`
	// Lucky says that the runs at the end are against the best.
	Lucky bool `json:"lucky"`
}

// A Line is a part of an answer.
type Line struct {
	Label   string `json:"label"`
	Text    string `json:"text"`
	Command bool   `json:"command,omitempty"` // for a shell
}

// answerOf returns the answer of a study.
func answerOf(ctx context.Context, r *result.Record) (*Answer, error) {
	w, err := r.Whole(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{Whole: w, Words: []Line{}, Lucky: w.Lucky()}
	for _, e := range w.Answer() {
		if n := len(a.Words); e.Label == "" && n > 0 {
			a.Words[n-1].Text += "\n" + e.Text
			continue
		}
		a.Words = append(a.Words, Line{e.Label, e.Text, e.Command})
	}
	return a, nil
}
