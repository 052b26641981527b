package queue

import "github.com/assay-run/assay"

// LogID returns the attributes of an attempt in a log: study, trial, repeat and attempt.
func LogID(id assay.RunID) []any {
	return []any{"study", id.Study, "trial", id.Trial, "repeat", id.Repeat, "attempt", id.Attempt}
}
