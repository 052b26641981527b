// This file checks a file as a whole and rewrites the projections of the events. The order of trust is:
//   - events, whose checksums and hashes are verified; nothing here changes them
//   - record 0, from which a row of studies can be made again
//   - heads and trials, which are a projection of the events

package sqlite

import (
	"cmp"
	"context"
	"database/sql"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// The options and the report of Fsck are the same for every store in a database.
type (
	// FsckOptions are the options of [Store.Fsck].
	FsckOptions = store.FsckOptions
	// A Problem is one difference between the file and the written data.
	Problem = store.Problem
	// A Report is the result of [Store.Fsck].
	Report = store.Report
)

// Fsck reads the whole file: it runs SQLite's own check, verifies checksum and hash of every event, makes the states
// of all trials from the events again and compares them row by row. The problems of the file are in the report; an
// error means that the check itself could not be done. It sees one moment of the file, and keeps other processes from
// writing only to repair. It holds the trials of one study in memory. With Repair, the check and the repair are one
// transaction. If it fails, it is undone, and nothing in the report is repaired. Without it, the transaction only
// reads, on a connection of its own.
func (s *Store) Fsck(ctx context.Context, opts FsckOptions) (r Report, err error) {
	if opts.Repair {
		err = s.alone(ctx, func() error { return s.newChecker(s.conn, &r, true).file(ctx) })
		return r, err
	}
	if err := cmp.Or(ctx.Err(), s.usable(ctx)); err != nil {
		return r, err
	}
	c, err := s.reads.Load().Conn(ctx)
	if err != nil {
		return r, classify(err)
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return r, classify(err)
	}
	defer func() { _, _ = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	return r, s.newChecker(c, &r, false).file(ctx)
}

// A checker is one run of Fsck. It belongs to one goroutine. Its connection is in a transaction. For a repair it is the
// one that writes, and the run has the turn.
type checker struct {
	*store.Checker
	s *Store
	c *sql.Conn
}

// newChecker returns the checker of a store over the connection c.
func (s *Store) newChecker(c *sql.Conn, r *Report, repair bool) *checker {
	return &checker{s: s, c: c, Checker: &store.Checker{
		DB: c, Report: r, Repair: repair,
		Damage: func(err error) error { return scanError(classify(err)) },
		PutTrial: func(ctx context.Context, id int64, c store.TrialColumns) error {
			_, err := s.stmts.trial.ExecContext(ctx, append([]any{id}, c.Args()...)...)
			return err
		},
		PutHead: func(_ context.Context, id int64, hash []byte, sum assay.Summary) error {
			return s.advance(id, hash, sum)
		},
	}}
}

func (f *checker) file(ctx context.Context) error {
	if f.Repair {
		// The indices come first: the later queries may use them, and a wrong one hides rows. Repairs of REINDEX are not in
		// the report.
		if _, err := f.c.ExecContext(ctx, "REINDEX"); err != nil {
			if err := f.Fault("", "indices", err); err != nil {
				return err
			}
		}
	}
	for _, check := range []func(context.Context) error{f.schema, f.integrity, f.Orphans, f.Studies} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// schema compares the definitions of the tables with the definitions in a new file. It compares the text as SQLite
// keeps it, so a new file must be made by the same migrations.
func (f *checker) schema(ctx context.Context) error {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	// Each connection to :memory: has a database of its own, so the two uses share one.
	fresh, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer fresh.Close()
	if err := migrate(ctx, fresh, f.s.opts.migrations, nil); err != nil {
		return err
	}
	want, err := schemaText(ctx, fresh)
	if err != nil {
		return err
	}
	got, err := schemaText(ctx, f.c)
	if err != nil {
		return f.Fault("", "sqlite_schema", err)
	}
	for name := range want {
		if got[name] != want[name] {
			f.Report.Add("", "sqlite_schema", "the definition of %s is %q, not %q", name, got[name], want[name])
		}
		delete(got, name)
	}
	for name := range got {
		f.Report.Add("", "sqlite_schema", "%s is not ours", name)
	}
	return nil
}

// integrity runs SQLite's own check of b-trees, indices and constraints. Its 1000 is the most
// problems that it lists; SQLite's default is 100.
func (f *checker) integrity(ctx context.Context) error {
	return f.Rows(ctx, "", "integrity_check", func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if text != "ok" {
			f.Report.Add("", "integrity_check", "%s", text)
		}
		return nil
	}, "PRAGMA integrity_check(1000)")
}
