package workbench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// A DataProfile is the data profile λ of a data set (Shivam et al. 2006, §2.3):
// its total size, as in the paper, and how it is spread over files.
type DataProfile struct {
	Bytes       int64 // of all regular files; a file with several names counts for each
	Files       int64 // regular files
	Directories int64 // below the first
	Others      int64 // links, devices, pipes: not followed, not read
	// Quantiles are the sizes of files at QuantileLevels; nil without files.
	Quantiles []float64
}

// QuantileLevels are the levels of [DataProfile.Quantiles]: the least, the
// quartiles, the highest tenth and hundredth, and the greatest.
func QuantileLevels() []float64 { return []float64{0, 0.25, 0.5, 0.75, 0.9, 0.99, 1} }

// Attributes returns the profile by name, for a cost model: "data_bytes",
// "data_files" and "data_file_median_bytes".
func (p DataProfile) Attributes() map[string]float64 {
	m := map[string]float64{"data_bytes": float64(p.Bytes), "data_files": float64(p.Files)}
	if p.Quantiles != nil {
		m["data_file_median_bytes"] = p.Quantiles[slices.Index(QuantileLevels(), 0.5)]
	}
	return m
}

// ProfileData profiles a directory, or a single file. Symbolic links are not
// followed, except if path is one itself. A directory that cannot be read is an
// error: a size without it would be wrong.
func ProfileData(ctx context.Context, path string) (DataProfile, error) {
	var p DataProfile
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return p, fmt.Errorf("data set: %w", err)
	}
	var sizes []float64
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case e.IsDir():
			if name != root {
				p.Directories++
			}
		case e.Type().IsRegular():
			info, err := e.Info()
			if os.IsNotExist(err) {
				return nil // it went while we looked
			}
			if err != nil {
				return err
			}
			p.Files++
			p.Bytes += info.Size()
			sizes = append(sizes, float64(info.Size()))
		default:
			p.Others++
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("data set: %w", err)
	}
	for _, level := range QuantileLevels() {
		if len(sizes) > 0 {
			p.Quantiles = append(p.Quantiles, stats.Quantile(sizes, level))
		}
	}
	return p, nil
}
