package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/store/postgres"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// A Store is an open store with everything that the commands need of it: the record, and its projection. An ability
// that only some stores have is a method here that defines the behaviour without it. It is as safe for concurrent use
// as the store is.
type Store struct {
	assay.Store
	assay.Projector
	Path string // of its file, "" if it has none
	// Outputs is where the outputs of runs are kept, "" beside the file: without either they are not.
	Outputs string

	// close is never nil.
	close func() error
}

// Close closes the store.
// No study may be open in it.
func (s *Store) Close() error { return s.close() }

// A storeKind is a row of the table of stores.
type storeKind struct {
	scheme, summary string
	open            func(ctx context.Context, rest string) (*Store, error)
	// look opens an existing store and makes nothing; nil if open does that. A missing store is fs.ErrNotExist.
	look func(ctx context.Context, rest string) (*Store, error)
}

// stores is the table of stores, by the scheme of their addresses: SCHEME:REST, or
// SCHEME alone. To add one, add a row; see CONTRIBUTING.md.
func stores() []storeKind {
	return []storeKind{
		{scheme: "sqlite", summary: "sqlite:PATH, or PATH alone: a file", open: openSQLite},
		{
			scheme: "memory", summary: "forgotten when the process ends",
			open: func(context.Context, string) (*Store, error) {
				return InMemory(store.NewMem()), nil
			},
		},
		{
			scheme: "postgres", summary: "postgres://USER@HOST:PORT/DATABASE: a database that several machines share",
			open: openPostgres(postgres.Options{}), look: openPostgres(postgres.Options{Look: true}),
		},
	}
}

// InMemory returns the store that m is. Closing it does nothing.
func InMemory(m *store.Mem) *Store {
	return &Store{Store: m, Projector: m, close: func() error { return nil }}
}

// openPostgres returns a function that opens a database.
func openPostgres(opts postgres.Options) func(ctx context.Context, rest string) (*Store, error) {
	return func(ctx context.Context, rest string) (*Store, error) {
		s, err := postgres.Open(ctx, "postgres:"+rest, opts)
		if err != nil {
			return nil, err
		}
		return &Store{Store: s, Projector: s, Path: "", close: s.Close}, nil
	}
}

// openSQLite opens the file at path, "" for the default.
func openSQLite(ctx context.Context, path string) (*Store, error) {
	if path == "" {
		var err error
		if path, err = store.DefaultPath(); err != nil {
			return nil, err
		}
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, unopened(err)
	}
	return &Store{Store: s, Projector: s, Path: path, close: s.Close}, nil
}

// unopened returns the error of opening a store: one that is where this user may
// not write is no failing disk, and another place can be named; of one that is damaged
// much can be saved.
func unopened(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return assay.WithHint(err, "assay study fsck --repair saves the intact parts into a copy")
	}
	pe, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return assay.WithHint(usagef("the store cannot be opened: %s: %w", pe.Path, pe.Err),
		"--store PATH puts it elsewhere")
}

// OpenStore opens the store of an address: a path, SCHEME:REST with a scheme of the
// table, or "" for the default file.
// The caller closes the store.
func OpenStore(ctx context.Context, at string) (*Store, error) {
	kind, rest, err := storeAt(at)
	if err != nil {
		return nil, err
	}
	return kind.open(ctx, rest)
}

// ReadStore is OpenStore for those who only look: where there is no file, and there are
// no tables, none are made, and they see an empty store.
func ReadStore(ctx context.Context, at string) (*Store, error) {
	path, err := StorePath(at)
	if err != nil {
		return nil, err
	}
	if path != "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return OpenStore(ctx, "memory")
		}
	}
	kind, rest, err := storeAt(at)
	if err != nil || kind.look == nil {
		return OpenStore(ctx, at)
	}
	s, err := kind.look(ctx, rest)
	if errors.Is(err, fs.ErrNotExist) {
		return OpenStore(ctx, "memory")
	}
	return s, err
}

// StorePath returns the file of the store of an address, "" if it has none.
func StorePath(at string) (path string, err error) {
	kind, path, err := storeAt(at)
	switch {
	case err != nil || kind.scheme != stores()[0].scheme:
		return "", err
	case path == "":
		return store.DefaultPath()
	}
	return path, nil
}

// storeAt returns the kind of the store of an address, and the rest of the address. An address without a scheme of
// the table is a path, unless it is a URL. So a path may have a colon, unless the text before the colon is a scheme
// of the table.
func storeAt(at string) (kind storeKind, rest string, err error) {
	scheme, rest, ok := strings.Cut(at, ":")
	if scheme == "postgresql" && strings.HasPrefix(rest, "//") {
		scheme = "postgres" // libpq takes both
	}
	if kind, found := find(stores(), scheme, func(k storeKind) string { return k.scheme }); found && (ok ||
		scheme == "memory") {
		return kind, rest, nil
	}
	if ok && strings.HasPrefix(rest, "//") {
		return kind, "", usagef("--store %s: no store of kind %q (give a path, or one of %s)",
			store.MaskAddress(at), scheme, list(Stores()))
	}
	return stores()[0], at, nil
}

// Lock makes this process the owner of a study, where the store can. Elsewhere a second
// session is held back by the positions of the record alone: one of the two ends with a
// conflict.
func (s *Store) Lock(ctx context.Context, study string) (release func() error, err error) {
	if l, ok := s.Store.(assay.Locker); ok {
		return l.Lock(ctx, study)
	}
	return func() error { return nil }, nil
}

// Remove forgets a study, its events and the outputs of its runs. The events go first:
// outputs that are left behind by an error belong to nothing, and do no harm.
func (s *Store) Remove(ctx context.Context, study string) error {
	r, ok := s.Store.(assay.Remover)
	if !ok {
		return usagef("this store cannot forget studies")
	}
	if err := r.Remove(ctx, study); err != nil || !s.keepsOutputs() {
		return err
	}
	return os.RemoveAll(s.outputs(study))
}

// Definition returns the definition of a study on record. It returns an error that
// matches fs.ErrNotExist if there is no such study.
// Any other error is one of the store, or of a definition that cannot be decoded.
func (s *Store) Definition(ctx context.Context, study string) (*spec.Study, error) {
	b, err := s.Spec(ctx, study)
	if err != nil {
		return nil, err
	}
	return spec.Decode(b)
}

// Knowledge returns the knowledge base of the store, up to date.
// Each call reads the summaries anew. A store without a file keeps nothing of it.
func (s *Store) Knowledge(ctx context.Context) (*prior.Base, error) {
	dir := ""
	if s.Path != "" {
		dir = prior.Dir(s.Path)
	}
	return prior.Open(ctx, s, dir)
}

// Remember updates the knowledge base with a study that has grown. A failure costs time later, and nothing else. It
// ignores the cancellation of ctx, because a study that was interrupted has grown too.
func (s *Store) Remember(ctx context.Context) {
	if s.Path != "" {
		_, _ = s.Knowledge(context.WithoutCancel(ctx))
	}
}
