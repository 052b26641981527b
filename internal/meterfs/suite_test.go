package meterfs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sameCases do something in a directory and return their observations: these, and the remaining
// files, must be the same in a mount as in a local directory.
var sameCases = []struct {
	name string
	do   func(dir string) (string, error)
}{
	{"create, write, read", func(dir string) (string, error) {
		f, err := os.OpenFile(dir+"/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
		if err != nil {
			return "", err
		}
		defer f.Close()
		fmt.Fprint(f, "hello ")
		f.WriteAt([]byte("world"), 6)
		b := make([]byte, 20)
		n, err := f.ReadAt(b, 3)
		st, e := f.Stat()
		if e != nil {
			return "", e
		}
		g, again := os.OpenFile(dir+"/f", os.O_CREATE|os.O_EXCL, 0)
		g.Close()
		return fmt.Sprint(string(b[:n]), err, st.Size(), st.Mode(), errors.Is(again, fs.ErrExist)), nil
	}},
	{"append", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", []byte("one"), 0o644)
		a, err := os.OpenFile(dir+"/f", os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return "", err
		}
		a.WriteString("two")
		a.WriteString("three")
		return "", a.Close()
	}},
	{"write only, a part of a page", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", bytes.Repeat([]byte("x"), 10000), 0o200)
		f, err := os.OpenFile(dir+"/f", os.O_WRONLY, 0)
		if err != nil {
			return "", err
		}
		f.WriteAt([]byte("middle"), 5000)
		return "", f.Close()
	}},
	{"truncate", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", []byte("0123456789"), 0o644)
		f, err := os.OpenFile(dir+"/f", os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		defer f.Close()
		e1, e2 := f.Truncate(4), f.Truncate(8)
		b, err := io.ReadAll(f)
		e3 := os.Truncate(dir+"/f", 3)
		g, e4 := os.OpenFile(dir+"/f", os.O_WRONLY|os.O_TRUNC, 0)
		g.Close()
		st, _ := os.Stat(dir + "/f")
		return fmt.Sprintf("%q %v %v %v %v %v %d", b, err, e1, e2, e3, e4, st.Size()), nil
	}},
	{"holes", func(dir string) (string, error) {
		f, err := os.Create(dir + "/f")
		if err != nil {
			return "", err
		}
		f.WriteAt([]byte("end"), 1<<20)
		f.Close()
		b, err := os.ReadFile(dir + "/f")
		return fmt.Sprintf("%d %x", len(b), sha256.Sum256(b)), err
	}},
	{"rename", func(dir string) (string, error) {
		os.MkdirAll(dir+"/a/b", 0o755)
		os.WriteFile(dir+"/a/b/f", []byte("f"), 0o644)
		os.WriteFile(dir+"/g", []byte("g"), 0o644)
		e1 := os.Rename(dir+"/a", dir+"/c")
		e2 := os.Rename(dir+"/g", dir+"/c/b/f")
		e3 := unix.Renameat2(-1, dir+"/c/b/f", -1, dir+"/c/none", unix.RENAME_NOREPLACE)
		e4 := os.Rename(dir+"/c", dir+"/c/b/inside")
		b, err := os.ReadFile(dir + "/c/none")
		return fmt.Sprint(e1, e2, e3, errors.Is(e4, syscall.EINVAL), string(b)), err
	}},
	{"open and removed", func(dir string) (string, error) {
		f, err := os.Create(dir + "/f")
		if err != nil {
			return "", err
		}
		defer f.Close()
		f.WriteString("still here")
		os.Remove(dir + "/f")
		b := make([]byte, 20)
		n, _ := f.ReadAt(b, 0)
		st, err := f.Stat()
		if err != nil {
			return "", err
		}
		_, gone := os.Stat(dir + "/f")
		return fmt.Sprint(string(b[:n]), st.Size(), f.Truncate(5), errors.Is(gone, fs.ErrNotExist)), nil
	}},
	{"shared mapping", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", bytes.Repeat([]byte("-"), 3*4096), 0o644)
		f, err := os.OpenFile(dir+"/f", os.O_RDWR, 0)
		if err != nil {
			return "", err
		}
		defer f.Close()
		m, err := unix.Mmap(int(f.Fd()), 0, 3*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return "", err
		}
		f.WriteAt([]byte("by write"), 4090)
		seen := string(m[4090:4098])
		copy(m[9000:], "by mapping")
		b := make([]byte, 10)
		f.ReadAt(b, 9000)
		return seen + string(b), errors.Join(unix.Msync(m, unix.MS_SYNC), unix.Munmap(m))
	}},
	{"fsync", func(dir string) (string, error) {
		f, err := os.Create(dir + "/f")
		if err != nil {
			return "", err
		}
		f.WriteString("durable")
		return "", errors.Join(f.Sync(), unix.Fdatasync(int(f.Fd())), f.Close())
	}},
	{"directories", func(dir string) (string, error) {
		for i := range 300 {
			os.WriteFile(fmt.Sprintf("%s/file-%03d", dir, i), nil, 0o600)
		}
		os.Mkdir(dir+"/sub", 0o711)
		es, err := os.ReadDir(dir)
		var names []string
		for _, e := range es {
			names = append(names, e.Name()+e.Type().String())
		}
		e1, e2 := os.Remove(dir+"/sub"), os.Remove(dir)
		return fmt.Sprint(names, e1, errors.Is(e2, syscall.ENOTEMPTY) || errors.Is(e2, syscall.EBUSY)), err
	}},
	{"links", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", []byte("target"), 0o644)
		e1, e2 := os.Symlink("f", dir+"/soft"), os.Link(dir+"/f", dir+"/hard")
		e3 := os.Symlink("/no/such", dir+"/dangling")
		b, err := os.ReadFile(dir + "/soft")
		to, _ := os.Readlink(dir + "/dangling")
		a, _ := os.Stat(dir + "/f")
		h, _ := os.Stat(dir + "/hard")
		return fmt.Sprint(e1, e2, e3, string(b), to, os.SameFile(a, h), a.Sys().(*syscall.Stat_t).Nlink), err
	}},
	{"attributes", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", []byte("x"), 0o644)
		when := time.Unix(1e9, 123456789)
		e1, e2 := os.Chmod(dir+"/f", 0o4751), os.Chtimes(dir+"/f", when, when)
		e3 := os.Chown(dir+"/f", os.Getuid(), os.Getgid())
		st, err := os.Stat(dir + "/f")
		if err != nil {
			return "", err
		}
		return fmt.Sprint(e1, e2, e3, st.Mode(), st.ModTime().UnixNano()), nil
	}},
	{"fifo", func(dir string) (string, error) {
		err := unix.Mkfifo(dir+"/p", 0o600)
		st, e := os.Lstat(dir + "/p")
		if e != nil {
			return "", e
		}
		return st.Mode().String(), err
	}},
	{"names", func(dir string) (string, error) {
		var seen []any
		for _, name := range []string{
			"with space", "nl\nname", "ünï", ".hidden", "-dash",
			string(bytes.Repeat([]byte("n"), 255)), string(bytes.Repeat([]byte("n"), 256)),
		} {
			err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644)
			seen = append(seen, errors.Is(err, syscall.ENAMETOOLONG), err == nil)
		}
		return fmt.Sprint(seen...), nil
	}},
	{"locks", func(dir string) (string, error) {
		a, err := os.Create(dir + "/f")
		if err != nil {
			return "", err
		}
		defer a.Close()
		b, err := os.Open(dir + "/f")
		if err != nil {
			return "", err
		}
		defer b.Close()
		e1 := unix.Flock(int(a.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		e2 := unix.Flock(int(b.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		return fmt.Sprint(e1, e2), nil
	}},
	{"big file", func(dir string) (string, error) {
		b := make([]byte, 9<<20+77)
		for i := range b {
			b[i] = byte(i * 7 >> 3)
		}
		if err := os.WriteFile(dir+"/f", b, 0o644); err != nil {
			return "", err
		}
		f, err := os.Open(dir + "/f")
		if err != nil {
			return "", err
		}
		defer f.Close()
		h := sha256.New()
		n, err := io.Copy(h, f)
		return fmt.Sprintf("%d %x", n, h.Sum(nil)), err
	}},
	{"concurrent readers and writers", func(dir string) (string, error) {
		os.WriteFile(dir+"/f", bytes.Repeat([]byte("0123456789abcdef"), 1<<14), 0o644)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				f, err := os.OpenFile(dir+"/f", os.O_RDWR, 0)
				if err != nil {
					errs[i] = err
					return
				}
				defer f.Close()
				for j := range 200 {
					var b [16]byte
					off := int64((i*977 + j*131) % (1 << 14) * 16)
					if _, err := f.ReadAt(b[:], off); err != nil || string(b[:]) != "0123456789abcdef" {
						errs[i] = fmt.Errorf("%q, %w", b, err)
					}
					f.WriteAt(b[:], off)
				}
			})
		}
		wg.Wait()
		return "", errors.Join(errs...)
	}},
}

