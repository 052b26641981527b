package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
)

func recoverCommand(s streams, f *studyFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "recover SPOOL|FILE [STUDY...]",
		Short: "bring studies back whose store was lost, from the copies in a spool",
		Long: `recover brings studies whose runs are jobs of a batch system back into a store.
As events come, a copy of each study's record is kept in the spool, in a file
NAME-HASH.events. recover reads the copies, checks the hashes that show whether
anything is missing, and puts the missing events into the store. Then assay tune
resumes the study: jobs that wait, run or have ended are found by their names,
and none is submitted again.

Without STUDY all studies of the spool are brought back. If several have one name,
recover takes the latest; a FILE brings back another. A different study of
the same name in the store is never changed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return recoverStudies(cmd.Context(), s, f.store, args[0], args[1:])
		},
	}
}

// recoverStudies brings back all that it can: a copy that cannot be read holds up no other.
func recoverStudies(ctx context.Context, s streams, address, at string, names []string) error {
	copies, err := wanted(s, at, names)
	if err != nil {
		return err
	}
	to, err := setup.OpenStore(ctx, address)
	if err != nil {
		return err
	}
	defer to.Close()
	var failed []error
	for _, c := range copies {
		if c.Err != nil {
			failed = append(failed, c.Err)
			continue
		}
		did, err := setup.Recover(ctx, c, to)
		if err != nil {
			failed = append(failed, err)
			if did.Events == 0 || !errors.Is(err, store.ErrDamaged) {
				continue
			}
		}
		more := ""
		if did.More > 0 {
			more = fmt.Sprintf("; the store has %d more", did.More)
		}
		if err != nil {
			more += "; the rest is damaged"
		}
		if _, err := fmt.Fprintf(s.out, "%s: %d events, %d of them new, verified%s\n",
			report.Visible(c.Study), did.Events, did.New, more); err != nil {
			return err
		}
	}
	return errors.Join(append(failed, to.Close())...)
}

// wanted returns the copies of the named studies: the newest copy for each name, or all copies without names. Without
// names they include unreadable copies. wanted prints which copies it leaves out.
func wanted(s streams, at string, names []string) ([]setup.RecordCopy, error) {
	copies, err := setup.Copies(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%s: no such file or directory: the spool of a study is its --spool, or place.spool", at)
	}
	if err != nil {
		return nil, err
	}
	var all []setup.RecordCopy
	of := map[string]setup.RecordCopy{}
	for _, c := range copies {
		if c.Err != nil {
			if len(names) == 0 {
				all = append(all, c)
			}
			continue
		}
		if len(names) > 0 && !slices.Contains(names, c.Study) {
			continue
		}
		if newer, is := of[c.Study]; is {
			fmt.Fprintf(s.err, "assay: %s is left out: its study %s is older than the one in %s\n",
				c.Path, report.Visible(c.Study), newer.Path)
			continue
		}
		of[c.Study] = c
		all = append(all, c)
	}
	for _, name := range names {
		if _, is := of[name]; !is {
			return nil, usagef("%s: no copy of a study %q: nothing was brought back", at, name)
		}
	}
	if len(all) == 0 {
		return nil, usagef("%s: no copies of studies in it: is it the spool (--spool, place.spool)?", at)
	}
	return all, nil
}
