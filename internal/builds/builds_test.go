package builds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// write makes a file and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// project makes a folder with some files, and a recipe that reads them.
func project(t *testing.T) (string, Recipe) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"main.c", "src/a.c", "src/a.h", "src/deep/b.c", "other.txt", "tool"} {
		write(t, filepath.Join(dir, f), "content of "+f)
	}
	return dir, Recipe{
		Argv: []string{"cc", "-O2", "main.c"}, Env: []string{"A=1"}, Dir: dir, Inputs: []string{"main.c", "src/**/*.c"},
	}
}

func mustKey(t *testing.T, c *Cache, r Recipe) string {
	t.Helper()
	key, err := c.Key(r)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestFiles(t *testing.T) {
	dir, _ := project(t)
	if err := os.Symlink("../main.c", filepath.Join(dir, "src", "link.c")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nowhere", filepath.Join(dir, "src", "dead.c")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		argv, inputs []string
		want         string
	}{
		{[]string{"cc", "main.c", "src", "absent.c"}, nil, "main.c"},
		{[]string{"main.c", "x"}, nil, ""},
		{[]string{"./tool", "--spec=other.txt"}, nil, "other.txt tool"},
		{[]string{"sh", "-c", `cc "main.c" -o x&&cp src/a.h y;`}, nil, "main.c src/a.h"},
		{[]string{"cc", dir + "/main.c"}, nil, "main.c"},
		{[]string{"cc", "-o", "other.txt", "main.c"}, nil, "main.c"},
		{[]string{"sh", "-c", `cat main.c>other.txt; echo >> tool`}, nil, "main.c"},
		{[]string{"cc", "main.c"}, []string{"*.txt"}, "other.txt"}, // inputs are all there is
		{nil, []string{"src"}, "src/a.c src/a.h src/deep/b.c src/link.c"},
		{nil, []string{"src/*.c"}, "src/a.c src/link.c"},
		{nil, []string{"src/**/*.c"}, "src/a.c src/deep/b.c src/link.c"},
		{nil, []string{"**/b.c", "*.txt"}, "other.txt src/deep/b.c"},
		{nil, []string{"s*"}, "src/a.c src/a.h src/deep/b.c src/link.c"},
		{nil, []string{"./src/../main.c"}, "main.c"},
	} {
		got, err := Files(Recipe{Argv: tt.argv, Dir: dir, Inputs: tt.inputs})
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%q %q: got %q, %v, want %q", tt.argv, tt.inputs, got, err, tt.want)
		}
	}
	for pattern, says := range map[string]string{
		"absent": "no file fits", "src/*.go": "no file fits", "src/[": "is no pattern",
	} {
		if _, err := Files(Recipe{Dir: dir, Inputs: []string{pattern}}); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %s", pattern, err, says)
		}
	}
}

// A key changes with everything that is known to matter, and with nothing else.
func TestKey(t *testing.T) {
	dir, r := project(t)
	c := New(t.TempDir(), 0)
	base := mustKey(t, c, r)
	if again := mustKey(t, New(t.TempDir(), 0), r); again != base {
		t.Errorf("another cache has the key %s, want %s", again, base)
	}
	write(t, filepath.Join(dir, "other.txt"), "new")
	if again := mustKey(t, c, r); again != base {
		t.Error("a file that it does not read changes the key")
	}
	tool := filepath.Join(t.TempDir(), "cc")
	write(t, tool, "#!")
	for name, change := range map[string]func(r *Recipe){
		"argument": func(r *Recipe) { r.Argv = append(slices.Clone(r.Argv), "-g") },
		"joined":   func(r *Recipe) { r.Argv = []string{"cc", "-O2 main.c"} },
		"bytes":    func(r *Recipe) { r.Argv = []string{"cc", "-O2", "\xff"} },
		"variable": func(r *Recipe) { r.Env = nil },
		"inputs":   func(r *Recipe) { r.Inputs = nil },
		"program":  func(r *Recipe) { r.Argv = append([]string{tool}, r.Argv[1:]...) },
		"content":  func(*Recipe) { write(t, filepath.Join(dir, "main.c"), "CONTENT of main.c") },
		"input":    func(*Recipe) { write(t, filepath.Join(dir, "src/deep/b.c"), "new") },
		"new file": func(*Recipe) { write(t, filepath.Join(dir, "src/new.c"), "") },
		"obeyed":   func(*Recipe) { t.Setenv("CFLAGS", "-march=native") },
	} {
		t.Run(name, func(t *testing.T) {
			before, changed := mustKey(t, c, r), r
			change(&changed)
			if mustKey(t, c, changed) == before {
				t.Error("the key stays")
			}
		})
	}
	other := r
	other.Argv = []string{"cc", "-O2", "\xfe"}
	bytes := other
	bytes.Argv = []string{"cc", "-O2", "\xff"}
	if mustKey(t, c, other) == mustKey(t, c, bytes) {
		t.Error("bytes that are no text are taken for each other")
	}
	before := mustKey(t, c, Recipe{Argv: []string{tool}})
	write(t, tool, "#! another")
	if mustKey(t, c, Recipe{Argv: []string{tool}}) == before {
		t.Error("a program that was replaced is the same")
	}
}

