package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

func similarCommand(s streams, f *studyFlags) *cobra.Command {
	all, pruned, after := false, false, 0
	cmd := &cobra.Command{
		Use:   "similar STUDY",
		Short: "the studies on record that are most like one of them",
		Long: `similar ranks the other studies by the normalised cross-correlation of their
surrogates with the surrogate of STUDY, at the configurations that it has run: 1
means that the same configurations are good in both, 0 that they are unrelated.
It needs the same parameters by name and type, with overlapping ranges, and
the same objective.

If more than 20 studies fit, the 20 with the nearest fingerprints are compared
trial by trial; the others have the correlation of their fingerprints, marked ~.
Studies that cannot be compared are counted; --all and --json list them with the reason.

With --prune it reports the part of the space of STUDY that the others would have pruned after
its first trials (--after), as --prior auto does, and the loss: how many of its later trials
were in that part, and whether the best was.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
				if pruned {
					return listPruned(ctx, s.out, h, args[0], after, f.json)
				}
				return listSimilar(ctx, s.out, h, args[0], all, f.json)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the studies that cannot be compared, with the reason")
	cmd.Flags().BoolVar(&pruned, "prune", false, "the part of the study's space that the others would prune, and the risk")
	cmd.Flags().IntVar(&after, "after", 10, "with --prune: after how many of its trials")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON, one object a line")
	return cmd
}

func listPruned(ctx context.Context, w io.Writer, h *setup.Store, name string, after int, asJSON bool) error {
	if after < 1 {
		return usagef("--after %d: at least 1", after)
	}
	kb, err := h.Knowledge(ctx)
	if err != nil {
		return err
	}
	out, err := kb.Pruned(ctx, name, after, func(string) bool { return true })
	return printed(err, asJSON, w, out, (*prior.Pruned).Write)
}

func listSimilar(ctx context.Context, w io.Writer, h *setup.Store, name string, every, asJSON bool) error {
	kb, err := h.Knowledge(ctx)
	if err != nil {
		return err
	}
	list, err := kb.Similar(ctx, name)
	if err != nil {
		return err
	}
	return printedRows(nil, asJSON, w, list, func(all []prior.Similar, w io.Writer, p report.Palette) error {
		return prior.WriteSimilar(all, every, w, p)
	})
}
