package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
)

// longFile is the file with the results of the long forms, from the root of the repository. They take
// hours, so each promise has the results of the last time.
const longFile = "internal/tools/soak.json"

// A longForm is the result of the long form of a promise's tests.
type longForm struct {
	Date   string   `json:"date"`
	Commit string   `json:"commit"`
	CameTo string   `json:"came_to"`
	Counts []string `json:"counts,omitempty"`
}

// readLong returns the results that are kept, by promise.
func readLong() (map[string]longForm, error) {
	all := map[string]longForm{}
	b, err := os.ReadFile(longFile)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(b, &all)
}

// keepLong keeps the result of a promise, in place of the one before. A failure is kept too.
func keepLong(id string, r result) error {
	all, err := readLong()
	if err != nil {
		return err
	}
	all[id] = longForm{time.Now().UTC().Format(time.DateOnly), commit(), r.String(), r.counts}
	b, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(longFile, append(b, '\n'), 0o644)
}
