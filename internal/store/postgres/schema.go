// This file has the tables and their migrations.

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// migrationKey is the advisory lock under which the tables are made and changed: "assay" in
// ASCII. Nothing else of the store takes one.
const migrationKey = 0x6173736179

// migrations[i] turns tables of version i into tables of version i+1. A released migration is never edited;
// docs/format/store.md describes the newest version.
//
// Names are ordered by their bytes, as in every store. Only heads refers to studies: a reference from events would
// lock the row of the study at every Append, and the head, without which there is no Append, does as well. Half of
// each page of heads is left free, so that a new version of a row stays on its page.
func migrations() []string {
	return []string{`
CREATE TABLE studies (
	id      BIGINT PRIMARY KEY,
	name    TEXT COLLATE "C" NOT NULL UNIQUE,
	spec    BYTEA NOT NULL,
	created TEXT NOT NULL
);
CREATE SEQUENCE study_ids;
CREATE TABLE events (
	study   BIGINT NOT NULL,
	seq     BIGINT NOT NULL,
	at      TEXT NOT NULL,
	payload TEXT NOT NULL,
	crc     BIGINT NOT NULL,
	hash    BYTEA NOT NULL,
	PRIMARY KEY (study, seq)
);
CREATE TABLE heads (
	study      BIGINT PRIMARY KEY REFERENCES studies(id),
	seq        BIGINT NOT NULL,
	hash       BYTEA NOT NULL,
	counts     TEXT NOT NULL,
	best       BIGINT NOT NULL,
	best_value DOUBLE PRECISION,
	spent_ns   BIGINT NOT NULL,
	first      TEXT NOT NULL,
	last       TEXT NOT NULL,
	checks     BIGINT NOT NULL,
	ended      TEXT NOT NULL,
	steered    TEXT NOT NULL,
	priority   BIGINT NOT NULL,
	lost_ns    BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE trials (
	study    BIGINT NOT NULL,
	id       BIGINT NOT NULL,
	seq      BIGINT NOT NULL,
	state    TEXT NOT NULL,
	value    DOUBLE PRECISION,
	config   TEXT NOT NULL,
	metrics  TEXT NOT NULL,
	reason   TEXT NOT NULL,
	started  TEXT NOT NULL,
	ended    TEXT NOT NULL,
	attempts BIGINT NOT NULL,
	PRIMARY KEY (study, id)
);
CREATE TABLE owners (
	study   TEXT COLLATE "C" PRIMARY KEY,
	fence   BIGINT NOT NULL,
	holder  TEXT NOT NULL,
	host    TEXT NOT NULL,
	pid     BIGINT NOT NULL,
	place   TEXT NOT NULL,
	token   TEXT NOT NULL,
	since   TIMESTAMPTZ NOT NULL,
	expires TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE format (
	id      BIGINT PRIMARY KEY CHECK (id = 1),
	version BIGINT NOT NULL
);
`}
}

// migrate brings the tables to the newest version, in one transaction: a crash leaves the old version or the new one.
// With opts.Look it makes nothing, and tables that are not there are fs.ErrNotExist. Tables that are up to date are
// neither locked nor written to, so that a user may use them who may not make any.
func (s *Store) migrate(ctx context.Context) error {
	steps := migrations()
	version, err := s.version(ctx, s.db, len(steps))
	if err != nil || version == len(steps) {
		return err
	}
	if s.opts.Look && version == 0 {
		return fmt.Errorf("no store is in schema %s: %w", s.schema, fs.ErrNotExist)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, behind a commit
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationKey)); err != nil {
		return err
	}
	// Another may have been quicker.
	if version, err = s.version(ctx, tx, len(steps)); err != nil || version == len(steps) {
		return err
	}
	var todo []string
	if version == 0 {
		todo = append(todo, `CREATE SCHEMA IF NOT EXISTS `+quoted(s.schema))
	}
	for _, step := range steps[version:] {
		todo = append(todo, strings.Split(strings.TrimSpace(step), ";\n")...)
	}
	todo = append(todo, fmt.Sprintf(`INSERT INTO format (id, version) VALUES (1, %d)
		ON CONFLICT (id) DO UPDATE SET version = EXCLUDED.version`, len(steps)))
	for _, text := range todo {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("migration from format %d to %d: %w", version, len(steps), err)
		}
	}
	return tx.Commit()
}

// quoted returns a name as an identifier of SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// version returns the version of the tables, 0 without tables. Any other table in our schema belongs to another
// program, and so does the schema.
func (s *Store) version(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}, known int,
) (version int, err error) {
	var format bool
	var tables int
	err = db.QueryRowContext(ctx, `SELECT coalesce(bool_or(tablename = 'format'), false), count(*)
		FROM pg_tables WHERE schemaname = $1`, s.schema).Scan(&format, &tables)
	switch {
	case err != nil:
		return 0, err
	case !format && tables > 0:
		return 0, fmt.Errorf("%w: schema %s has %d tables, and none is called format", ErrForeign, s.schema, tables)
	case !format:
		return 0, nil
	}
	err = db.QueryRowContext(ctx, `SELECT version FROM format WHERE id = 1`).Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && version < 1:
		return 0, fmt.Errorf("%w: the format is missing", ErrDamaged)
	case err == nil && version > known:
		return 0, fmt.Errorf("%w: format %d, this program knows formats up to %d", ErrNewer, version, known)
	}
	return version, err
}
