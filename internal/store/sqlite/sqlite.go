// This file opens, creates, heals and closes. A store has two sets of connections:
//   - one connection that writes, for the holder of the turn
//   - up to four that read, which need no turn
//
// All of SQLite's durability rests on two settings of the first: WAL mode and synchronous=FULL.

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// Options are the options of [Open]. The zero value is the default.
type Options struct {
	// Wait is how long a call waits for other processes that write to the same
	// file; 0 means one minute. Writes take turns of about a millisecond.
	Wait time.Duration
	// AnyFileSystem opens the file on a file system that is refused otherwise.
	// It is the caller's promise that one machine at a time uses the file.
	AnyFileSystem bool

	synchronous string         // FULL unless a test needs a control that must fail
	migrations  []string       // the package's unless a test has its own
	migrated    func(done int) // for tests, see migrate
	groupMost   int            // see the constant; 1 is a control without groups
	committing  func()         // for tests: called before each COMMIT
}

// A Store keeps studies in one SQLite file in WAL mode with synchronous=FULL. It is safe for concurrent use, by
// several processes of one machine too.
//
// Append costs one synchronous write, for any number of events, and some 100 µs; it does not depend on the number of
// trials. Appends that wait for each other share the write: they go into one transaction, each with its own error.
// After an error that matches [ErrIO] the connections are broken: a disk that failed to write may claim success when
// it is asked again. The next call opens the file again, which writes the content of the log a second time,
// elsewhere; it returns [ErrBroken] if that fails too. Open locks stay.
type Store struct {
	writer // for the goroutine that has the turn, except for the path and the options, which stay

	readOnly bool // set by Open; see openReadOnly

	// Readers take reads without the turn, so heal puts a new one in its place as a whole.
	reads   atomic.Pointer[sql.DB]
	turn    chan struct{} // holds a value while a goroutine uses the writer
	waiting queue         // written by the next holder of the turn

	// broken is set by a goroutine that has the turn, and looked at by all. The first failure
	// stays until heal has succeeded; fs.ErrClosed stays for ever.
	broken atomic.Pointer[error] // the write that failed, or fs.ErrClosed
	// close calls shut once, and returns the same error ever after.
	close func() error
}

// A file is a store by its path, which is absolute and has no symbolic link. Other files beside it belong to it.
type file struct{ path string }

// A writer is the connection that writes, within a transaction that [Store] begins and ends.
type writer struct {
	file
	opts Options

	db    *sql.DB
	conn  *sql.Conn // the only connection of db
	stmts statements

	tail, marked mark     // the last event of the transaction, and the mark's
	marks        *os.File // nil until the first mark is written
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

// Open opens the store at path, or creates it with its directory if it does not exist. New directories have mode 0700
// and files 0600.
//
// It returns an error that matches [ErrFileSystem] on a file system that two machines may share, [ErrNewer] for a
// file of a newer version, [ErrForeign] for any other SQLite file, and [ErrDamaged] for a file that lost data; see
// [Salvage]. The store must be closed. On a file system that is mounted read-only it can be read, and writes return
// an error that matches [ErrReadOnly]. Two stores of one process on the same path are like two processes. If Open
// fails, no connection is left open; the directories stay.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.Wait == 0 {
		opts.Wait = time.Minute
	}
	if opts.synchronous == "" {
		opts.synchronous = "FULL"
	}
	if opts.groupMost == 0 {
		opts.groupMost = groupMost
	}
	if opts.migrations == nil {
		opts.migrations = migrations
	}
	path, err := prepareDir(path, opts)
	if err != nil && !canOnlyRead(path, err) {
		return nil, err
	}
	s := &Store{writer: writer{file: file{path}, opts: opts}, turn: make(chan struct{}, 1)}
	s.close = sync.OnceValue(s.shut)
	if err == nil {
		err = s.open(ctx, s.create)
	}
	if canOnlyRead(path, err) {
		err = s.openReadOnly(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !s.readOnly {
		s.keepReserve()
	}
	return s, nil
}

// prepareDir makes the directories of the store and returns its path without symbolic links, so that every process
// finds the same locks beside it. It refuses an unsafe file system before it makes the directory of locks there. The
// file itself need not exist. With an error there is a path only if it is the locks that cannot be made.
func prepareDir(path string, opts Options) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", noDir(path, err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if !opts.AnyFileSystem {
		if err := checkFileSystem(dir); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, filepath.Base(path))
	if err := os.MkdirAll(filepath.Join(dir, lockDir), 0o700); err != nil {
		return path, noDir(path, err)
	}
	return path, nil
}

