package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// explainCommand returns `assay study explain`.
func explainCommand(s streams, f *studyFlags) *cobra.Command {
	var asJSON bool
	var svg string
	cmd := &cobra.Command{
		Use:   "explain STUDY",
		Short: "which parameter pushes the objective where",
		Long: `explain fits a random forest to the trials of a study and reports, by parameter:

  at the best   its contribution at the best configuration, compared with the
                average trial (Shapley values of the trees)
  importance    how far it moves the trials on the average, up or down
  alone         its share of the variance over the whole space (functional
                analysis of variance); the rest are interactions

With limits, it also reports how many runs broke each limit, the chance that the best
configuration keeps it, the mean chance over the space, and the parameter that moves it
most.

The first two are relative if the metric is positive. The model is checked by
cross-validation; if it explains little, so does this command.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: f.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
				return explainStudy(ctx, s.out, h, args[0], asJSON, svg)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringVar(&svg, "svg", "", "also write a bar chart to a `file`")
	return cmd
}

func explainStudy(ctx context.Context, w io.Writer, h *setup.Store, name string, asJSON bool, svg string) error {
	r, err := result.Read(ctx, h, name)
	if err != nil {
		return err
	}
	e, _, limits, err := r.Explain(ctx, 0)
	if errors.Is(err, assay.ErrTooFew) {
		if len(limits) > 0 && !asJSON {
			if err := result.WriteLimits(w, palette(w), limits); err != nil {
				return err
			}
		}
		return fmt.Errorf("study %q: %w", name, err)
	}
	if err != nil {
		return err
	}
	if svg != "" {
		var b bytes.Buffer
		if err := e.Chart(r).WriteSVG(&b); err != nil {
			return err
		}
		if err := files.WriteFile(svg, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if asJSON {
		return writeJSON(w, e.Output(r))
	}
	return e.Write(w, palette(w), r)
}
