package files_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// sum returns the hash of a text.
func sum(t testing.TB, text string) string {
	t.Helper()
	hash, _, err := files.Sum(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func open(t testing.TB, dir string, quota int64) *files.Store {
	t.Helper()
	s, err := files.Open(dir, quota)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put puts a text and returns its hash.
func put(t testing.TB, s *files.Store, text string) string {
	t.Helper()
	hash := sum(t, text)
	if _, err := s.Put(t.Context(), hash, int64(len(text)), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return hash
}

// read returns a blob.
func read(t testing.TB, s *files.Store, hash string) string {
	t.Helper()
	f, err := s.Open(hash, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// namesIn returns the names of all files below a directory.
func namesIn(t testing.TB, dir string) (all []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, rel)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100)
	hash := put(t, s, "hello")
	if got := read(t, s, hash); got != "hello" {
		t.Errorf("got %q", got)
	}
	if n, err := s.Size(hash); n != 5 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	info, err := os.Stat(filepath.Join(dir, hash[:2], hash))
	if err != nil || info.Mode() != 0o400 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// Again: it is there, and nothing is read.
	if news, err := s.Put(t.Context(), hash, 5, iotestError{}); news || err != nil {
		t.Errorf("again: %v, %v", news, err)
	}
	if used, _ := s.Used(); used != 5 {
		t.Errorf("%d bytes are taken", used)
	}
	// An empty file is one.
	if read(t, s, put(t, s, "")) != "" {
		t.Error("an empty blob is not empty")
	}
	// Another process finds the same.
	if used, _ := open(t, dir, 100).Used(); used != 5 {
		t.Errorf("%d bytes are taken for the next one", used)
	}
}

type iotestError struct{}

func (iotestError) Read([]byte) (int, error) { return 0, errors.New("nobody reads this") }

// Nothing of a refused blob is there, and its room is free, whatever is wrong with it.
func TestPutRefuses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 20)
	hello := sum(t, "hello")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx   context.Context
		hash  string
		size  int64
		from  io.Reader
		class assay.Class
		says  string
	}{
		"half":     {nil, hello, 5, strings.NewReader("hel"), assay.ClassUsage, "broke off after 3 of 5 bytes"},
		"too much": {nil, hello, 5, strings.NewReader("hello, world"), assay.ClassUsage, "broke off"},
		"another one": {
			nil, hello, 5, strings.NewReader("jello"), assay.ClassUsage,
			"the bytes have the SHA-256 " + sum(t, "jello"),
		},
		"broken": {
			nil, hello, 5, io.MultiReader(strings.NewReader("hel"), iotestError{}), assay.ClassUsage,
			"broke off after 3",
		},
		"no size":    {nil, hello, -1, strings.NewReader("hello"), assay.ClassUsage, "Content-Length"},
		"no hash":    {nil, "../../etc/passwd", 5, strings.NewReader("hello"), assay.ClassUsage, "no SHA-256"},
		"upper case": {nil, strings.ToUpper(hello), 5, strings.NewReader("hello"), assay.ClassUsage, "no SHA-256"},
		"quota": {
			nil, sum(t, strings.Repeat("x", 21)), 21, strings.NewReader(strings.Repeat("x", 21)), assay.ClassIO,
			"full: 0 B of 20 B are taken, and this one has 21 B",
		},
		"over": {cancelled, hello, 5, strings.NewReader("hello"), assay.ClassUsage, "broke off after 0 of 5"},
	} {
		ctx := tt.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		news, err := s.Put(ctx, tt.hash, tt.size, tt.from)
		if news || err == nil || assay.ClassOf(err) != tt.class || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, %v (%v)", name, news, err, assay.ClassOf(err))
		}
		if left := namesIn(t, dir); len(left) > 0 {
			t.Errorf("%s: left are %q", name, left)
		}
		if used, _ := s.Used(); used != 0 {
			t.Errorf("%s: %d bytes are taken", name, used)
		}
	}
	put(t, s, strings.Repeat("y", 20)) // all of the quota is there to be used
}

