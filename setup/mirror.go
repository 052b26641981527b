package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/store"
)

// mirrored returns the store that a study writes its record to: if the runner has a place that outlives this machine,
// the store keeps a copy of the record there. Close closes it after the runner, which may write when it is closed.
func (s *Study) mirrored(ctx context.Context, c claim, r opened) (assay.Store, error) {
	from, is := s.store.Store.(store.Copier)
	if r.record == "" || !is {
		return s.store.Store, nil
	}
	if !c.resumed {
		s.Notes = append(s.Notes, lost(filepath.Dir(r.record), c.name, r.record)...)
	}
	m, err := openMirror(ctx, from, c.name, r.record, s.Problem.opts.Warn)
	switch {
	case errors.Is(err, errAhead):
		return nil, assay.WithHint(err, "was an old copy of the store put back? assay study recover "+
			report.ShellQuote([]string{r.record})+" brings the events back that it lacks")
	case errors.Is(err, store.ErrOther):
		return nil, assay.WithHint(err,
			"two stores have continued one study: continue in the other, or give this one its own spool (--spool DIR)")
	case err != nil:
		return nil, spoolError(filepath.Dir(r.record), err)
	}
	s.close = append(s.close, m.Close)
	return m, nil
}

// lost returns a warning for a new study if the spool has another one of its name: that study's store may be lost.
func lost(spool, name, but string) []string {
	copies, err := Copies(spool)
	if err != nil {
		return nil // it is a note
	}
	for _, c := range copies {
		if c.Err == nil && c.Study == name && c.Path != but {
			return []string{fmt.Sprintf("the spool has the record of an earlier study %s; if its store is lost, assay study "+
				"recover %s brings it back",
				report.Visible(name), report.ShellQuote([]string{c.Path}))}
		}
	}
	return nil
}

// A RecordCopy is the copy of a record in a file.
type RecordCopy struct {
	Path string
	store.Creation
	Err error // the study cannot be read of it
}

// Copies returns the copies in a spool, or the copy in a file; the newest study comes first.
func Copies(at string) ([]RecordCopy, error) {
	paths := []string{at}
	if info, err := os.Stat(at); err != nil {
		return nil, err
	} else if info.IsDir() {
		entries, err := os.ReadDir(at)
		if err != nil {
			return nil, err
		}
		paths = paths[:0]
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), copySuffix) {
				paths = append(paths, filepath.Join(at, e.Name()))
			}
		}
	}
	all := make([]RecordCopy, len(paths))
	for i, path := range paths {
		c, err := copiedCreation(path)
		all[i] = RecordCopy{path, c, err}
	}
	slices.SortStableFunc(all, func(a, b RecordCopy) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// Recover brings a study back into a store from the copy of its record: see recoverCopy. No process may run the
// study in that store meanwhile.
func Recover(ctx context.Context, c RecordCopy, to *Store) (did store.Copied, err error) {
	b, is := to.Store.(store.Copier)
	if !is {
		return did, usagef("a store in memory cannot take a recovered study")
	}
	release, err := to.Lock(ctx, c.Study)
	if err != nil {
		return did, err
	}
	did, err = recoverCopy(ctx, c.Path, b)
	err = errors.Join(err, release())
	if errors.Is(err, store.ErrOther) {
		err = assay.WithHint(err, "give each its own store: "+report.ShellQuote([]string{c.Path})+" (--store FILE)")
	}
	return did, err
}
