package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/testbed"
)

// A remote is where blobs come from.
type remote struct {
	mu      sync.Mutex
	texts   map[string]string
	wrong   map[string]string // what is sent in place of it
	breaks  int               // so many answers break off in the middle
	fetches []string          // "HASH from", as they came
	again   atomic.Int32
}

func (r *remote) fetch(_ context.Context, hash string, from int64, again bool) (io.ReadCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetches = append(r.fetches, fmt.Sprintf("%.4s %d", hash, from))
	if again {
		r.again.Add(1)
	}
	text, ok := r.texts[hash]
	if !ok {
		return nil, assay.Errorf(assay.ClassNotFound, "no blob %s", hash)
	}
	if w, ok := r.wrong[hash]; ok {
		text = w
	}
	text = text[from:]
	if r.breaks > 0 {
		r.breaks--
		text = text[:len(text)/2]
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func newRemote(t testing.TB, texts ...string) *remote {
	r := &remote{texts: map[string]string{}, wrong: map[string]string{}}
	for _, text := range texts {
		r.texts[sum(t, text)] = text
	}
	return r
}

func input(t testing.TB, name, text string) assay.Input {
	return assay.Input{Name: name, SHA256: sum(t, text), Size: int64(len(text))}
}

// cached returns a cache and a directory of a run.
func cached(t testing.TB, quota int64) (c *files.Cache, dir string, newRun func() *os.Root) {
	t.Helper()
	dir = t.TempDir()
	c, err := files.OpenCache(dir, quota)
	if err != nil {
		t.Fatal(err)
	}
	return c, dir, func() *os.Root {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	}
}

func TestPlace(t *testing.T) {
	c, dir, run := cached(t, 100)
	r := newRemote(t, "data", "program", "")
	prog := input(t, "bin/prog", "program")
	prog.Exec = true
	for n := range 2 { // the second run has it from the cache
		root := run()
		for _, in := range []assay.Input{input(t, "a/b/in.txt", "data"), prog, input(t, "empty", "")} {
			if err := c.Place(t.Context(), root, in, r.fetch); err != nil {
				t.Fatal(err)
			}
			info, err := root.Stat(in.Name)
			want := os.FileMode(0o444)
			if in.Exec {
				want = 0o555
			}
			if err != nil || info.Mode() != want || !info.ModTime().Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: %v, %v", in.Name, info, err)
			}
			if b, err := root.ReadFile(in.Name); err != nil || string(b) != r.texts[in.SHA256] {
				t.Errorf("%s is %q, %v", in.Name, b, err)
			}
		}
		if len(r.fetches) != 3 {
			t.Errorf("run %d: fetched %q", n, r.fetches)
		}
	}
	if n := len(namesIn(t, dir)); n != 3 {
		t.Errorf("%d files are cached", n)
	}
}

// A run that writes to its input, as its user or as root may, changes its own file alone.
func TestRunCannotChangeTheCache(t *testing.T) {
	c, dir, run := cached(t, 100)
	r := newRemote(t, "data")
	in := input(t, "in", "data")
	root := run()
	if err := c.Place(t.Context(), root, in, r.fetch); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root.Name(), "in")
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("evil"), 0o600)); err != nil {
		t.Fatal(err)
	}
	kept, err := os.Stat(filepath.Join(dir, in.SHA256))
	if err != nil {
		t.Fatal(err)
	}
	if n := kept.Sys().(*syscall.Stat_t).Nlink; n != 1 {
		t.Errorf("the cached file has %d names", n)
	}
	next := run()
	if err := c.Place(t.Context(), next, in, r.fetch); err != nil {
		t.Fatal(err)
	}
	if b, _ := next.ReadFile("in"); string(b) != "data" {
		t.Errorf("the next run has %q", b)
	}
}

// A transfer that breaks off goes on where it ended.
func TestFetchGoesOn(t *testing.T) {
	c, _, run := cached(t, 100)
	r := newRemote(t, "0123456789")
	r.breaks = 2
	in := input(t, "in", "0123456789")
	for range 2 {
		if err := c.Place(t.Context(), run(), in, r.fetch); assay.ClassOf(err) != assay.ClassUnavailable {
			t.Fatalf("%v", err)
		}
	}
	root := run()
	if err := c.Place(t.Context(), root, in, r.fetch); err != nil {
		t.Fatal(err)
	}
	if b, _ := root.ReadFile("in"); string(b) != "0123456789" {
		t.Errorf("got %q", b)
	}
	if got := fmt.Sprint(r.fetches); got != fmt.Sprintf("[%[1]s 0 %[1]s 5 %[1]s 7]", in.SHA256[:4]) {
		t.Errorf("fetched %s", got)
	}
}

