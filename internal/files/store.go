package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/assay-run/assay"
)

// A Store keeps files by their SHA-256 in a directory:
//
//	DIR/ab/abcd...     a file, with mode 0400
//	DIR/tmp/...        files being written: removed when the Store is opened
//	DIR/damaged/...    files that did not match their hash any more
//
// A file is present as a whole or not at all. A Store is safe for concurrent use; one process at a time may use the
// directory.
type Store struct {
	dir   string
	quota int64

	mu    sync.Mutex
	used  int64            // of files that are there, and of those that are being written as large as they will be
	known map[string]stamp // files that had their hash when they were read
}

// A stamp changes with a file's content, unless the disk itself fails.
type stamp struct {
	size         int64
	inode        uint64
	mtime, ctime time.Time
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), mtime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode, s.ctime = st.Ino, changed(st)
	}
	return s
}

const (
	tmpDir     = "tmp"
	damagedDir = "damaged"
)

// Open opens the store of a directory, creating it if necessary. It removes incomplete files. quota limits the total
// size of its files, in bytes.
func Open(dir string, quota int64) (*Store, error) {
	dir = filepath.Clean(dir)
	s := &Store{dir: dir, quota: quota, known: map[string]stamp{}}
	if err := os.RemoveAll(filepath.Join(dir, tmpDir)); err != nil {
		return nil, err
	}
	for _, d := range []string{tmpDir, damagedDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	return s, s.each(func(_ string, info fs.FileInfo) { s.used += info.Size() })
}

// each calls f with the files that are there.
func (s *Store) each(f func(hash string, info fs.FileInfo)) error {
	return filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == tmpDir || e.Name() == damagedDir) && filepath.Dir(path) == s.dir:
			return filepath.SkipDir
		case !e.Type().IsRegular() || !Is(e.Name()):
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			f(e.Name(), info)
		}
		return err
	})
}

func (s *Store) path(hash string) string { return filepath.Join(s.dir, hash[:2], hash) }

// Used returns the total size of the files, and its limit.
func (s *Store) Used() (used, quota int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.quota
}

// errAbsent returns the error for a hash without a blob.
func errAbsent(hash string) error {
	return assay.Errorf(assay.ClassNotFound, "there is no blob %s: %w", hash, fs.ErrNotExist)
}

// Size returns the size of a blob, without reading it. The call counts as a use: it renews the blob's age, see
// [Store.Collect]. The error for a missing blob is of class not-found.
func (s *Store) Size(hash string) (int64, error) {
	if err := checkHash(hash); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errAbsent(hash)
	}
	if err != nil {
		return 0, err
	}
	was, known := s.known[hash]
	known = known && was == stampOf(info)
	now := time.Now()
	if err := os.Chtimes(s.path(hash), now, now); err != nil {
		return 0, err
	}
	if info, err = os.Stat(s.path(hash)); err == nil && known {
		s.known[hash] = stampOf(info)
	}
	return info.Size(), err
}