// builder returns a build that writes a file, and counts.
func builder(n *atomic.Int32) func(string) error {
	return func(folder string) error {
		n.Add(1)
		return os.WriteFile(filepath.Join(folder, "prog"), []byte("whole"), 0o700)
	}
}

// One of many callers at once, in several processes as far as the locks can see, builds.
func TestOneBuilds(t *testing.T) {
	_, r := project(t)
	dir := filepath.Join(t.TempDir(), "made", "when", "needed")
	var n atomic.Int32
	var wg sync.WaitGroup
	folders := make([]string, 8)
	for i := range folders {
		wg.Go(func() {
			c := New(dir, 0) // of its own, as that of another process is
			use, err := c.Use(t.Context(), mustKey(t, c, r), r, func(folder string) error {
				time.Sleep(50 * time.Millisecond)
				return builder(&n)(folder)
			})
			if err != nil {
				t.Error(err)
				return
			}
			defer use.Close()
			folders[i] = use.Folder
			if text, err := os.ReadFile(filepath.Join(use.Folder, "prog")); err != nil || string(text) != "whole" {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	wg.Wait()
	if slices.Sort(folders); n.Load() != 1 || folders[0] != folders[7] {
		t.Errorf("%d builds, folders %q", n.Load(), folders)
	}
	c := New(dir, 0)
	if f, ok := c.Find(mustKey(t, c, r)); !ok || f != folders[0] {
		t.Errorf("found %s, %v", f, ok)
	}
}

// A process that died leaves no build, whatever it has written.
func TestHalfABuildIsNone(t *testing.T) {
	_, r := project(t)
	c := New(t.TempDir(), 0)
	key := mustKey(t, c, r)
	half := filepath.Join(c.Dir(), key, "123", "prog")
	write(t, half, "half")
	write(t, filepath.Join(c.Dir(), key, marker+".new"), `{"key":"`+key+`","folder":"123"}`)
	if f, ok := c.Find(key); ok {
		t.Fatalf("found %s", f)
	}
	var n atomic.Int32
	use, err := c.Use(t.Context(), key, r, builder(&n))
	if err != nil || n.Load() != 1 {
		t.Fatalf("%d builds, %v", n.Load(), err)
	}
	defer use.Close()
	if _, err := os.Stat(half); err == nil {
		t.Error("what was left is still there")
	}
	if use.Folder == filepath.Dir(half) {
		t.Error("the new build is where a process of the old one may write")
	}
	// A marker that is cut, or whose folder is gone, is not valid either.
	use.Close()
	write(t, filepath.Join(c.Dir(), key, marker), "{")
	if _, ok := c.Find(key); ok {
		t.Error("half a marker is taken for one")
	}
}

func TestFailedBuild(t *testing.T) {
	_, r := project(t)
	c := New(t.TempDir(), 0)
	key := mustKey(t, c, r)
	broken := errors.New("no")
	if _, err := c.Use(t.Context(), key, r, func(folder string) error {
		write(t, filepath.Join(folder, "part"), "x")
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir(), key)); err == nil {
		t.Error("something is left of it")
	}
	var n atomic.Int32
	use, err := c.Use(t.Context(), key, r, builder(&n))
	if err != nil || n.Load() != 1 {
		t.Fatalf("the next one: %d builds, %v", n.Load(), err)
	}
	use.Close()
}

// A build of sources that were changed meanwhile belongs to no key.
func TestChangedInputs(t *testing.T) {
	dir, r := project(t)
	c := New(t.TempDir(), 0)
	key := mustKey(t, c, r)
	_, err := c.Use(t.Context(), key, r, func(string) error {
		write(t, filepath.Join(dir, "src/a.c"), "edited")
		return nil
	})
	if !errors.Is(err, ErrChanged) || !strings.HasSuffix(err.Error(), ": src/a.c") {
		t.Errorf("got %v", err)
	}
	if _, ok := c.Find(key); ok {
		t.Error("it was kept")
	}
}

func TestWaitEnds(t *testing.T) {
	_, r := project(t)
	c := New(t.TempDir(), 0)
	key := mustKey(t, c, r)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := c.Use(t.Context(), key, r, func(string) error {
		time.AfterFunc(3*lockWait, func() { cancel(cause) })
		_, err := New(c.Dir(), 0).Use(ctx, key, r, func(string) error { return errors.New("built twice") })
		return err
	})
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
}

// Builds that are unused for longest go first, a build in use stays, and so does the newest.
func TestEviction(t *testing.T) {
	_, r := project(t)
	dir := t.TempDir()
	big := func(folder string) error {
		return os.WriteFile(filepath.Join(folder, "prog"), make([]byte, 100<<10), 0o600)
	}
	c := New(dir, 350<<10) // three of them
	variant := func(i int) (Recipe, string) {
		v := r
		v.Env = []string{fmt.Sprintf("N=%d", i)}
		return v, mustKey(t, c, v)
	}
	use := func(i int) *Use {
		v, key := variant(i)
		u, err := c.Use(t.Context(), key, v, big)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	kept := func() (out []int) {
		for i := range 6 {
			if _, key := variant(i); func() bool { _, ok := c.Find(key); return ok }() {
				out = append(out, i)
			}
		}
		return out
	}
	held := use(0)
	for i := 1; i < 3; i++ {
		use(i).Close()
	}
	write(t, filepath.Join(dir, "dead", "1", "x"), "left behind")
	write(t, filepath.Join(dir, "dead.lock"), "")
	use(1).Close() // 2 is the oldest that nobody uses
	use(3).Close()
	if got := kept(); !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("kept %v, want 0 (in use), 1 and 3", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "dead")); err == nil {
		t.Error("what a process left that died is still there")
	}
	held.Close()
	use(4).Close()
	use(5).Close()
	if got := kept(); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("kept %v, want 3, 4, 5", got)
	}
	held = use(5)
	if removed, left, err := c.Clear(); removed != 2 || left != 1 || err != nil {
		t.Errorf("removed %d, left %d, %v", removed, left, err)
	}
	held.Close()
	if removed, left, err := c.Clear(); removed != 1 || left != 0 || err != nil {
		t.Errorf("removed %d, left %d, %v", removed, left, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

// A build may take the right to write from its folders, as Go modules do.
func TestReadOnlyBuild(t *testing.T) {
	_, r := project(t)
	c := New(t.TempDir(), 0)
	key := mustKey(t, c, r)
	use, err := c.Use(t.Context(), key, r, func(folder string) error {
		write(t, filepath.Join(folder, "mod", "x"), "")
		return os.Chmod(filepath.Join(folder, "mod"), 0o500)
	})
	if err != nil {
		t.Fatal(err)
	}
	use.Close()
	if removed, _, err := c.Clear(); removed != 1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
}

func TestListOfNothing(t *testing.T) {
	c := New(filepath.Join(t.TempDir(), "absent"), 0)
	if all, err := c.List(); len(all) != 0 || err != nil {
		t.Errorf("got %v, %v", all, err)
	}
	if removed, kept, err := c.Clear(); removed+kept != 0 || err != nil {
		t.Errorf("got %d, %d, %v", removed, kept, err)
	}
}

// The lock of a file that was removed while a caller waited for it is no lock.
func TestLockOfARemovedFile(t *testing.T) {
	c := New(t.TempDir(), 0)
	first, err := c.tryLock("k", unix.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *os.File)
	go func() {
		f, err := c.lock(t.Context(), "k", unix.LOCK_EX)
		if err != nil {
			t.Error(err)
		}
		got <- f
	}()
	time.Sleep(2 * lockWait)
	if err := os.Remove(first.Name()); err != nil {
		t.Fatal(err)
	}
	first.Close()
	f := <-got
	defer f.Close()
	if _, err := c.tryLock("k", unix.LOCK_SH); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("a second lock: %v", err)
	}
}
