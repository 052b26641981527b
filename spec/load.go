package spec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads the study file at path; see [Parse].
func Load(path string, edit func(*Study) error) (*Study, []string, error) {
	data, err := readStudyFile(path)
	if err != nil {
		return nil, nil, err
	}
	return Parse(path, data, edit)
}

// readStudyFile is readFile with an [*Error].
func readStudyFile(path string) ([]byte, error) {
	data, err := readFile(path)
	if err != nil {
		message := err.Error()
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			message = pe.Err.Error()
		}
		return nil, &Error{Flaws: []Flaw{{File: cmp.Or(path, `""`), Message: message}}, cause: err}
	}
	return data, nil
}

// readFile reads a file of at most MaxFile bytes. It reads no more of an endless file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a directory, not a YAML file")
	case info.Size() > MaxFile:
		return nil, fmt.Errorf("%d MiB: a study file has at most 16 MiB", info.Size()>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = errors.New("a study file has at most 16 MiB")
	}
	return data, err
}

// Parse reads the content of a study file. name is its path: messages begin with it, and the relative paths of dir
// and replay.file start at its directory. edit, which may be nil, changes the study before it is checked as a whole:
// it is the place for command-line flags. Its error is returned unchanged if the file has no flaw.
//
// Parse returns warnings, one line each, with the study. The error is an [*Error] with every flaw that was found.
func Parse(name string, data []byte, edit func(*Study) error) (*Study, []string, error) {
	d, root := decode(name, data)
	if root == nil {
		return nil, nil, newError(d.flaws)
	}
	s := &Study{Version: Version, file: name, places: d.places}
	d.mapping(root, "the study", readersOf(d, s, ""), nil)
	finishStudy(d, root, s)
	if edit != nil {
		if err := edit(s); err != nil && len(d.flaws) == 0 {
			return nil, nil, err
		}
	}
	flaws, warnings := s.check(len(d.flaws) > 0)
	if err := newError(append(d.flaws, flaws...)); err != nil {
		return nil, nil, err
	}
	return s, warnings, nil
}

// besides returns a path that is relative to the directory of the study file.
func besides(study, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(study), path)
}
