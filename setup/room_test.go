package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
)

// On a disk of 8 MiB, programs that flood their output do not fill it, and a disk that is nearly full
// starts no run.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("assay-test", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: no disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	var said []string
	s := &Store{Path: filepath.Join(dir, "a.db")}
	k := s.keeper("x", func(text string) { said = append(said, text) })
	flood := assay.Measurement{Stdout: make([]byte, 2<<20)}
	for id := int64(1); id <= 9; id++ {
		k.keep(assay.Trial{Proposal: assay.Proposal{ID: id}, Measurement: flood})
	}
	if free, _, err := disk(dir); err != nil || free < 2<<20 {
		t.Errorf("%d bytes are left: %v", free, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "trial 4 and of later ones is not kept: the disk has") {
		t.Errorf("said %q", said)
	}
	if err := s.roomToRun(); err != nil {
		t.Errorf("with 2 MiB: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, 2<<20-300<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	err := s.roomToRun()
	if assay.ClassOf(err) != assay.ClassIO || !strings.Contains(err.Error(), "0.3 MiB left") || assay.HintOf(err) == "" {
		t.Errorf("with 0.3 MiB: %v", err)
	}
}

// The outputs of a study do not grow without end, outputs of earlier sessions included.
func TestMostOutput(t *testing.T) {
	if why := roomForOutput(t.TempDir(), mostOutput-10, 11); !strings.Contains(why, "take 1024 MiB") {
		t.Errorf("said %q", why)
	}
	s := &Store{Path: filepath.Join(t.TempDir(), "a.db")}
	for range 2 {
		k := s.keeper("x", func(text string) { t.Error(text) })
		k.keep(assay.Trial{Proposal: assay.Proposal{ID: 1}, Measurement: assay.Measurement{Stderr: make([]byte, 100)}})
		k.keep(assay.Trial{Proposal: assay.Proposal{ID: 2}, Measurement: assay.Measurement{Stdout: make([]byte, 50)}})
		if k.bytes != 150 && k.bytes != 300 {
			t.Errorf("%d bytes", k.bytes)
		}
	}
}
