package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// maxWalk is the largest number of names in a run's directory that are examined.
const maxWalk = 100_000

// Gather copies the files of a run's directory that match one of the patterns into the directory to, each under its
// hash, and adds them to a manifest, in order of their names. It skips inputs.
//
// Only regular files below the directory are opened: no link is followed, and nothing else is read. Files that are not
// kept, because of their names or a limit, are listed in the manifest. An error means that the directory to failed, or
// that dir cannot be read.
func Gather(dir string, patterns []string, inputs map[string]bool, to string, m *Manifest) error {
	if len(patterns) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := fits(root, patterns, inputs, m)
	if err != nil {
		return err
	}
	slices.Sort(names)
	var total int64
	for _, name := range names {
		if len(m.Files) == MaxOutputFiles {
			m.leave(name, fmt.Sprintf("there are more than %d files", MaxOutputFiles))
			continue
		}
		k, why, err := take(root, name, to, MaxOutputs-total)
		if err != nil {
			return err
		}
		if why != "" {
			m.leave(name, why)
			continue
		}
		total += k.Size
		m.Files = append(m.Files, k)
	}
	return nil
}

// fits returns the names of the regular files that fit.
func fits(root *os.Root, patterns []string, inputs map[string]bool, m *Manifest) (names []string, err error) {
	n := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		fit := slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
		if n++; n > maxWalk {
			m.leave(name, fmt.Sprintf("the run left more than %d files: no further ones are looked at", maxWalk))
			return fs.SkipAll
		}
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			m.leave(name, "it cannot be read")
			return nil
		case e.IsDir() || !fit || inputs[name]:
		case e.Type()&fs.ModeSymlink != 0:
			m.leave(name, "it is a link, and links are not followed")
		case !e.Type().IsRegular():
			m.leave(name, "it is no regular file")
		case NameFlaw(name) != "":
			m.leave(name, "its name: "+NameFlaw(name))
		default:
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// take copies a file of a run, if it has at most room bytes. why is the reason if the file was not kept.
func take(root *os.Root, name, to string, room int64) (k Kept, why string, err error) {
	before, err := root.Lstat(name)
	if err != nil || !before.Mode().IsRegular() {
		return k, "it cannot be read", nil
	}
	// Open the file that was examined: never the target of a link, nor a file that blocks.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return k, "it cannot be read", nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !os.SameFile(before, info) {
		return k, "it changed while it was read", nil
	}
	tooLarge := fmt.Sprintf("the files of a run have at most %s in all", Bytes(MaxOutputs))
	if before.Size() > room {
		return k, tooLarge, nil
	}
	tmp, err := os.CreateTemp(to, ".tmp-*")
	if err != nil {
		return k, "", err
	}
	defer func() {
		tmp.Close()
		os.Remove(tmp.Name()) // nothing once it has its name
	}()
	h := sha256.New()
	src := &source{r: io.LimitReader(f, room+1)}
	n, err := io.Copy(io.MultiWriter(tmp, h), src)
	switch {
	case src.err != nil:
		return k, "it cannot be read", nil
	case err != nil:
		return k, "", full(err)
	case n > room:
		return k, tooLarge, nil
	}
	k = Kept{Name: name, SHA256: hex.EncodeToString(h.Sum(nil)), Size: n}
	return k, "", os.Rename(tmp.Name(), filepath.Join(to, k.SHA256))
}

// A source is a reader that keeps its error, to distinguish it from errors of a writer.
type source struct {
	r   io.Reader
	err error
}

// Read implements [io.Reader].
func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
