package api

import (
	"context"
	"net/http"
	"time"

	"github.com/assay-run/assay/study"
)

// Ask asks for n trials of a study whose runs somebody else makes, those first, if again is not negative,
// that were handed out longer ago than that and never told.
func (c *Client) Ask(ctx context.Context, name string, n int, again time.Duration) (a AskAnswer, err error) {
	in := map[string]any{"n": n}
	if again >= 0 {
		in["again_s"] = again.Seconds()
	}
	err = c.call(ctx, http.MethodPost, of(name, "/ask"), nil, in, &a)
	return a, err
}

// Asked returns the trials that were asked and not told.
func (c *Client) Asked(ctx context.Context, name string) ([]Asked, error) {
	var out struct{ Trials []Asked }
	err := c.call(ctx, http.MethodGet, of(name, "/asked"), nil, nil, &out)
	return out.Trials, err
}

// Recall takes the trials back that were asked at least age ago and never told.
func (c *Client) Recall(ctx context.Context, name string, age time.Duration, reason string) ([]Asked, error) {
	var out struct{ Trials []Asked }
	in := map[string]any{"age_s": age.Seconds(), "reason": reason}
	err := c.call(ctx, http.MethodPost, of(name, "/recall"), nil, in, &out)
	return out.Trials, err
}

// Tell tells what trials came to that were asked.
func (c *Client) Tell(ctx context.Context, name string, reports []study.Report) (t Told, err error) {
	err = c.call(ctx, http.MethodPost, of(name, "/tell"), nil, map[string]any{"results": reports}, &t)
	return t, err
}
