package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/store/sqlite"
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
	ok, err := fsckStore(ctx, w, h, repair)
	// Closing another handle of the file would end the locks of this one.
	if err = errors.Join(err, h.Close()); err != nil || ok {
		return err
	}
	if repair {
		return salvage(ctx, w, at)
	}
	return &exitError{codeFailure}
}

// fsckStore prints the faults of a store, and reports whether it is now intact.
func fsckStore(ctx context.Context, w io.Writer, h *setup.Store, repair bool) (ok bool, err error) {
	s, is := h.Store.(interface {
		Fsck(ctx context.Context, opts store.FsckOptions) (store.Report, error)
	})
	if !is {
		return false, usagef("this store has nothing to check")
	}
	r, err := s.Fsck(ctx, store.FsckOptions{Repair: repair})
	if err != nil {
		return false, err
	}
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintln(&b, p)
	}
	found := "ok"
	if !r.OK() {
		found = fmt.Sprintf("%d problems", len(r.Problems))
	}
	fmt.Fprintf(&b, "%s, %d events, %d trials checked: %s\n", report.Count(int(r.Studies), "study", "studies"), r.Events,
		r.Trials, found)
	_, err = io.WriteString(w, b.String())
	return r.OK(), err
}

// salvage saves the intact events of a damaged store into another one next to it. It ends with the code of a failure:
// the original store is still damaged.
func salvage(ctx context.Context, w io.Writer, at string) error {
	at, err := setup.StorePath(at)
	if err != nil {
		return err
	}
	if at == "" { // a database has its own tools for this
		return &exitError{codeFailure}
	}
	dst := at + ".salvaged"
	for n := 2; ; n++ {
		if _, err := os.Lstat(dst); errors.Is(err, fs.ErrNotExist) {
			break
		}
		dst = fmt.Sprintf("%s.salvaged-%d", at, n)
	}
	saved, err := sqlite.Salvage(ctx, at, dst, sqlite.Options{})
	if err != nil {
		return err
	}
	var b strings.Builder
	events := int64(0)
	for _, r := range saved {
		events += r.Events
		fmt.Fprintf(&b, "%s: %d events saved", r.Study, r.Events)
		for i, gap := range r.Lost {
			fmt.Fprintf(&b, "%s %s", [2]string{", lost:", ","}[min(i, 1)], span(gap))
		}
		if r.Guessed {
			b.WriteString("; its name and specification are not certain")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d events of %s saved in %s\n", events, report.Count(len(saved), "study", "studies"), dst)
	fmt.Fprintf(&b, "%s is left as it is\n", at)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return &exitError{codeFailure}
}

// span returns "7" or "7 to 9".
func span(gap [2]int64) string {
	if gap[0] == gap[1] {
		return fmt.Sprint(gap[0])
	}
	return fmt.Sprintf("%d to %d", gap[0], gap[1])
}
