package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/explain"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/whole"
	"github.com/assay-run/assay/setup"
)

// explainCommand returns `assay study explain`.
func explainCommand(s streams, f *studyFlags) *cobra.Command {
	var asJSON bool
	var svg string
	cmd := &cobra.Command{
		Use:   "explain STUDY",
		Short: "which parameter pushes the objective where",
		Long: `explain fits a random forest to the trials of a study and says what it has learned:

  at the best   what each parameter contributes at the best configuration,
                compared with the average trial (Shapley values of the trees)
  importance    how far it moves the trials on the average, up or down
  alone         its share of the variance over the whole space (functional
                analysis of variance); the rest are interactions

With limits, it also says how many runs broke each, and what was learned of it: the chance
that the best configuration keeps it, the mean chance over the space, and the parameter
that moves it most.

Where the metric is positive the first two are relative. The model is checked by
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
	var trials []assay.Trial
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		trials = append(trials, t)
	}
	e, err := explain.Explain(r.Params, r.Goal, trials, r.Definition.Search.Seed)
	if errors.Is(err, assay.ErrTooFew) {
		if limits, lerr := learnedLimits(r, trials); lerr == nil && !asJSON {
			if err := explain.WriteLimits(w, palette(w), limits); err != nil {
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
		if err := whole.WriteFile(svg, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if asJSON {
		return writeJSON(w, e.Output(r))
	}
	return e.Write(w, palette(w), r)
}

// learnedLimits says what was learned of the limits of a study, also where no run is within them.
func learnedLimits(r *result.Record, trials []assay.Trial) ([]explain.Limit, error) {
	space, err := assay.NewSpace(r.Params)
	if err != nil {
		return nil, err
	}
	return explain.Limits(space, r.Goal, trials, r.Definition.Search.Seed), nil
}
