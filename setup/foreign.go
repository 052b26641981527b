package setup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/exchange"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/spec"
)

// This file knows the files of other tuners by their content, and makes recorded tables of them.

// maxForeign is the size of a text that is read as a whole.
const maxForeign = 1 << 30

// IsForeign reports whether a file is one of another tuner, and not a study file: a database, or JSON by its first
// byte.
func IsForeign(path string) bool {
	if sqlite.IsDatabase(path) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return strings.HasPrefix(strings.TrimLeft(string(head[:n]), " \t\r\n"), "{")
}

// ReadForeign reads the record of another tuner. The argument of names the study in a file with several, or is "".
// The error is of the class usage.
func ReadForeign(ctx context.Context, path, of string) (*exchange.Study, error) {
	if sqlite.IsDatabase(path) {
		db, err := sqlite.OpenForeign(ctx, path)
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "%s: %w", path, err)
		}
		defer db.Close()
		switch {
		case exchange.IsMLOS(ctx, db):
			return exchange.ReadMLOS(ctx, db, path, of)
		case exchange.IsOptunaStorage(ctx, db):
			return exchange.ReadOptunaStorage(ctx, db, path, of)
		}
		return nil, assay.Errorf(assay.ClassUsage, "%s: this database is no storage of Optuna or mlos_bench", path)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxForeign {
		err = assay.Errorf(assay.ClassUsage, "%s: a file of another tuner has at most %d MB", path, maxForeign>>20)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, assay.WithClass(assay.ClassUsage, err)
	}
	if exchange.IsOptunaJournal(data) {
		return exchange.ParseOptunaJournal(data, path, of)
	}
	d, err := exchange.ParseJSON(path, exchange.CloseKernelTuner(data))
	if err != nil {
		return nil, err
	}
	if !exchange.IsKernelTuner(d.Root) {
		return nil, d.Root.Errorf("this is no cache and no file of results of Kernel Tuner, and no journal of Optuna")
	}
	base := filepath.Base(path)
	s, err := exchange.ParseKernelTuner(d, strings.TrimSuffix(base, filepath.Ext(base)))
	if err == nil && of != "" && of != s.Name {
		err = assay.Errorf(assay.ClassUsage, "%s: the one study in it is %s, not %s", path, s.Name, of)
	}
	return s, err
}

// WriteForeign writes a study as a recorded table and the study file of it: FILE.yaml and FILE.csv. Neither may be
// there. The error of a file that cannot be written is as the system has it.
func WriteForeign(s *exchange.Study, file string) (err error) {
	table := strings.TrimSuffix(file, filepath.Ext(file)) + ".csv"
	write := func(path string, to func(io.Writer) error) {
		f, open := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // as a table that is given
		if open != nil {
			err = cmp.Or(err, open)
			return
		}
		err = errors.Join(err, to(f), f.Close())
	}
	if write(table, s.WriteTable); err != nil {
		return err
	}
	write(file, func(w io.Writer) error { return s.WriteDefinition(w, filepath.Base(table)) })
	return err
}

// ForeignProblem returns a study of another tuner as the problem of a recorded table, with notes on its oddities.
// source is its file, which the record names.
func ForeignProblem(s *exchange.Study, source string) (p *Problem, notes []string, err error) {
	dir, err := os.MkdirTemp("", "assay-import")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory of its own for temporary files
	file := filepath.Join(dir, "import.yaml")
	if err := WriteForeign(s, file); err != nil {
		return nil, nil, err
	}
	def, notes, err := spec.Load(file, nil)
	if err != nil {
		return nil, nil, err
	}
	if p, err = New(def, Options{}); err != nil {
		return nil, nil, err
	}
	p.Definition.Replay.File = source
	return p, notes, nil
}