// A blob half written by a killed process is gone with the next one.
func TestHalfUploadIsNothing(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, 100)
	if err := os.WriteFile(filepath.Join(dir, "tmp", "2cf24dba-1"), []byte("hel"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, 100)
	if left := namesIn(t, dir); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if used, _ := s.Used(); used != 0 {
		t.Errorf("%d bytes are taken", used)
	}
}

// Many that put the same, and others: each is there once.
func TestPutAtOnce(t *testing.T) {
	s := open(t, t.TempDir(), 1000)
	var wg sync.WaitGroup
	for i := range 20 {
		text := strings.Repeat("z", 10+i%2)
		wg.Go(func() {
			if _, err := s.Put(context.Background(), sum(t, text), int64(len(text)), strings.NewReader(text)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if used, _ := s.Used(); used != 21 {
		t.Errorf("%d bytes are taken", used)
	}
}

// spoil changes a byte of a blob on the disk, and nothing that a look at the file shows.
func spoil(t testing.TB, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, b, 0o600), os.Chmod(path, info.Mode()),
		os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
}

// A blob that was damaged on the disk is found, reported, set aside, and can be put again.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100)
	hash := put(t, s, "hello")
	spoil(t, filepath.Join(dir, hash[:2], hash))
	_, err := s.Open(hash, false)
	if !errors.Is(err, files.ErrDamaged) || assay.ClassOf(err) != assay.ClassIO || !strings.Contains(err.Error(), hash) {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "damaged", hash)); err != nil {
		t.Error(err)
	}
	if _, err := s.Open(hash, false); !errors.Is(err, fs.ErrNotExist) || assay.ClassOf(err) != assay.ClassNotFound {
		t.Errorf("then: %v", err)
	}
	put(t, s, "hello")
	if read(t, s, hash) != "hello" {
		t.Error("it is not there again")
	}
	if used, _ := s.Used(); used != 5 {
		t.Errorf("%d bytes are taken", used)
	}
	// Damage that the file does not show: a caller that has seen other bytes has it read again.
	again := open(t, dir, 100)
	spoil(t, filepath.Join(dir, hash[:2], hash))
	if _, err := again.Put(t.Context(), hash, 5, strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	if read(t, again, hash) != "hello" {
		t.Error("what is damaged is not replaced")
	}
}

func TestCollect(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100)
	needed, idle, asked, fresh := put(t, s, "needed"), put(t, s, "idle"), put(t, s, "asked"), put(t, s, "fresh")
	old := time.Now().Add(-48 * time.Hour)
	for _, hash := range []string{needed, idle, asked} {
		if err := os.Chtimes(filepath.Join(dir, hash[:2], hash), old, old); err != nil {
			t.Fatal(err)
		}
	}
	c, err := s.Collect(24*time.Hour, func(all map[string]bool) (map[string]bool, error) {
		if len(all) != 3 || all[fresh] {
			t.Errorf("asked of %v", all)
		}
		if _, err := s.Size(asked); err != nil { // a study that is being submitted
			t.Fatal(err)
		}
		return map[string]bool{needed: true}, nil
	})
	if err != nil || c != (files.Collected{Blobs: 1, Bytes: 4}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, hash := range []string{needed, asked, fresh} {
		if _, err := s.Size(hash); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Size(idle); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if used, _ := s.Used(); used != 16 {
		t.Errorf("%d bytes are taken", used)
	}
	// All is kept if the needed blobs are unknown.
	if err := os.Chtimes(filepath.Join(dir, fresh[:2], fresh), old, old); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the store is away")
	if _, err := s.Collect(24*time.Hour,
		func(map[string]bool) (map[string]bool, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if read(t, s, fresh) != "fresh" {
		t.Error("it is gone")
	}
}

func TestBytes(t *testing.T) {
	var b bytes.Buffer
	for _, n := range []int64{0, 1023, 1024, 1536, 64 << 20, 10 << 30, 3 << 40, 5 << 50} {
		b.WriteString(files.Bytes(n) + "; ")
	}
	if want := "0 B; 1023 B; 1.0 KiB; 1.5 KiB; 64.0 MiB; 10.0 GiB; 3.0 TiB; 5120.0 TiB; "; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
