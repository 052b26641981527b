package server

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// Orders are read as they were written; another file is an error, and not taken for an empty one.
func TestOrders(t *testing.T) {
	path := filepath.Join(t.TempDir(), ordersFile)
	if all, err := readOrders(path); len(all) != 0 || err != nil {
		t.Errorf("without a file: %v, %v", all, err)
	}
	want := map[string]queue.Order{"a": {Drain: true}, "b": {Drain: true, Evict: true}}
	if err := writeOrders(path, want); err != nil {
		t.Fatal(err)
	}
	if all, err := readOrders(path); !maps.Equal(all, want) || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if err := os.WriteFile(path, []byte(`{"a": {"dra`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readOrders(path); assay.ClassOf(err) != assay.ClassIO || !strings.Contains(err.Error(), path) {
		t.Errorf("half a file: %v", err)
	}
	if err := writeOrders(filepath.Join(path, "x"), want); assay.ClassOf(err) != assay.ClassIO {
		t.Errorf("nowhere: %v", err)
	}
}
