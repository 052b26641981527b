package prior

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-run/assay"
)

// This file is the index of the knowledge base: index.json and, beside it, one file of trials
// for each study. All of them are a cache. No error of reading or writing them reaches the
// caller, because the events can be read again. Two processes may write at once: each file is
// replaced as a whole, the last one wins, and both were true.

// trialsFile returns where the trials of a study are kept. The name is escaped, since it may
// hold a slash.
func (kb *Base) trialsFile(name string) string {
	return filepath.Join(kb.dir, "study-"+url.PathEscape(name)+".trials")
}

// indexFile returns where the index is kept.
func (kb *Base) indexFile() string { return filepath.Join(kb.dir, "index.json") }

// indexVersion is the version of the files; files of another version are ignored.
const indexVersion = 1

// Parameters are kept once for all studies of a space: a record may hold hundreds of studies
// of one program.
type indexData struct {
	Version int `json:"version"`
	// An entry names its space by the index in Spaces.
	Spaces  [][]assay.Param `json:"spaces"`
	Studies []*entry        `json:"studies"`
}

// readIndex returns the entries of the index file; none if the file cannot be read. It also takes over the spaces of
// the file, whose numbers the entries use. One entry that is out of range makes the whole index untrusted.
func (kb *Base) readIndex() map[string]*entry {
	old := map[string]*entry{}
	if kb.dir == "" {
		return old
	}
	b, err := os.ReadFile(kb.indexFile())
	if err != nil {
		return old
	}
	var index indexData
	if json.Unmarshal(b, &index) != nil || index.Version != indexVersion {
		return old
	}
	for _, k := range index.Studies {
		if k == nil || k.Space < 0 || k.Space >= len(index.Spaces) {
			return map[string]*entry{}
		}
		k.Params = index.Spaces[k.Space]
		old[k.Name] = k
	}
	kb.spaces = index.Spaces
	return old
}

// The studies are sorted by name, so that equal knowledge is an equal file. A crash in it
// leaves the old index, which is brought up to date by the next Open.
func (kb *Base) writeIndex() {
	if kb.dir == "" {
		return
	}
	index := indexData{Version: indexVersion, Spaces: kb.spaces}
	if index.Spaces == nil {
		index.Spaces = [][]assay.Param{nil} // of studies that could not be read
	}
	for _, k := range kb.studies {
		index.Studies = append(index.Studies, k)
	}
	slices.SortFunc(index.Studies, func(a, b *entry) int { return cmp.Compare(a.Name, b.Name) })
	if b, err := json.Marshal(index); err == nil {
		_ = writeWhole(kb.indexFile(), b)
	}
}

// writeWhole writes a file such that a reader sees the old or the new one.
// The new file stands in the same directory, because rename(2) is atomic only within a file
// system. It is not synced: after a power failure the file may be damaged, which readers
// notice. The directory is for the user alone.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	// Some file systems report a full disk only here.
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