// tree describes the entries of a directory: names, modes, links and contents.
func tree(dir string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := e.Info()
		if err != nil || rel == "." {
			return err
		}
		text := rel + " " + info.Mode().String()
		switch {
		case e.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d %x", info.Size(), sha256.Sum256(b))
		case e.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			text += " -> " + to
		}
		all = append(all, text)
		return nil
	})
	return all, err
}

// A mount behaves like a local directory, and its changes are on the server.
func TestSameAsLocal(t *testing.T) {
	for _, c := range sameCases {
		t.Run(c.name, func(t *testing.T) {
			local, data := t.TempDir(), t.TempDir()
			dir, _ := newMount(t, data, ServerOptions{}, MountOptions{})
			want, err := c.do(local)
			if err != nil {
				t.Fatalf("in a local directory: %v", err)
			}
			if got, err := c.do(dir); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
			wantTree, err := tree(local)
			if err != nil {
				t.Fatal(err)
			}
			for where, d := range map[string]string{"mount": dir, "server": data} {
				if got, err := tree(d); err != nil || !slices.Equal(got, wantTree) {
					t.Errorf("the %s has %q, %v, want %q", where, got, err, wantTree)
				}
			}
		})
	}
}

// Bytes that are read pass once, and again after the caches are dropped.
func TestBytesAndCaches(t *testing.T) {
	data := t.TempDir()
	const n = 1<<20 + 5
	if err := os.WriteFile(data+"/f", make([]byte, n), 0o644); err != nil {
		t.Fatal(err)
	}
	dir, c := newMount(t, data, ServerOptions{}, MountOptions{})
	for range 2 {
		if b, err := os.ReadFile(dir + "/f"); err != nil || len(b) != n {
			t.Fatal(len(b), err)
		}
		if s := c.Stats(); s.ReadBytes != n {
			t.Errorf("%d bytes have passed, want %d", s.ReadBytes, n)
		}
	}
	if err := DropCache(data); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(data + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 4096)}, 0, unix.RWF_NOWAIT); err != unix.EAGAIN {
		t.Logf("the server's cache: %v, want EAGAIN (file systems without RWF_NOWAIT differ)", err)
	}
	if err := DropCache(data + "/none"); err == nil {
		t.Error("dropping nothing")
	}
}

// benchmarkRead reads a file through a mount without any delay.
func BenchmarkRead(b *testing.B) {
	data := b.TempDir()
	const n = 64 << 20
	if err := os.WriteFile(data+"/f", make([]byte, n), 0o644); err != nil {
		b.Fatal(err)
	}
	dir, _ := newMount(b, data, ServerOptions{}, MountOptions{})
	buf := make([]byte, 1<<20)
	b.SetBytes(n)
	for b.Loop() {
		f, err := os.Open(dir + "/f")
		if err != nil {
			b.Fatal(err)
		}
		unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		for {
			if _, err := f.Read(buf); err != nil {
				break
			}
		}
		f.Close()
	}
}

func BenchmarkWrite(b *testing.B) {
	dir, _ := newMount(b, b.TempDir(), ServerOptions{}, MountOptions{})
	const n = 64 << 20
	buf := make([]byte, n)
	b.SetBytes(n)
	for b.Loop() {
		if err := os.WriteFile(dir+"/f", buf, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
