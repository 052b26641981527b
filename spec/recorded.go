package spec

import "github.com/assay-run/assay"

// RecordedSearch is the search of a study that was imported: there was none.
const RecordedSearch = "recorded"

// HalfImport reports whether a study on record is an import that did not finish, because its process was killed. Its
// trials are some of a table, in the order of the table, and do not represent the whole.
func (s *Study) HalfImport(sum assay.Summary) bool {
	return s.Search.Name == RecordedSearch && sum.Ended == ""
}
