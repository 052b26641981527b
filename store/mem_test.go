package store

import (
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
)

func TestMem(t *testing.T) {
	assaytest.TestStore(t, func(*testing.T) assay.Store { return NewMem() }, assaytest.StoreOptions{})
}
