package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/prior"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
)

// A Saved is the outcome of a backup or of its restoration.
type Saved struct {
	store.Report
	File string // that was written
	// Beside are the files of the server that a backup does not have, relative to Dir: access rights, inputs and
	// outputs.
	Beside []string
	Dir    string
	Kept   string // the former store that was replaced, "" if there was none
}

// Write writes the outcome of a backup, or of its restoration, for people.
func (s Saved) Write(w io.Writer) error {
	var l report.Lines
	l.Add("written", "%s", s.File)
	l.Add("checked", "%s, %d events, %d trials: ok", report.Count(int(s.Studies), "study", "studies"), s.Events, s.Trials)
	if s.Kept != "" {
		l.Add("replaced", "%s has the former store", s.Kept)
	}
	if len(s.Beside) > 0 {
		l.Add("not in it", "%s of %s", strings.Join(s.Beside, ", "), s.Dir)
		save := append([]string{"tar", "-C", s.Dir, "-czf", s.File + ".tar.gz"}, s.Beside...)
		l.Add("save them", "%s", report.ShellQuote(save))
	}
	return l.Write(w)
}

// besides are the files of a server's directory that are in no backup and that a restored server lacks.
var besides = []string{
	authority, namesFile, tokensFile, ordersFile, access.AuditFile, blobsDir, outputsDir, storeFile + ".outputs",
}

// Backup writes the store of a server into a new file and checks it. The server may run.
func Backup(ctx context.Context, o Options, file string) (w Saved, err error) {
	path, err := o.storeFile("pg_dump", "--format=custom", "--file="+file)
	if err != nil {
		return w, err
	}
	if _, err := os.Stat(path); err != nil {
		return w, assay.WithClass(assay.ClassUsage, err)
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return w, err
	}
	defer s.Close()
	w.File, w.Dir = file, o.Dir
	if w.Report, err = s.Backup(ctx, file); err != nil {
		return w, err
	}
	for _, name := range besides {
		if _, err := os.Stat(filepath.Join(o.Dir, name)); err == nil {
			w.Beside = append(w.Beside, name)
		}
	}
	return w, nil
}

// Restore puts a backup in the place of the store of a server that does not run. A former store is kept if replace is
// set, and an error otherwise.
func Restore(ctx context.Context, o Options, file string, replace bool) (w Saved, err error) {
	path, err := o.storeFile("pg_restore", file)
	if err != nil {
		return w, err
	}
	w.File, w.Dir = path, o.Dir
	w.Report, w.Kept, err = sqlite.Restore(ctx, file, path, replace)
	if errors.Is(err, fs.ErrExist) {
		return w, assay.WithHint(err, "--replace keeps the former store under another name")
	}
	if err != nil {
		return w, err
	}
	// The index of the former studies, which is made again.
	return w, os.RemoveAll(prior.Dir(path))
}

// storeFile returns the file of the server's store, and sets Dir. The error for a database has the command of its own
// tool as a hint.
func (o *Options) storeFile(tool string, args ...string) (path string, err error) {
	if o.Dir == "" {
		if o.Dir, err = api.DefaultDir(); err != nil {
			return "", err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return "", err
	}
	path, err = setup.StorePath(cmp.Or(o.Store, filepath.Join(o.Dir, storeFile)))
	if err != nil || path != "" {
		return path, err
	}
	if storeName(o.Store) == "memory" {
		return "", assay.Errorf(assay.ClassUsage, "a store in memory has no backup")
	}
	line := report.ShellQuote(append([]string{tool, "--dbname=" + withoutPassword(o.Store)}, args...))
	return "", assay.WithHint(assay.Errorf(assay.ClassUsage, "the store is a database, which has a tool of its own"), line)
}

// withoutPassword returns an address without its password, which the tools of the database take from PGPASSWORD or
// ~/.pgpass.
func withoutPassword(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return store.MaskAddress(at)
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	q.Del("password")
	u.RawQuery = q.Encode()
	return u.String()
}
