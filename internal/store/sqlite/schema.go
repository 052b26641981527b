// This file has the format of the file and its migrations. Fsck compares the definitions as SQLite keeps them, text by
// text. So a blank more in a migration would make every older file one with a problem.

package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

const (
	// applicationID marks the file as ours, for this package and for file(1): "assy" in ASCII.
	applicationID = 0x61737379
	// pageSize is fixed, so that salvage knows it when the header is damaged.
	pageSize = 4096
)

// migrations[i] turns a file of version i into one of version i+1. A released migration is never edited;
// docs/format/store.md describes the newest version. Each statement ends with a semicolon at the end of a line, and has
// none before: see statementsOf.
var migrations = []string{`
CREATE TABLE studies (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	name    TEXT NOT NULL UNIQUE,
	spec    BLOB NOT NULL,
	created TEXT NOT NULL
);
CREATE TABLE events (
	study   INTEGER NOT NULL REFERENCES studies(id),
	seq     INTEGER NOT NULL,
	at      TEXT NOT NULL,
	payload TEXT NOT NULL,
	crc     INTEGER NOT NULL,
	hash    BLOB NOT NULL,
	PRIMARY KEY (study, seq)
) WITHOUT ROWID;
CREATE TABLE heads (
	study      INTEGER PRIMARY KEY REFERENCES studies(id),
	seq        INTEGER NOT NULL,
	hash       BLOB NOT NULL,
	running    INTEGER NOT NULL,
	done       INTEGER NOT NULL,
	censored   INTEGER NOT NULL,
	failed     INTEGER NOT NULL,
	infeasible INTEGER NOT NULL,
	best       INTEGER NOT NULL,
	best_value REAL,
	spent_ns   INTEGER NOT NULL,
	first      TEXT NOT NULL,
	last       TEXT NOT NULL,
	checks     INTEGER NOT NULL,
	ended      TEXT NOT NULL
);
CREATE TABLE trials (
	study    INTEGER NOT NULL REFERENCES studies(id),
	id       INTEGER NOT NULL,
	seq      INTEGER NOT NULL,
	state    TEXT NOT NULL,
	value    REAL,
	config   TEXT NOT NULL,
	metrics  TEXT NOT NULL,
	reason   TEXT NOT NULL,
	started  TEXT NOT NULL,
	ended    TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	PRIMARY KEY (study, id)
) WITHOUT ROWID;
`, `
ALTER TABLE heads RENAME TO heads_of_1;
CREATE TABLE heads (
	study      INTEGER PRIMARY KEY REFERENCES studies(id),
	seq        INTEGER NOT NULL,
	hash       BLOB NOT NULL,
	counts     TEXT NOT NULL,
	best       INTEGER NOT NULL,
	best_value REAL,
	spent_ns   INTEGER NOT NULL,
	first      TEXT NOT NULL,
	last       TEXT NOT NULL,
	checks     INTEGER NOT NULL,
	ended      TEXT NOT NULL
);
INSERT INTO heads SELECT study, seq, hash,
	json_object('running', running, 'done', done, 'censored', censored, 'failed', failed, 'infeasible', infeasible),
	best, best_value, spent_ns, first, last, checks, ended FROM heads_of_1;
DROP TABLE heads_of_1;
CREATE TABLE fence (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	last INTEGER NOT NULL
);
`, `
ALTER TABLE heads ADD COLUMN steered TEXT NOT NULL DEFAULT '';
ALTER TABLE heads ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN lost_ns INTEGER NOT NULL DEFAULT 0;
`}

// fileVersion returns the schema version of the file. It returns an error that matches [ErrForeign] or [ErrNewer] if
// this program must not touch it. It returns 0 for a database without anything in it. known is the newest version that
// this program can read. Nothing is written.
func fileVersion(ctx context.Context, c *sql.Conn, known int) (version int, err error) {
	var id, tables int
	for _, q := range []struct {
		text string
		to   *int
	}{
		{"PRAGMA application_id", &id},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := c.QueryRowContext(ctx, q.text).Scan(q.to); err != nil {
			return 0, classify(err)
		}
	}
	switch {
	// A file without our mark is refused unless it is empty: it is another program's.
	case id != applicationID && (id != 0 || version != 0 || tables != 0):
		return 0, fmt.Errorf("%w: its application id is %#x, not %#x", ErrForeign, uint32(id), applicationID)
	case version > known:
		return 0, fmt.Errorf("%w: format %d, this program knows formats up to %d", ErrNewer, version, known)
	// Mark and version are written in one transaction, so a mark without a version is damage.
	case version < 0, id == applicationID && version == 0:
		return 0, fmt.Errorf("%w: format %d", ErrDamaged, version)
	}
	return version, nil
}

// migrate brings the file to version len(steps), all in one transaction: a crash leaves the old version or the new
// one. No other process may write meanwhile. after, if not nil, is called with the number of statements done so far.
// A new file begins with version 0. after is for tests that end the process there. The error names both versions; the
// transaction has been rolled back.
func migrate(ctx context.Context, c *sql.Conn, steps []string, after func(done int)) error {
	version, err := fileVersion(ctx, c, len(steps))
	if err != nil || version == len(steps) {
		return err
	}
	todo := []string{"BEGIN IMMEDIATE"}
	for _, step := range steps[version:] {
		todo = append(todo, statementsOf(step)...)
	}
	todo = append(todo,
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", len(steps)),
		"COMMIT")
	for i, text := range todo {
		if _, err := c.ExecContext(ctx, text); err != nil {
			// If BEGIN failed, there is no transaction.
			if i > 0 {
				_, _ = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			}
			return fmt.Errorf("migration from format %d to %d: %w", version, len(steps), classify(err))
		}
		if after != nil {
			after(i + 1)
		}
	}
	return nil
}

// statementsOf returns the statements of a migration: each ends its line.
// The semicolons are dropped. A definition without its semicolon is also how SQLite keeps it.
func statementsOf(step string) (list []string) {
	for _, text := range strings.Split(step, ";\n") {
		if strings.TrimSpace(text) != "" {
			list = append(list, text)
		}
	}
	return list
}

// schemaText returns the definition of each table and index by name.
// SQLite's own tables and indices are among them; an index that a constraint made has no text.
func schemaText(ctx context.Context, c *sql.Conn) (map[string]string, error) {
	rows, err := c.QueryContext(ctx, "SELECT name, tbl_name, ifnull(sql, '') FROM sqlite_schema")
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	m := map[string]string{}
	for rows.Next() {
		var name, table, text string
		if err := rows.Scan(&name, &table, &text); err != nil {
			return nil, classify(err)
		}
		m[name] = table + ": " + text
	}
	return m, classify(rows.Err())
}
