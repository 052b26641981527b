package planning

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Place holds named files. Nothing else is read, so that a name from a remote user cannot be a file of
// this machine: see [Given].
type Place interface {
	// Files returns path, or the regular files below it in lexical order if it is a folder. Files
	// whose names begin with a dot are left out. It is an error that matches fs.ErrNotExist if
	// nothing is there.
	Files(path string) ([]string, error)
	Open(name string) (io.ReadCloser, error)
}

// Disk is the file system of this machine.
var Disk Place = disk{}

type disk struct{}

// Files implements [Place].
func (disk) Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") {
			files = append(files, p)
		}
		return err
	})
	return files, err
}

// Open implements [Place].
func (disk) Open(name string) (io.ReadCloser, error) { return os.Open(name) }

// Given are files that came with a request, by their names. A name is no path: runs/a.json is in
// the folder runs because its name begins so, and .. means nothing.
type Given map[string][]byte

// Files implements [Place].
func (g Given) Files(path string) ([]string, error) {
	if _, ok := g[path]; ok {
		return []string{path}, nil
	}
	folder := strings.TrimSuffix(path, "/") + "/"
	var files []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		base := name[strings.LastIndexByte(name, '/')+1:]
		if strings.HasPrefix(name, folder) && !strings.HasPrefix(base, ".") {
			files = append(files, name)
		}
	}
	if files == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return files, nil
}

// Open implements [Place].
func (g Given) Open(name string) (io.ReadCloser, error) {
	b, ok := g[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// ReadFile returns the content of a file.
func ReadFile(at Place, name string) ([]byte, error) {
	file, err := at.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}
