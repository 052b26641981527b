package builds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay/internal/files"
)

// DefaultLimit is the most space of the builds on disk unless a [Cache] sets another limit.
const DefaultLimit = 10 << 30

// A Cache is a directory of builds. It is safe for concurrent use, by several processes too.
type Cache struct {
	dir   string
	limit int64
	sums  sums
}

// New returns the cache in a directory, which is made when there is something to keep. A limit of 0
// means [DefaultLimit].
func New(dir string, limit int64) *Cache {
	if limit == 0 {
		limit = DefaultLimit
	}
	return &Cache{dir: dir, limit: limit, sums: sums{memo: map[string]remembered{}}}
}

// Dir returns the directory.
func (c *Cache) Dir() string { return c.dir }

// Limit returns how many bytes the builds may take.
func (c *Cache) Limit() int64 { return c.limit }

// A Build is a build that is whole, as built.json has it.
type Build struct {
	Key     string        `json:"key"`
	Folder  string        `json:"folder"` // its name in the folder of the key
	Command []string      `json:"command"`
	Env     []string      `json:"env,omitempty"`
	Dir     string        `json:"dir"`
	Made    time.Time     `json:"made"`
	Took    time.Duration `json:"took_ns"`
	Bytes   int64         `json:"bytes"`

	Used time.Time `json:"-"` // the last time it was requested
}

// A Use is a build that is not removed until Close.
type Use struct {
	Folder string
	lock   *os.File
}

// Close ends the use. The second call does nothing.
func (u *Use) Close() error {
	if u.lock == nil {
		return nil
	}
	err := u.lock.Close()
	u.lock = nil
	return err
}

func (c *Cache) folder(b Build) string { return filepath.Join(c.dir, b.Key, b.Folder) }

// Find returns the folder of a build, if there is one.
func (c *Cache) Find(key string) (folder string, ok bool) {
	b, ok := c.read(key)
	if !ok {
		return "", false
	}
	return c.folder(b), true
}

// read returns the build of a key, if it is whole.
func (c *Cache) read(key string) (b Build, ok bool) {
	path := filepath.Join(c.dir, key, marker)
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &b) != nil || b.Key != key || b.Folder == "" {
		return Build{}, false
	}
	if info, err := os.Stat(c.folder(b)); err != nil || !info.IsDir() {
		return Build{}, false
	}
	if info, err := os.Stat(path); err == nil {
		b.Used = info.ModTime()
	}
	return b, true
}

// marker is the file that names the attempt that is whole.
const marker = "built.json"

// Use returns the build of a recipe with that key. If none exists, build makes it in the folder that it
// is given. If several callers ask at once, one builds and the others wait. An error of build is returned as
// it is, and nothing is kept; a waiting caller then builds.
//
// The folder exists and is empty when build is called, and its path is the path of the result. A build
// that changes the files that its recipe reads is an error: its key would belong to something else.
func (c *Cache) Use(ctx context.Context, key string, r Recipe, build func(folder string) error) (*Use, error) {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	for {
		shared, err := c.lock(ctx, key, unix.LOCK_SH)
		if err != nil {
			return nil, err
		}
		if b, ok := c.read(key); ok {
			now := time.Now()
			_ = os.Chtimes(filepath.Join(c.dir, key, marker), now, now) // the order of removal only
			return &Use{c.folder(b), shared}, nil
		}
		shared.Close()
		if err := c.make(ctx, key, r, build); err != nil {
			return nil, err
		}
	}
}

// make builds under the exclusive lock, unless another process has built meanwhile.
func (c *Cache) make(ctx context.Context, key string, r Recipe, build func(folder string) error) error {
	lock, err := c.lock(ctx, key, unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, ok := c.read(key); ok {
		return nil
	}
	before, err := c.record(r)
	if err != nil {
		return err
	}
	if now, err := before.key(); err != nil || now != key {
		return errors.Join(ErrChanged, err)
	}
	home := filepath.Join(c.dir, key)
	if err := files.RemoveAll(home); err != nil { // remains of a process that died
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(home, "")
	if err != nil {
		return err
	}
	began := time.Now()
	if err := build(folder); err != nil {
		_ = files.RemoveAll(home)
		return err
	}
	took := time.Since(began)
	if err := c.changed(before, r); err != nil {
		_ = files.RemoveAll(home)
		return err
	}
	b := Build{
		Key: key, Folder: filepath.Base(folder), Command: shown(r.Argv), Env: shown(r.Env), Dir: absolute(r.Dir),
		Made: began, Took: took, Bytes: size(folder),
	}
	if err := c.publish(home, b); err != nil {
		_ = files.RemoveAll(home)
		return err
	}
	c.evict(key)
	return nil
}

// ErrChanged reports that a file that a build is known to read was changed while it was made.
var ErrChanged = errors.New("a file that it reads was changed meanwhile (if it writes it itself, give inputs: " +
	"that name the files that it only reads)")

// publish marks a build as whole. Its files are on the disk before that: a machine that loses power must
// not keep the name without the content.
func (c *Cache) publish(home string, b Build) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if d, err := os.Open(home); err == nil {
		_ = unix.Syncfs(int(d.Fd()))
		d.Close()
	}
	temp := filepath.Join(home, marker+".new")
	if err := os.WriteFile(temp, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(home, marker))
}

// lockWait is the interval at which a lock of another process is tried again.
const lockWait = 20 * time.Millisecond

// lock takes the lock of a key. It waits until it has the lock or ctx is done, and then returns the
// cause as error. The lock ends when the file is closed, or with the process.
//
// Removing a build removes the file too: a lock on an unlinked file does not exclude anyone.
func (c *Cache) lock(ctx context.Context, key string, how int) (*os.File, error) {
	for {
		f, err := c.tryLock(key, how)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockWait):
		}
	}
}

// tryLock is lock without waiting: the error matches EWOULDBLOCK if another process has the lock.
func (c *Cache) tryLock(key string, how int) (*os.File, error) {
	path := filepath.Join(c.dir, key+".lock")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		mine, err := f.Stat()
		named, err2 := os.Stat(path)
		if err == nil && err2 == nil && os.SameFile(mine, named) {
			return f, nil
		}
		f.Close()
		if err2 != nil && !errors.Is(err2, fs.ErrNotExist) {
			return nil, err2
		}
	}
}

// absolute returns a directory for people.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
