package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A Cache keeps the blobs used last in a directory:
//
//	DIR/HASH        a blob, with mode 0400
//	DIR/HASH.part   a partial download
//
// It is safe for concurrent use; one process at a time may use the directory.
type Cache struct {
	dir   string
	quota int64

	mu   sync.Mutex
	used map[string]*inUse
}

// An inUse is a blob that a run needs now.
type inUse struct {
	users int
	turn  chan struct{} // has one token: its holder may fetch the blob
}

// A Fetch opens a blob at its source, from a byte offset on. again is set if the bytes received before did not match
// the hash.
type Fetch func(ctx context.Context, hash string, from int64, again bool) (io.ReadCloser, error)

// OpenCache opens the cache of a directory, creating it if necessary. quota limits the total size of its files, in
// bytes.
func OpenCache(dir string, quota int64) (*Cache, error) {
	return &Cache{dir: dir, quota: quota, used: map[string]*inUse{}}, os.MkdirAll(dir, 0o700)
}

func (c *Cache) path(hash string) string { return filepath.Join(c.dir, hash) }

// errCached means that a cached file did not match its hash: it was removed, and is fetched again.
var errCached = errors.New("the cached file is damaged")

// Place puts an input into a directory, after fetching it if the cache lacks it. The placed file is a read-only file of
// its own: a run cannot change the cache. It is compared with its hash as it is written, and is synced to disk when
// Place returns, so that nothing is left to write during the run.
//
// An error matches [ErrDamaged] if the fetched bytes did not match the hash twice, and is of class io if there is no
// room for them. Other errors come from fetch or from the directories.
func (c *Cache) Place(ctx context.Context, root *os.Root, in assay.Input, fetch Fetch) error {
	if err := checkHash(in.SHA256); err != nil {
		return err
	}
	if flaw := NameFlaw(in.Name); flaw != "" {
		return assay.Errorf(assay.ClassUsage, "%.80q is no name of an input: %s", in.Name, flaw)
	}
	if in.Size < 0 || in.Size > c.quota {
		return assay.Errorf(assay.ClassIO, "input %s has %s: the cache of this worker has %s (assay worker --cache SIZE)",
			in.Name, Bytes(in.Size), Bytes(c.quota))
	}
	for range 2 {
		release, err := c.have(ctx, in, fetch)
		if err != nil {
			return full(err)
		}
		err = c.put(ctx, root, in)
		if errors.Is(err, errCached) {
			os.Remove(c.path(in.SHA256))
		}
		release()
		if !errors.Is(err, errCached) {
			return full(err)
		}
	}
	return assay.Errorf(assay.ClassIO,
		"input %s is %w in the cache of this worker, twice: its disk does not keep written data", in.Name, ErrDamaged)
}

// have makes sure that the cache has a blob, until release is called.
func (c *Cache) have(ctx context.Context, in assay.Input, fetch Fetch) (release func(), err error) {
	c.mu.Lock()
	u := c.used[in.SHA256]
	if u == nil {
		u = &inUse{turn: make(chan struct{}, 1)}
		u.turn <- struct{}{}
		c.used[in.SHA256] = u
	}
	u.users++
	c.mu.Unlock()
	release = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if u.users--; u.users == 0 {
			delete(c.used, in.SHA256)
		}
	}
	select {
	case <-u.turn:
	case <-ctx.Done():
		release()
		return nil, context.Cause(ctx)
	}
	defer func() { u.turn <- struct{}{} }()
	now := time.Now()
	if err = os.Chtimes(c.path(in.SHA256), now, now); errors.Is(err, fs.ErrNotExist) {
		if err = c.room(in); err == nil {
			err = c.fetch(ctx, in, fetch)
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// room removes the least recently used blobs until a new blob fits.
func (c *Cache) room(in assay.Input) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	total := in.Size
	for _, e := range entries {
		hash, _, _ := cut(e.Name())
		info, err := e.Info()
		if err != nil || hash == in.SHA256 {
			continue // its partial download is already part of its size
		}
		total += info.Size()
		if c.used[hash] == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if total <= c.quota {
			return nil
		}
		if err := os.Remove(filepath.Join(c.dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= f.Size()
	}
	if total > c.quota {
		return assay.Errorf(assay.ClassIO, "the cache of this worker, %s, is full of inputs of current runs "+
			"(assay worker --cache SIZE)", Bytes(c.quota))
	}
	return nil
}

// cut splits the name of a file of the cache.
func cut(name string) (hash, ext string, part bool) {
	ext = filepath.Ext(name)
	return name[:len(name)-len(ext)], ext, ext == ".part"
}

// fetch fetches a blob, under its lock. A partial download is continued, unless the whole turns out not to match the
// hash.
func (c *Cache) fetch(ctx context.Context, in assay.Input, fetch Fetch) error {
	part := c.path(in.SHA256) + ".part"
	sum := ""
	for again := range 2 {
		var err error
		if sum, err = fetchPart(ctx, part, in, again > 0, fetch); err != nil {
			return err
		}
		if sum == in.SHA256 {
			if err := os.Chmod(part, 0o400); err != nil {
				return err
			}
			return os.Rename(part, c.path(in.SHA256))
		}
		if err := os.Remove(part); err != nil {
			return err
		}
	}
	return assay.Errorf(assay.ClassIO, "input %s is %w: the data that the server sends as %s has the SHA-256 %s", in.Name,
		ErrDamaged, in.SHA256, sum)
}

// fetchPart fetches the missing bytes of a partial download, and returns the SHA-256 of the whole.
func fetchPart(ctx context.Context, part string, in assay.Input, again bool, fetch Fetch) (sum string, err error) {
	f, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	at, err := io.Copy(h, f)
	if err != nil {
		return "", err
	}
	if at > in.Size {
		return hex.EncodeToString(h.Sum(nil)), nil // of something else
	}
	if at < in.Size || in.Size == 0 {
		r, err := fetch(ctx, in.SHA256, at, again)
		if err != nil {
			return "", err
		}
		defer r.Close()
		src := &source{r: io.LimitReader(r, in.Size-at)}
		n, err := io.Copy(io.MultiWriter(f, h), src)
		switch {
		case err != nil && ctx.Err() != nil:
			return "", context.Cause(ctx)
		case src.err != nil || err == nil && at+n < in.Size:
			return "", assay.Errorf(assay.ClassUnavailable, "input %s broke off after %d of %d bytes", in.Name, at+n, in.Size)
		case err != nil:
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), f.Sync()
}

// placedAt is the modification time of every placed input, so that results derived from inputs depend only on their
// content.
var placedAt = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// put writes a cached blob into a directory.
//
// It does not use a hard link: the program runs as the user of the cache, or as root, who may write to read-only files,
// and would write to the cache. Nothing is copied if the file system can share blocks copy-on-write.
func (c *Cache) put(ctx context.Context, root *os.Root, in assay.Input) error {
	from, err := os.Open(c.path(in.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return errCached
	}
	if err != nil {
		return err
	}
	defer from.Close()
	name := filepath.FromSlash(in.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	h := sha256.New()
	if clone(to, from) == nil {
		_, err = io.Copy(h, reading{ctx, to})
	} else {
		_, err = io.Copy(io.MultiWriter(to, h), reading{ctx, from})
	}
	mode := fs.FileMode(0o444)
	if in.Exec {
		mode = 0o555
	}
	if err = errors.Join(err, to.Sync(), to.Chmod(mode)); err != nil {
		return fmt.Errorf("input %s: %w", in.Name, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != in.SHA256 {
		return errors.Join(errCached, root.Remove(name))
	}
	return root.Chtimes(name, placedAt, placedAt)
}
