package api

import (
	"context"
	"time"
)

// A Slowest is the trial of a study that took the longest.
type Slowest struct {
	Trial   int64   `json:"trial" doc:"0 if the study has no trials"`
	Elapsed float64 `json:"elapsed_s"`
}

type slowestIn struct {
	StudyPath
	Cached
}

func (s lookRoutes) getSlowest(ctx context.Context, in *slowestIn) (*tagged[Slowest], error) {
	i, err := s.see(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	if err := in.unchanged(i.Events); err != nil {
		return nil, err
	}
	out, longest := &tagged[Slowest]{ETag: tag(i.Events)}, time.Duration(-1)
	for row, err := range s.o.Store.Trials(ctx, in.Study, 0, 0) {
		if err != nil {
			return nil, err
		}
		if took := row.Trial.Measurement.Elapsed; took > longest {
			longest, out.Body = took, Slowest{row.Trial.ID, took.Seconds()}
		}
	}
	return out, nil
}

// Slowest returns the trial of a study that took the longest.
func (c *Client) Slowest(ctx context.Context, study string) (Slowest, error) {
	return body(call(ctx, c, lookRoutes.getSlowest, &slowestIn{StudyPath: StudyPath{study}}))
}
