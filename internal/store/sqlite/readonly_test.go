package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// childReadOnly looks at the store in a directory that is mounted read-only, and tries to write to it. It prints the
// numbers of trials that it read and of calls that write and were refused.
func childReadOnly(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{AnyFileSystem: true})
	if err != nil {
		fmt.Println("refused", errors.Is(err, ErrReadOnly), err)
		return nil
	}
	trials := int64(0)
	for sum, err := range s.Summaries(ctx, "", 0) {
		if err != nil {
			return err
		}
		trials += sum.Counts[assay.Done]
		for _, err := range s.Events(ctx, sum.Study, 0) {
			if err != nil {
				return err
			}
		}
	}
	r, err := s.Fsck(ctx, FsckOptions{})
	if err != nil || len(r.Problems) > 0 {
		return fmt.Errorf("%v, %w", r.Problems, err)
	}
	refused := 0
	for i, call := range []func() error{
		func() error { return put(ctx, s, "a", 11) },
		func() error { return s.Create(ctx, "new", nil) },
		func() error { return s.Remove(ctx, "a") },
		func() error { _, err := s.Lock(ctx, "a"); return err },
		func() error { _, err := s.Lease(ctx, "a", "me", 1e9); return err },
		func() error { _, err := s.Fsck(ctx, FsckOptions{Repair: true}); return err },
	} {
		if err := call(); !errors.Is(err, ErrReadOnly) || assay.ClassOf(err) != assay.ClassUsage {
			return fmt.Errorf("call %d: %w", i, err)
		}
		refused++
	}
	fmt.Println("read", trials, "refused", refused)
	return s.Close()
}

// readOnly runs the child in a mount of the store's directory that is read-only.
func readOnly(t *testing.T, path string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: a mount needs root")
	}
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: no mounts of its own: %v: %s", err, out)
	}
	c := child(t, "readonly", path)
	c.Args = []string{
		"unshare", "-m", "sh", "-c", `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$0"`, c.Path,
		filepath.Dir(path),
	}
	var err error
	if c.Path, err = exec.LookPath("unshare"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: no unshare")
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// A store on a file system that is mounted read-only, as a snapshot is, can be looked at in full, with locks or
// without, and refuses calls that write. One whose log holds events that are not in the file, and one of an earlier
// format, are refused rather than read in part; and so is one that lost an event that its mark has as recorded.
func TestReadOnly(t *testing.T) {
	testbed.Outside(t)
	s := newTest(t)
	grow(t, s, "a", 1, 10)
	if err := s.Create(t.Context(), "b", nil); err != nil {
		t.Fatal(err)
	}
	grow(t, s, "b", 1, 5)
	path := s.Path()
	copyTo := func(names ...string) string {
		to := filepath.Join(t.TempDir(), "a.db")
		for _, suffix := range names {
			b, err := os.ReadFile(path + suffix)
			if err == nil {
				err = os.WriteFile(to+suffix, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return to
	}
	want := func(what, path, text string) {
		t.Helper()
		if got := readOnly(t, path); !strings.Contains(got, text) {
			t.Errorf("%s: got %q, want %q", what, got, text)
		}
	}
	want("with a log", copyTo("", "-wal"), "refused true")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const whole = "read 15 refused 6"
	want("closed", path, whole)
	want("a copy without locks", copyTo(""), whole)
	old := filepath.Join(t.TempDir(), "a.db")
	b, err := os.ReadFile("testdata/v1.db")
	if err == nil {
		err = os.WriteFile(old, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	want("an earlier format", old, "refused true")
	lacks := filepath.Join(t.TempDir(), "a.db")
	s = openTest(t, lacks)
	if err := s.Create(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	grow(t, s, "a", 1, 10)
	last := mark{inode(lacks), 1, 20}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want("whole", lacks, "read 10")
	if m, ok := readMark(s.markPath(), lacks); !ok || m != last {
		t.Fatalf("the mark is %+v, %v, want %+v", m, ok, last)
	}
	last.seq++
	if err := os.WriteFile(s.markPath(), last.encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	want("one that lacks an event", lacks, "refused false")
	t.Log("counted: 3 stores mounted read-only were read in full and refused 6 kinds of writing each; 3 that could be " +
		"read in part alone were refused")
}