// noDir returns the error of a directory of the store at path that cannot be made: [ErrIO] if the disk is the reason,
// and one of the class usage if nothing can be made at that place by this user.
func noDir(path string, err error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, full) {
			return fmt.Errorf("%w: %w", ErrIO, err)
		}
	}
	return assay.Errorf(assay.ClassUsage, "no store can be made at %s: %w", path, err)
}

// open opens the connections. One process at a time does that: SQLite changes the journal mode, recovers and migrates
// without waiting for its locks. If there is no file, missing makes it. The caller has the turn, or is the only one
// that knows s. If open fails, the connections are closed, and the lock of the opening is free again either way.
func (s *Store) open(ctx context.Context, missing func(context.Context) error) (err error) {
	release, err := waitFlock(ctx, s.lockPath("open"), s.opts.Wait)
	if err != nil {
		return err
	}
	defer release()
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = missing(ctx)
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%w: it is not a regular file", ErrForeign)
	// create never leaves such a file, and SQLite would take an empty one for new and hide the loss.
	case err == nil && info.Size() < pageSize:
		err = fmt.Errorf("%w: it has only %d bytes; remove it if it never was a store", ErrDamaged, info.Size())
	}
	if err != nil {
		return err
	}
	if s.db, s.conn, err = dial(ctx, s.path, s.opts); err != nil {
		return err
	}
	reads, err := sql.Open("sqlite", dsn(s.path, "_query_only=1", "_busy_timeout="+millis(s.opts.Wait)))
	if err == nil {
		// A fifth reader waits. No connection is taken while the caller of an iterator has a value.
		reads.SetMaxOpenConns(4)
		s.reads.Store(reads)
		err = s.ready(ctx)
	}
	if err != nil {
		_ = s.disconnect() // err is more informative
	}
	return err
}

// disconnect closes the connections that there are. It can be called with some of them missing. The pointer to reads
// stays, closed, for readers that are on their way: they fail, and find out in read.
func (s *Store) disconnect() (err error) {
	if reads := s.reads.Load(); reads != nil {
		err = reads.Close()
	}
	// The writer is the last: only it may fold the log.
	return classify(errors.Join(err, s.hangUp()))
}

// hangUp closes the connection, if there is one.
func (w *writer) hangUp() (err error) {
	if w.conn != nil {
		err = errors.Join(w.stmts.close(), w.conn.Close(), w.db.Close())
	}
	if w.marks != nil {
		_ = w.marks.Close() // its content is a courtesy
	}
	w.db, w.conn, w.stmts, w.marks = nil, nil, statements{}, nil
	w.tail, w.marked = mark{}, mark{}
	return err
}

// heal opens the file again after a write that failed. The caller has the turn. To ask the same connection again is no
// good. After a failed fsync the kernel may count the pages as clean, so that the next one succeeds although nothing is
// on the disk. The error matches:
//   - fs.ErrClosed, if the store was closed
//   - the context's, if that has ended; the store stays broken
//   - [ErrBroken], the first failure and the last, if the file cannot be opened
func (s *Store) heal(ctx context.Context) error {
	failure := s.broken.Load()
	switch {
	case failure == nil:
		return nil
	case errors.Is(*failure, fs.ErrClosed):
		return fmt.Errorf("%w", fs.ErrClosed)
	}
	_ = s.disconnect() // the failed write has reported it
	err := s.open(ctx, func(context.Context) error { return fmt.Errorf("%w: the file is gone", ErrDamaged) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w: %w", ErrBroken, *failure, err)
	}
	s.broken.Store(nil)
	return nil
}

// ready brings an opened file to the state in which it can be used. The order matters. A file that is not ours is
// refused before anything is written to it, and the log is looked at before a checkpoint folds it into the file.
func (w *writer) ready(ctx context.Context) error {
	version, err := fileVersion(ctx, w.conn, len(w.opts.migrations))
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: it is an empty database", ErrForeign) // ours are never
	}
	if err != nil {
		return err
	}
	if err := migrate(ctx, w.conn, w.opts.migrations, w.opts.migrated); err != nil {
		return err
	}
	if err := w.checkWAL(ctx); err != nil {
		return err
	}
	// Content of the log after a crash may be in the page cache only, if the crash was a failed fsync. A checkpoint
	// writes it again, elsewhere.
	var busy, log, done int
	err = w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &log, &done)
	// Another process may be at a checkpoint itself; that does as well.
	if err != nil && !isBusy(err) {
		return classify(err)
	}
	// Up to here SQLite waits for all of Options.Wait; from here on begin does, in short turns.
	if _, err := w.conn.ExecContext(ctx, "PRAGMA busy_timeout = "+millis(turnLength)); err != nil {
		return classify(err)
	}
	return w.stmts.prepare(ctx, w.conn)
}

