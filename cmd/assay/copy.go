package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

func copyCommand(s streams, f *studyFlags) *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy --to ADDRESS STUDY...",
		Short: "copy studies to another store, as they are",
		Long: `copy copies the records of studies from one store to another, byte by byte, with
the hashes that show whether anything is missing, and reads the copies back. A
copy that was interrupted, or whose study has grown since, resumes at its
end. A different study of the same name is never changed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("from") && cmd.Flags().Changed("store") {
				return usagef("--from and --store mean the same: give one of them")
			}
			if to == "" {
				return usagef("--to is missing: the store to copy to")
			}
			if !cmd.Flags().Changed("from") {
				from = f.store
			}
			return copyStudies(cmd.Context(), s.out, from, to, args)
		},
		ValidArgsFunction: f.complete,
	}
	cmd.Flags().StringVar(&from, "from", "", "the `store` to copy from (default in $XDG_STATE_HOME/assay)")
	cmd.Flags().StringVar(&to, "to", "", "the `store` to copy to")
	return cmd
}

// copyStudies copies all of the studies, or none if one does not exist.
func copyStudies(ctx context.Context, w io.Writer, from, to string, names []string) error {
	a, err := setup.ReadStore(ctx, from)
	if err != nil {
		return err
	}
	defer a.Close()
	for _, name := range names {
		if _, err := a.Spec(ctx, name); errors.Is(err, fs.ErrNotExist) {
			return usagef("no study %q: nothing was copied (see assay study ls)", name)
		} else if err != nil {
			return err
		}
	}
	b, err := setup.OpenStore(ctx, to)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, name := range names {
		c, err := setup.Copy(ctx, a, b, name)
		if err != nil {
			return err
		}
		more := ""
		if c.More > 0 {
			more = fmt.Sprintf("; the copy has %d more", c.More)
		}
		if _, err := fmt.Fprintf(w, "%s: %d events, %d of them new, verified%s\n",
			report.Visible(name), c.Events, c.New, more); err != nil {
			return err
		}
	}
	return b.Close()
}
