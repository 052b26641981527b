package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/spec"
)

// Stage reads the inputs of a study and records them in the definition: the files that match its patterns, by their
// content. It returns the path of each file, by its SHA-256. An error is of the class usage, and names the place of a
// pattern that no file matches.
func Stage(ctx context.Context, def *spec.Study) (files map[string]string, err error) {
	if len(def.Inputs) == 0 && len(def.Shared) == 0 {
		return nil, nil
	}
	names, dir, err := inputsOf(def)
	if err != nil {
		return nil, err
	}
	staged := &spec.Staged{}
	files = map[string]string{}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		in, err := readInput(dir, name)
		if err != nil {
			return nil, usageError(fmt.Errorf("%sinput %s: %w", def.At("inputs"), name, err))
		}
		files[in.SHA256] = filepath.Join(dir, filepath.FromSlash(name))
		staged.Inputs = append(staged.Inputs, in)
	}
	if staged.Shared, err = sharedOf(def, false); err != nil {
		return nil, err
	}
	def.Staged = staged
	_, err = def.Check()
	return files, err
}

// readInput returns a file of a directory by its content.
func readInput(dir, name string) (in assay.Input, err error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return in, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, err
	}
	in = assay.Input{Name: name, Exec: info.Mode()&0o111 != 0}
	in.SHA256, in.Size, err = files.Sum(f)
	return in, err
}

// inputsOf returns the names of the files that match the inputs of a study, sorted, and the directory that they are
// below. A directory contributes all files below it; directories that are links are not followed.
func inputsOf(def *spec.Study) (names []string, dir string, err error) {
	if dir, err = filepath.Abs(def.Dir); err != nil {
		return nil, "", err
	}
	seen := map[string]bool{}
	for i, pattern := range def.Inputs {
		at := def.At(fmt.Sprintf("inputs[%d]", i))
		found, err := fs.Glob(os.DirFS(dir), strings.TrimSuffix(pattern, "/"))
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no file fits it in %s", dir)
		}
		before := len(seen)
		for _, f := range found {
			if err == nil {
				err = addInputs(dir, f, seen)
			}
		}
		if err == nil && len(seen) == before && i == 0 {
			err = fmt.Errorf("there are only empty directories in %s", dir)
		}
		if err != nil {
			return nil, "", usagef("%sinputs: %s: %w", at, pattern, err)
		}
	}
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, dir, nil
}

// addInputs adds a file, or all below a directory.
func addInputs(dir, name string, to map[string]bool) error {
	return filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)),
		func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() {
				return nil
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			info, err := os.Stat(path)
			switch {
			case err != nil:
				return err
			case info.IsDir():
				return fmt.Errorf("%s is a link to a directory", rel)
			case !info.Mode().IsRegular():
				return fmt.Errorf("%s is no regular file", rel)
			}
			rel = filepath.ToSlash(rel)
			if flaw := files.NameFlaw(rel); flaw != "" {
				return fmt.Errorf("the name %q: %s", rel, flaw)
			}
			to[rel] = true
			return nil
		})
}

// sharedOf returns the shared paths of a study with the sizes of those that are files here. If must is set it is an
// error that one is not here.
func sharedOf(def *spec.Study, must bool) (all []assay.Shared, err error) {
	for i, path := range def.Shared {
		info, err := os.Stat(path)
		at := def.At(fmt.Sprintf("shared[%d]", i))
		switch {
		case errors.Is(err, fs.ErrNotExist) && !must:
			all = append(all, assay.Shared{Path: path, Size: -1})
		case err != nil:
			return nil, usagef("%sshared: %w", at, err)
		case info.Mode().IsRegular():
			all = append(all, assay.Shared{Path: path, Size: info.Size()})
		default:
			all = append(all, assay.Shared{Path: path, Size: -1})
		}
	}
	return all, nil
}
