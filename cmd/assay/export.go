package main

import (
	"context"
	"io"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

func exportStudy(ctx context.Context, w io.Writer, h *setup.Store, name, format string) error {
	r, err := result.Read(ctx, h, name)
	if err != nil {
		return err
	}
	switch format {
	case "jsonl":
		return r.WriteTrials(ctx, w, 0, report.Palette{}, true)
	case "csv":
		return r.WriteCSV(ctx, w)
	case "optuna":
		return r.WriteOptuna(ctx, w)
	}
	return usagef("--format %s: there are csv, jsonl and optuna", format)
}
