// This file opens a store on a file system that is mounted read-only, such as a snapshot or an archive: it can be
// looked at, and nothing else.

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/assay-run/assay"
)

// ErrReadOnly reports that the store is on a file system that is mounted read-only, where it can only be read.
var ErrReadOnly = assay.WithHint(assay.Errorf(assay.ClassUsage, "the file system of the store is mounted read-only"),
	"--store PATH names another store; a copy of the file, with its -wal and locks, can be written")

// canOnlyRead reports whether err, of an attempt to open the store at path, means that the store exists and no file
// can be made beside it.
func canOnlyRead(path string, err error) bool {
	if !errors.Is(err, syscall.EROFS) {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

// openReadOnly opens the file for reading alone. No lock can be taken there and no index of a log made: SQLite is
// configured to treat the file as unchanging, which is so as long as it is mounted read-only everywhere. A log with
// content, and a file of an earlier format, are refused, because reading them needs writing.
func (s *Store) openReadOnly(ctx context.Context) error {
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("%w, and a part of it is still in its log %s-wal", ErrReadOnly, s.path)
	}
	reads, err := sql.Open("sqlite", dsn(s.path, "mode=ro", "immutable=1", "_query_only=1"))
	if err != nil {
		return err
	}
	reads.SetMaxOpenConns(4)
	s.reads.Store(reads)
	s.readOnly = true
	if err := readyToRead(ctx, reads, s.file, len(s.opts.migrations)); err != nil {
		_ = s.disconnect() // err is more informative
		return err
	}
	return nil
}

// readyToRead refuses a file that is not ours, that needs a migration to the known format, or that lacks the event of
// its mark.
func readyToRead(ctx context.Context, reads *sql.DB, f file, known int) error {
	c, err := reads.Conn(ctx)
	if err != nil {
		return classify(err)
	}
	defer c.Close()
	switch version, err := fileVersion(ctx, c, known); {
	case err != nil:
		return err
	case version == 0:
		return fmt.Errorf("%w: it is an empty database", ErrForeign)
	case version < known:
		return fmt.Errorf("%w, and it needs the migration from format %d to %d", ErrReadOnly, version, known)
	}
	return f.checkMark(ctx, c)
}
