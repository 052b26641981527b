package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/assaytest"
)

// The projection that is kept is the one that is made from all events, and fsck
// finds the same.
func TestProjector(t *testing.T) {
	assaytest.TestProjector(t, func(t *testing.T) assaytest.ProjectingStore {
		s := openTest(t, filepath.Join(fastDir(t), "a.db"))
		t.Cleanup(func() { fsckAtEnd(t, s) })
		return s
	})
}

// fsckAtEnd is checkFsck for a Cleanup, when the context of the test is done.
func fsckAtEnd(t *testing.T, s *Store) {
	r, err := s.Fsck(context.Background(), FsckOptions{})
	if err != nil || !r.OK() {
		t.Errorf("fsck: %v, %v", r.Problems, err)
	}
}
