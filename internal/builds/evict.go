package builds

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// List returns the builds that are whole, those that were used last first. A cache that was never
// used has none.
func (c *Cache) List() ([]Build, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Build
	for _, e := range entries {
		if b, ok := c.read(e.Name()); ok {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Build) int { return b.Used.Compare(a.Used) })
	return all, nil
}

// Clear removes every build that is not in use or being made, and the remains of processes that died. It
// returns how many builds it removed and how many it left.
func (c *Cache) Clear() (removed, kept int, err error) {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		_, ready := c.read(e.Name())
		switch gone, failed := c.remove(e.Name()); {
		case failed != nil:
			err = errors.Join(err, failed)
		case gone && ready:
			removed++
		case ready:
			kept++
		}
	}
	return removed, kept, err
}

// remove removes everything of a key unless another process has its lock.
func (c *Cache) remove(key string) (bool, error) {
	lock, err := c.tryLock(key, unix.LOCK_EX)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	// The marker goes first: from then on no part of the build is taken for the whole.
	if err := os.Remove(filepath.Join(c.dir, key, marker)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := files.RemoveAll(filepath.Join(c.dir, key)); err != nil {
		return false, err
	}
	return true, os.Remove(lock.Name())
}

// evict removes builds, the least recently used first, until the limit is kept, and the remains of
// processes that died. newest stays. Files that cannot be removed stay.
func (c *Cache) evict(newest string) {
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".lock"); ok && name != newest {
			if _, err := os.Stat(filepath.Join(c.dir, name, marker)); errors.Is(err, fs.ErrNotExist) {
				_, _ = c.remove(name)
			}
		}
	}
	all, _ := c.List()
	var total int64
	for _, b := range all {
		total += b.Bytes
	}
	for _, b := range slices.Backward(all) {
		if total <= c.limit {
			return
		}
		if b.Key == newest {
			continue
		}
		if gone, _ := c.remove(b.Key); gone {
			total -= b.Bytes
		}
	}
}

// size returns the space of the files of a folder on the disk, in bytes.
func size(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			bytes += st.Blocks * 512
		}
		return nil
	})
	return bytes
}

// shown returns a command without the NUL bytes of the placeholder of the folder.
func shown(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = strings.ReplaceAll(a, assay.SetupDir, "{setup}")
	}
	return out
}
