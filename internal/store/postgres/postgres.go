// This file opens and closes, and asks again when a server is away for a while.

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// defaultSchema is where the tables are unless the address has a search_path.
const defaultSchema = "assay"

// connections is how many a store has at the most: that many studies are written at once, and
// the server puts their commits together.
const connections = 32

// Options are the options of [Open]. The zero value is the default.
type Options struct {
	// Wait is how long a call asks again when the server is away, restarts or does not answer; 0 means half a minute. A
	// call that is waited for is given up after a third of it, and made again.
	Wait time.Duration
	// Look makes no tables: where there are none, Open returns fs.ErrNotExist.
	Look bool
}

// A Store keeps studies in a PostgreSQL database. It is safe for concurrent use, by several
// processes of several machines too.
//
// An Append is one statement, so one round trip and one commit, as long as this store was the
// last to write to the study; otherwise it reads first where the record ends.
type Store struct {
	db     *sql.DB
	name   string // the address without its secrets
	schema string
	opts   Options
	heads  heads
	closed atomic.Bool
	// alive ends with the store, and with it the renewal of locks.
	alive context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup
}

var (
	_ assay.Store     = (*Store)(nil)
	_ assay.Remover   = (*Store)(nil)
	_ assay.Locker    = (*Store)(nil)
	_ assay.Leaser    = (*Store)(nil)
	_ assay.Watcher   = (*Store)(nil)
	_ assay.Projector = (*Store)(nil)
	_ store.Copier    = (*Store)(nil)
)

// Open opens the store of an address, postgres://USER@HOST:PORT/DATABASE?PARAMETERS, as in libpq; missing parts are
// taken from the environment (PGHOST, PGPASSWORD, PGPASSFILE, ...) and ~/.pgpass. Open makes missing tables, in the
// schema "assay", or in the search_path of the address.
//
// It returns an error that matches [ErrUnsafe] if the server would acknowledge data that it may lose
// (synchronous_commit or fsync off). The store must be closed. No error has the password.
func Open(ctx context.Context, address string, opts Options) (*Store, error) {
	if opts.Wait == 0 {
		opts.Wait = 30 * time.Second
	}
	name := store.MaskAddress(address)
	c, err := pgx.ParseConfig(address)
	if err != nil {
		// The parser's message may quote the address.
		return nil, assay.Errorf(assay.ClassUsage, "%s: not an address of a database "+
			"(postgres://USER@HOST:PORT/DATABASE)", name)
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "assay"
	}
	s := &Store{name: name, schema: c.RuntimeParams["search_path"], opts: opts}
	if s.schema == "" {
		s.schema = defaultSchema
	}
	c.RuntimeParams["search_path"] = quoted(s.schema)
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = opts.Wait / 3
	}
	s.alive, s.end = context.WithCancel(context.Background())
	s.db = stdlib.OpenDB(*c, stdlib.OptionAfterConnect(checkServer))
	s.db.SetMaxOpenConns(connections)
	s.db.SetMaxIdleConns(connections)
	s.db.SetConnMaxIdleTime(time.Minute)
	if err := s.retry(ctx, starting, s.migrate); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), s.Close())
	}
	return s, nil
}

// checkServer looks at each new connection before it is used.
func checkServer(ctx context.Context, c *pgx.Conn) error {
	var commit, fsync, encoding string
	err := c.QueryRow(ctx, `SELECT current_setting('synchronous_commit'), current_setting('fsync'),
		current_setting('server_encoding')`).Scan(&commit, &fsync, &encoding)
	switch {
	case err != nil:
		return err
	case commit == "off":
		return assay.WithHint(fmt.Errorf("%w: synchronous_commit is off", ErrUnsafe),
			"add ?synchronous_commit=on to the address, or ALTER ROLE ... SET synchronous_commit = on")
	case fsync == "off":
		return fmt.Errorf("%w: fsync is off", ErrUnsafe)
	case encoding != "UTF8":
		return assay.Errorf(assay.ClassUsage, "the database has the encoding %s, not UTF8", encoding)
	}
	return nil
}

// away reports whether a call that got err may be made again: the server is away, or gone for good, which cannot be
// distinguished.
func away(err error) bool { return errors.Is(err, ErrUnavailable) }

// starting is away for opening: a missing server is a mistake in the address more often than one that restarts, but a
// server that reports its start will be there.
func starting(err error) bool {
	e, is := errors.AsType[*pgconn.PgError](err)
	return is && away(err) && e.Code == "57P03"
}

// retry calls f until its error is not one that again allows, for at most Options.Wait. f may run twice although it
// has succeeded: it must then write the same. The error is in its class. The error of a context that has ended is the
// context's.
func (s *Store) retry(ctx context.Context, again func(error) bool, f func(ctx context.Context) error) error {
	end := time.Now().Add(s.opts.Wait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		switch {
		case s.closed.Load():
			return fmt.Errorf("%w", fs.ErrClosed)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		try, cancel := context.WithTimeout(ctx, s.opts.Wait/3)
		err := classify(f(try))
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && (away(err) || errors.Is(err, ctx.Err())):
			return ctx.Err()
		case s.closed.Load():
			return fmt.Errorf("%w", fs.ErrClosed)
		case !again(err) || time.Now().After(end):
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close closes the store; later calls match fs.ErrClosed. A write that runs is waited for. Locks
// and leases are not renewed any more, and end by themselves.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.end()
	s.tasks.Wait()
	return s.db.Close()
}
