package workbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assay-run/assay"
)

// Names of the metrics of a data set.
const (
	DataBytes = "data_bytes"
	DataFiles = "data_files"
)

// dataSet returns the data set of a job, and its profile before the run if it is the job's own.
func (b *Bench) dataSet(ctx context.Context, job assay.Job) (dir string, profile map[string]float64, err error) {
	if job.Data == "" {
		return b.opts.Data, nil, nil
	}
	if !filepath.IsAbs(job.Data) {
		return "", nil, fmt.Errorf("the data set %q of a job is no absolute path", job.Data)
	}
	info, err := os.Stat(job.Data)
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("the data set of a run: %w", err)
	case !info.IsDir():
		return "", nil, fmt.Errorf("the data set of a run: %s is not a directory", job.Data)
	}
	p, err := ProfileData(ctx, job.Data)
	if err != nil {
		return "", nil, err
	}
	profile = map[string]float64{DataBytes: float64(p.Bytes), DataFiles: float64(p.Files)}
	return job.Data, profile, nil
}
