package store

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestMem(t *testing.T) {
	assaytest.TestStore(t, func(*testing.T) assay.Store { return NewMem() }, assaytest.StoreOptions{})
}

func TestMemProjector(t *testing.T) {
	assaytest.TestProjector(t, func(*testing.T) assaytest.ProjectingStore { return NewMem() })
}

func TestMemWatcher(t *testing.T) {
	assaytest.TestWatcher(t, func(*testing.T) assaytest.WatchedStore { return NewMem() })
}

func TestMemLeaser(t *testing.T) {
	newStore := func(*testing.T) assaytest.LeasedStore { return NewMem() }
	assaytest.TestLeaser(t, newStore, assaytest.LeaserOptions{Bubble: true})
}
