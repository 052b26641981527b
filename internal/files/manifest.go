package files

import (
	"encoding/json"
	"strings"

	"github.com/assay-run/assay"
)

// Limits of the files kept of one run.
const (
	MaxOutputs     = 64 << 20 // bytes of its files, total
	MaxOutputFiles = 1000
	MaxStream      = 2<<20 + 1<<10 // bytes of each of its outputs: beginning and end of 1 MiB each, and the mark of a cut
	MaxManifest    = 2 << 20       // bytes of the list
	maxLeft        = 100           // files that are listed without being kept
)

// A Manifest lists the files kept of a run. It is a blob itself, and its hash is on record.
type Manifest struct {
	Version int    `json:"version"`
	Files   []Kept `json:"files,omitempty"` // in order of their names
	// Stdout and Stderr are the kept outputs, if they are longer than the part in the outcome.
	Stdout *Kept `json:"stdout,omitempty"`
	Stderr *Kept `json:"stderr,omitempty"`
	// Left are files that match the patterns and are not kept; More is the number of further ones.
	Left []Left `json:"left,omitempty"`
	More int    `json:"more,omitempty"`
}

// A Kept is a file of a [Manifest].
type Kept struct {
	Name   string `json:"name,omitempty"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// within reports whether it has a hash, and a size up to most.
func (k Kept) within(most int64) bool { return Is(k.SHA256) && k.Size >= 0 && k.Size <= most }

// A Left is a file that is not kept.
type Left struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// manifestVersion is the version of the format.
const manifestVersion = 1

// Empty reports whether the manifest has no entries.
func (m *Manifest) Empty() bool {
	return len(m.Files) == 0 && m.Stdout == nil && m.Stderr == nil && len(m.Left) == 0
}

// Encode returns the text of a manifest: equal ones have equal texts.
func (m *Manifest) Encode() ([]byte, error) {
	m.Version = manifestVersion
	return json.Marshal(m)
}

// leave notes a file that is not kept.
func (m *Manifest) leave(name, why string) {
	if len(m.Left) == maxLeft {
		m.More++
		return
	}
	m.Left = append(m.Left, Left{strings.ToValidUTF8(name[:min(len(name), maxName)], "\uFFFD"), why})
}

// ParseManifest reads a manifest. It comes from a worker: the error, of class usage, names the fault.
func ParseManifest(b []byte) (*Manifest, error) {
	bad := func(format string, args ...any) (*Manifest, error) {
		return nil, assay.Errorf(assay.ClassUsage, "the list of the kept files of a run: "+format, args...)
	}
	m := &Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return bad("it cannot be decoded: %w", err)
	}
	switch {
	case m.Version != manifestVersion:
		return bad("it has version %d, and this program reads version %d", m.Version, manifestVersion)
	case len(m.Files) > MaxOutputFiles || len(m.Left) > maxLeft || m.More < 0:
		return bad("it has more files than there may be, which is %d", MaxOutputFiles)
	}
	seen := map[string]bool{}
	var total int64
	for _, f := range m.Files {
		if flaw := NameFlaw(f.Name); flaw != "" {
			return bad("%.80q is no name: %s", f.Name, flaw)
		}
		if seen[f.Name] {
			return bad("%.80q is there twice", f.Name)
		}
		if seen[f.Name] = true; !f.within(MaxOutputs) {
			return bad("%.80q has no size or no hash", f.Name)
		}
		total += f.Size
	}
	if total > MaxOutputs {
		return bad("its files have more than %s", Bytes(MaxOutputs))
	}
	for _, s := range []*Kept{m.Stdout, m.Stderr} {
		if s != nil && (!s.within(MaxStream) || s.Name != "") {
			return bad("an output has no size or no hash")
		}
	}
	return m, nil
}

// All returns everything that a manifest names.
func (m *Manifest) All() []Kept {
	all := append([]Kept(nil), m.Files...)
	for _, s := range []*Kept{m.Stdout, m.Stderr} {
		if s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// File returns the file of a name.
func (m *Manifest) File(name string) (Kept, bool) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, true
		}
	}
	return Kept{}, false
}
