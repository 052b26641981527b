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

func (kb *Base) trialsFile(name string) string {
	return filepath.Join(kb.dir, "study-"+url.PathEscape(name)+".trials")
}

func (kb *Base) indexFile() string { return filepath.Join(kb.dir, "index.json") }

// indexVersion is the version of the files; those of another one are ignored.
const indexVersion = 1

type indexData struct {
	Version int             `json:"version"`
	Spaces  [][]assay.Param `json:"spaces"`
	Studies []*entry        `json:"studies"`
}

// readIndex returns what was known; nothing if that cannot be read.
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
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
