package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/queue"
)

// readOrders returns the orders to workers on record.
func readOrders(path string) (all map[string]queue.Order, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, assay.WithHint(assay.WithClass(assay.ClassIO, fmt.Errorf("the orders to workers: %s: %w", path, err)),
			"without the file, workers that were drained take runs again")
	}
	return all, nil
}

// writeOrders has the orders that hold on record.
func writeOrders(path string, all map[string]queue.Order) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := files.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		return assay.WithClass(assay.ClassIO, fmt.Errorf("the orders to workers: %w", err))
	}
	return nil
}