// create makes the file under another name, so that a crash leaves none or a whole one: a file that is too short is
// always damage. The caller has the lock of the opening, so a file NAME.new is of a process that has ended. A crash
// leaves:
//   - before the rename, NAME.new and its log, which the next call removes
//   - behind it, a whole file, whose name may be gone after a power cut until the directory is
//     synced
func (w *writer) create(ctx context.Context) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		// Left by a file that was removed; SQLite would take them for ours.
		if info, err := os.Stat(w.path + suffix); err == nil && info.Size() > 0 && suffix == "-wal" {
			return fmt.Errorf("%w: the file is gone, but its log %s is there", ErrDamaged, filepath.Base(w.path)+suffix)
		}
		os.Remove(w.path + suffix)
	}
	// It speaks of a file that was removed, whose number may be given again.
	if err := os.Remove(w.markPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	fresh := w.path + ".new"
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(fresh + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrIO, err)
		}
	}
	// SQLite would make it with mode 0644. It gives its log and index the mode of the file.
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	f.Close()
	db, conn, err := dial(ctx, fresh, w.opts)
	if err != nil {
		return err
	}
	err = migrate(ctx, conn, w.opts.migrations, w.opts.migrated)
	// One rename moves all if the log has been folded into the file. The close of the last connection would do that too,
	// without reporting a failure.
	if err == nil {
		err = fold(ctx, conn)
	}
	if err = errors.Join(err, conn.Close(), db.Close()); err != nil {
		return classify(err)
	}
	if err := os.Rename(fresh, w.path); err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	return syncDir(filepath.Dir(w.path))
}

// fold writes the log of the only connection to a file into the file.
func fold(ctx context.Context, conn *sql.Conn) error {
	var busy, frames, folded int
	err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &folded)
	if err == nil && (busy != 0 || frames != folded) {
		err = fmt.Errorf("%w: %d of %d pages of the log are in the file", ErrIO, folded, frames)
	}
	return err
}

// dial opens one connection for writing, in WAL mode. If it fails, nothing is left open. Settings of the file, such
// as the page size, work only while it is new; settings of the connection are given each time.
func dial(ctx context.Context, path string, opts Options) (*sql.DB, *sql.Conn, error) {
	db, err := sql.Open("sqlite", dsn(path,
		"_busy_timeout="+millis(opts.Wait),
		fmt.Sprintf("_pragma=page_size(%d)", pageSize),
		"_pragma=secure_delete(1)", // salvage must not find removed data
		"_foreign_keys=1",
		"_journal_mode=WAL",
		"_synchronous="+opts.synchronous))
	if err != nil {
		return nil, nil, err
	}
	// The caller keeps this one; db must not open another behind its back.
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, nil, classify(err)
	}
	var mode string
	if err = conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err == nil && mode != "wal" {
		err = fmt.Errorf("%w: no shared memory for a WAL", ErrFileSystem)
	}
	if err != nil {
		conn.Close()
		db.Close()
		return nil, nil, classify(err)
	}
	return db, conn, nil
}

// dsn returns the data source name of the file at the absolute path. _dqs=0 makes a string in double quotes an error
// rather than text: a column that is misspelt is found. params are put in as they are, so they need no escaping.
func dsn(path string, params ...string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_error_rc=1&_dqs=0"}
	for _, p := range params {
		u.RawQuery += "&" + p
	}
	return u.String()
}

// millis returns d as SQLite's busy timeout takes it: in whole milliseconds.
func millis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// syncDir makes the names in dir durable. A rename is durable only with its directory: fsync of a file does not cover
// its name (fsync(2)).
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	return nil
}

// Path returns the path of the file.
func (s *Store) Path() string { return s.path }

// Close closes the store; later calls match fs.ErrClosed. The last process to close the file folds its log into it.
// It waits for a running write. Every call returns the error of the first. Locks and leases stay with their holders.
func (s *Store) Close() error { return s.close() }

// shut closes the connections. It marks the store first, so that no call that comes now opens them again.
func (s *Store) shut() error {
	s.turn <- struct{}{} // when a running write has ended
	defer func() { <-s.turn }()
	closed := fs.ErrClosed
	s.broken.Store(&closed)
	return s.disconnect()
}

// usable returns nil if the store can be used, if need be by opening the file again, and else the reason. It costs
// one atomic load until the first failure. The holder of the turn must call heal instead.
func (s *Store) usable(ctx context.Context) error {
	if s.broken.Load() == nil {
		return nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		return s.heal(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}