// Open opens a blob to be read. Its bytes are compared with its hash when it is opened for the first time, when
// its file has changed, and if again is set. One that is damaged is set aside, so that it can be put again, and the
// error matches [ErrDamaged].
func (s *Store) Open(hash string, again bool) (*os.File, error) {
	if err := checkHash(hash); err != nil {
		return nil, err
	}
	f, err := os.Open(s.path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errAbsent(hash)
	}
	if err != nil {
		return nil, err
	}
	if err := s.verify(hash, f, again); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// verify compares the bytes of a blob with its hash.
func (s *Store) verify(hash string, f *os.File, again bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s.mu.Lock()
	was, known := s.known[hash]
	s.mu.Unlock()
	now := stampOf(info)
	if known && was == now && !again {
		return nil
	}
	sum, _, err := Sum(f)
	if err != nil {
		return full(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum == hash {
		s.known[hash] = now
		return nil
	}
	aside := filepath.Join(s.dir, damagedDir, hash)
	if at, err := os.Stat(s.path(hash)); err == nil && os.SameFile(at, info) { // it may have been put again
		if err := os.Rename(s.path(hash), aside); err != nil {
			return err
		}
		delete(s.known, hash)
		s.used -= info.Size()
	}
	return assay.WithHint(
		assay.Errorf(assay.ClassIO, "blob %s is %w on the disk of the server: its bytes have the SHA-256 %s; it is set "+
			"aside as %s",
			hash, ErrDamaged, sum, aside), "submit the study again: its inputs are sent again then")
}

// Put stores size bytes of a reader that have a hash, and reports whether they are new: the reader is not read if the
// blob exists. Nothing is stored if the reader fails, or has other bytes. An error is of class usage if the bytes do
// not match the hash, and of class io if there is no room.
func (s *Store) Put(ctx context.Context, hash string, size int64, r io.Reader) (news bool, err error) {
	if err := checkHash(hash); err != nil {
		return false, err
	}
	if size < 0 {
		return false, assay.Errorf(assay.ClassUsage,
			"Content-Length is missing: the size of a blob is needed before its data")
	}
	switch f, err := s.Open(hash, false); {
	case err == nil:
		f.Close()
		_, err := s.Size(hash)
		return false, err
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged):
		return false, err
	}
	if err := s.reserve(size); err != nil {
		return false, err
	}
	if news, err = s.write(ctx, hash, size, r); !news {
		_ = s.reserve(-size) // giving back never fails
	}
	return news, full(err)
}

// reserve takes room for a blob.
func (s *Store) reserve(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > 0 && s.used+size > s.quota {
		return assay.WithHint(
			assay.Errorf(assay.ClassIO, "the blobs of the server are full: %s of %s are taken, and this one has %s",
				Bytes(s.used), Bytes(s.quota), Bytes(size)),
			"blobs that no study on record names are removed after a day; assay server --blobs SIZE gives more room")
	}
	s.used += size
	return nil
}

// write writes a blob for which room is reserved.
func (s *Store) write(ctx context.Context, hash string, size int64, r io.Reader) (news bool, err error) {
	f, err := os.CreateTemp(filepath.Join(s.dir, tmpDir), hash[:8]+"-*")
	if err != nil {
		return false, err
	}
	defer func() {
		if !news {
			os.Remove(f.Name())
		}
		f.Close()
	}()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(reading{ctx, r}, size+1))
	switch {
	case err != nil && assay.ClassOf(full(err)) == assay.ClassIO: // of the disk, not of the reader
		return false, err
	case err != nil || n != size:
		return false, assay.Errorf(assay.ClassUsage, "the blob broke off after %d of %d bytes: nothing of it is kept",
			min(n, size), size)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != hash {
		return false, assay.Errorf(assay.ClassUsage, "the bytes have the SHA-256 %s, not %s: nothing of them is kept", sum,
			hash)
	}
	if err := errors.Join(f.Chmod(0o400), f.Sync()); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Dir(s.path(hash))
	if err := os.Mkdir(dir, 0o700); err == nil {
		err = SyncDir(s.dir)
		if err != nil {
			return false, err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	if _, err := os.Stat(s.path(hash)); err == nil { // another caller was faster
		return false, nil
	}
	if err := os.Rename(f.Name(), s.path(hash)); err != nil {
		return false, err
	}
	if info, err := f.Stat(); err == nil {
		s.known[hash] = stampOf(info)
	}
	return true, SyncDir(dir)
}

// A reading is a reader that ends with a context.
type reading struct {
	ctx context.Context
	r   io.Reader
}

// Read implements [io.Reader].
func (r reading) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(b)
}

// Collected counts the blobs that [Store.Collect] has removed.
type Collected struct {
	Blobs int   `json:"blobs"`
	Bytes int64 `json:"bytes"`
}

// Collect removes blobs that are not needed and were neither put nor asked for by Size for the given age: a blob sent
// shortly before the study that names it is kept. needed is called with the blobs of that age, and returns those that
// are needed; it is not called without such blobs.
func (s *Store) Collect(age time.Duration,
	needed func(old map[string]bool) (map[string]bool, error),
) (c Collected, err error) {
	before := time.Now().Add(-age)
	old := map[string]bool{}
	if err := s.each(func(hash string, info fs.FileInfo) {
		if info.ModTime().Before(before) {
			old[hash] = true
		}
	}); err != nil || len(old) == 0 {
		return c, err
	}
	keep, err := needed(old)
	if err != nil {
		return c, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash := range old {
		if keep[hash] {
			continue
		}
		info, err := os.Stat(s.path(hash))
		if err != nil || !info.ModTime().Before(before) {
			continue // it is gone, or was used meanwhile
		}
		if err := os.Remove(s.path(hash)); err != nil {
			return c, err
		}
		delete(s.known, hash)
		s.used -= info.Size()
		c.Blobs, c.Bytes = c.Blobs+1, c.Bytes+info.Size()
	}
	return c, nil
}

// Bytes returns a size for people, such as "1.5 MiB".
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if x /= 1 << 10; x < 1<<10 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// Dir returns the directory of the store.
func (s *Store) Dir() string { return s.dir }
