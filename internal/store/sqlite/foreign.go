package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
)

// This file opens databases that other programs have written. They are read, and nothing else.

// magic begins every file of SQLite.
const magic = "SQLite format 3\x00"

// IsDatabase reports whether a file is a database of SQLite.
func IsDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte(magic))
}

// OpenForeign opens the database of another program, which may be writing to it, to be read. The caller closes it.
func OpenForeign(ctx context.Context, path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, "mode=ro", "_query_only=1", "_busy_timeout=5000"))
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, classify(err)
	}
	return db, nil
}