// Bytes that do not fit the hash are never handed to a run. They are asked for once more, from the beginning.
func TestFetchedDamaged(t *testing.T) {
	c, dir, run := cached(t, 100)
	r := newRemote(t, "data")
	in := input(t, "in", "data")
	r.wrong[in.SHA256] = "dxta"
	root := run()
	err := c.Place(t.Context(), root, in, r.fetch)
	if !errors.Is(err, files.ErrDamaged) || !strings.Contains(err.Error(), in.SHA256) ||
		!strings.Contains(err.Error(), "input in is damaged") {
		t.Errorf("%v", err)
	}
	if len(r.fetches) != 2 || r.again.Load() != 1 {
		t.Errorf("fetched %q, %d of them again", r.fetches, r.again.Load())
	}
	if left := append(namesIn(t, dir), namesIn(t, root.Name())...); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// A file of the cache that was damaged on the disk is found, and fetched again.
func TestCacheDamaged(t *testing.T) {
	c, dir, run := cached(t, 100)
	r := newRemote(t, "data")
	in := input(t, "in", "data")
	if err := c.Place(t.Context(), run(), in, r.fetch); err != nil {
		t.Fatal(err)
	}
	spoil(t, filepath.Join(dir, in.SHA256))
	root := run()
	if err := c.Place(t.Context(), root, in, r.fetch); err != nil {
		t.Fatal(err)
	}
	if b, _ := root.ReadFile("in"); string(b) != "data" || len(r.fetches) != 2 {
		t.Errorf("got %q after %q", b, r.fetches)
	}
}

// The blobs used last stay, as far as there is room.
func TestCacheQuota(t *testing.T) {
	c, dir, run := cached(t, 10)
	r := newRemote(t, "aaaa", "bbbb", "cccc", "0123456789x")
	for i, text := range []string{"aaaa", "bbbb", "aaaa", "cccc"} {
		if err := c.Place(t.Context(), run(), input(t, "in", text), r.fetch); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, sum(t, text)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if left := namesIn(t, dir); len(left) != 2 || !strings.Contains(strings.Join(left, " "), sum(t, "aaaa")) {
		t.Errorf("left are %q", left)
	}
	err := c.Place(t.Context(), run(), input(t, "large", "0123456789x"), r.fetch)
	if assay.ClassOf(err) != assay.ClassIO ||
		!strings.Contains(err.Error(), "the cache of this worker has 10 B (assay worker --cache SIZE)") {
		t.Errorf("%v", err)
	}
}

// Several runs that need one blob at once fetch it once.
func TestFetchOnce(t *testing.T) {
	c, _, run := cached(t, 100)
	r := newRemote(t, "data")
	in := input(t, "in", "data")
	var wg sync.WaitGroup
	for range 8 {
		root := run()
		wg.Go(func() {
			if err := c.Place(context.Background(), root, in, r.fetch); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(r.fetches) != 1 {
		t.Errorf("fetched %q", r.fetches)
	}
}

// No name of an input leads out of the directory of the run, by links neither.
func TestPlaceHostileNames(t *testing.T) {
	hostilePlaces(t, (*files.Cache).Place)
}

// A cache that writes to where a name leads writes outside.
func TestPlaceHostileNamesControl(t *testing.T) {
	testbed.Fails(t, "names that are joined and written to", func(t testing.TB) {
		hostilePlaces(t, func(_ *files.Cache, _ context.Context, root *os.Root, in assay.Input, _ files.Fetch) error {
			if in.Name != "link/x" { // the others would harm this machine
				return errors.New("refused")
			}
			return os.WriteFile(filepath.Join(root.Name(), in.Name), []byte("data"), 0o600)
		})
	})
}

func hostilePlaces(
	t testing.TB, place func(*files.Cache, context.Context, *os.Root, assay.Input, files.Fetch) error,
) {
	t.Helper()
	c, _, run := cached(t, 1000)
	r := newRemote(t, "data")
	root := run()
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root.Name(), "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(hostileNames(), "link/x", "link") {
		in := input(t, name, "data")
		if err := place(c, t.Context(), root, in, r.fetch); err == nil {
			t.Errorf("%q was placed", name)
		}
	}
	if left := namesIn(t, outside); len(left) > 0 {
		t.Errorf("outside are %q", left)
	}
}

// hostileNames are names that no file may have.
func hostileNames() []string {
	all := []string{
		"", ".", "..", "/", "/etc/passwd", "../x", "a/../x", "a/../../x", "./x", "a/./b", "a//b", "a/", `a\b`, `..\x`,
		"a\x00b", "a\nb", "\x1b[2Jx", "a\u202eb", "\xff", "a/..", "//x", `\\host\share`, strings.Repeat("x", 256),
		strings.Repeat("x/", 600) + "x",
	}
	for depth := range 50 {
		up := strings.Repeat("../", depth+1)
		all = append(all, up+"etc/passwd", "a/"+up+"x", "/"+up+"x", up, `a\`+strings.ReplaceAll(up, "/", `\`)+"x")
	}
	return all
}

func TestNames(t *testing.T) {
	for _, name := range hostileNames() {
		if files.NameFlaw(name) == "" {
			t.Errorf("%q is taken", name)
		}
	}
	// Names that look odd but are valid: nothing of a name is an escape.
	for _, name := range []string{
		"a", "a.log", "a/b/c.log", "..a", "a..", "%2e%2e/x", "#x", "a b", "ü", "-rf", "CON", "~",
		"*",
	} {
		if flaw := files.NameFlaw(name); flaw != "" {
			t.Errorf("%q: %s", name, flaw)
		}
	}
}
