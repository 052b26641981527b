package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/prior"
)

// Compare returns studies side by side.
func (c *Client) Compare(ctx context.Context, studies ...string) (out result.Contrast, err error) {
	err = c.call(ctx, http.MethodGet, "/compare", url.Values{"s": studies}, nil, &out)
	return out, err
}

// Knowledge returns the families of studies that can be compared, and those that serve no other.
func (c *Client) Knowledge(ctx context.Context) (families []prior.Family, apart []prior.Apart, err error) {
	var out struct {
		Families []prior.Family
		Apart    []prior.Apart
	}
	err = c.call(ctx, http.MethodGet, "/knowledge", nil, nil, &out)
	return out.Families, out.Apart, err
}

// Similar returns the studies that are most like one, the most alike first.
func (c *Client) Similar(ctx context.Context, study string) ([]prior.Similar, error) {
	var out struct{ Studies []prior.Similar }
	err := c.call(ctx, http.MethodGet, of(study, "/similar"), nil, nil, &out)
	return out.Studies, err
}

// Pruned returns what others would have left out of the space of a study after so many of its trials.
func (c *Client) Pruned(ctx context.Context, study string, after int) (out prior.Pruned, err error) {
	err = c.call(ctx, http.MethodGet, of(study, "/pruned"), url.Values{"after": {strconv.Itoa(after)}}, nil, &out)
	return out, err
}

// Plan plans a workflow.
func (c *Client) Plan(ctx context.Context, q PlanRequest) (out PlanAnswer, err error) {
	err = c.call(ctx, http.MethodPost, "/plan", nil, q, &out)
	return out, err
}

// Model returns the cost model of a study.
func (c *Client) Model(ctx context.Context, study string) (out result.StudyModel, err error) {
	err = c.call(ctx, http.MethodGet, of(study, "/model"), nil, nil, &out)
	return out, err
}

// Predict predicts by the cost model of a study.
func (c *Client) Predict(ctx context.Context, study string, p Prediction) ([]result.Predicted, error) {
	var out Predictions
	err := c.call(ctx, http.MethodPost, of(study, "/predict"), nil, p, &out)
	return out.Predictions, err
}
