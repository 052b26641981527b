package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
)

func fsckCommand(s streams, f *studyFlags) *cobra.Command {
	repair := false
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "rebuild every trial from the events and compare",
		Long: `fsck reads the whole store: it verifies every event, derives everything else again
from the events, and compares.

With --repair it rewrites all data derived from the events. If events themselves
are damaged, it saves the intact events into a new store beside the damaged one,
PATH.salvaged, and leaves the damaged one as it is. No other assay may use the
store meanwhile.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fsckOrSalvage(cmd.Context(), s.out, f.store, repair)
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "rewrite all data derived from the events, or save the intact events")
	return cmd
}

// fsckOrSalvage checks the store of a --store flag. The command fails if the
// store is damaged, and stays so.
func fsckOrSalvage(ctx context.Context, w io.Writer, at string, repair bool) error {
	h, err := setup.ReadStore(ctx, at)
	if errors.Is(err, store.ErrDamaged) && repair {
		if _, err := fmt.Fprintln(w, report.VisibleLines(forPeople(err))); err != nil {
			return err
		}
		return salvage(ctx, w, at)
	}
	if err != nil {
		return err
	}
	ok, err := h.Fsck(ctx, w, repair)
	// Closing another handle of the file would end the locks of this one.
	if err = errors.Join(err, h.Close()); err != nil || ok {
		return err
	}
	if repair {
		return salvage(ctx, w, at)
	}
	return &exitError{codeFailure}
}

// salvage saves the intact events of a damaged store. It ends with the code of a failure: the original store is still
// damaged.
func salvage(ctx context.Context, w io.Writer, at string) error {
	if err := setup.Salvage(ctx, w, at); err != nil {
		return err
	}
	return &exitError{codeFailure}
}
