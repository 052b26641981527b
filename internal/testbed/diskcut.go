package testbed

import (
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/meterfs"
)

// sector is the unit that a disk writes as a whole.
const sector = 512

// Cut returns a directory with the content of the disk after its power was cut at an instant, one of the many possible:
//
//   - data written to a file before its last fsync are there
//   - each write since then is there, or is not, or some of its sectors are
//   - a name that was made, changed or removed before the last fsync of its directory is so
//   - of the changes of names since then the first few are there
func (d *Disk) Cut(t testing.TB, at int, rng *rand.Rand) string {
	t.Helper()
	d.mu.Lock()
	log := slices.Clone(d.log[:at])
	d.mu.Unlock()
	r := newRecord()
	for _, c := range log {
		r.add(c)
	}
	dir := t.TempDir()
	names := r.names(rng)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		f := names[name]
		parent := filepath.Dir(to)
		if f == nil {
			parent = to
		}
		if err := os.MkdirAll(parent, 0o700); err != nil {
			t.Fatal(err)
		}
		if f == nil {
			continue
		}
		if err := os.WriteFile(to, f.content(rng), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A file is the history of the content of one file.
type file struct {
	ops    []meterfs.Change // "write" and "resize"
	synced int              // the number of durable operations
}

// A naming is a change of names: each is taken away, and to each a file is given; nil is a directory.
type naming struct {
	dirs    []string // that hold the names
	gone    []string
	given   map[string]*file
	durable map[string]bool // of dirs
}

// A record is the history of a disk.
type record struct {
	now     map[string]*file
	open    map[int64]*file
	namings []*naming
}

func newRecord() *record {
	return &record{now: map[string]*file{}, open: map[int64]*file{}}
}

// dirOf returns the directory of a name, "" for the root.
func dirOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// rename notes a change of names that has come into effect.
func (r *record) change(gone []string, given map[string]*file) {
	n := &naming{gone: gone, given: given, durable: map[string]bool{}}
	for _, name := range slices.Concat(gone, slices.Sorted(maps.Keys(given))) {
		n.dirs = append(n.dirs, dirOf(name))
	}
	r.namings = append(r.namings, n)
	n.apply(r.now)
}

// apply makes the change in names.
func (n *naming) apply(names map[string]*file) {
	for _, name := range n.gone {
		delete(names, name)
	}
	maps.Copy(names, n.given)
}

// add notes an operation.
func (r *record) add(c meterfs.Change) {
	switch c.Op {
	case "create", "open":
		r.opened(c)
	case "write", "resize", "sync":
		f := r.open[c.Handle]
		if c.Handle == 0 {
			f = r.now[c.Path]
		}
		switch {
		case f == nil:
		case c.Op == "sync":
			f.synced = len(f.ops)
		default:
			f.ops = append(f.ops, c)
		}
	case "syncdir":
		for _, n := range r.namings {
			if slices.Contains(n.dirs, c.Path) {
				n.durable[c.Path] = true
			}
		}
	case "mkdir":
		r.change(nil, map[string]*file{c.Path: nil})
	case "unlink", "rmdir":
		r.change([]string{c.Path}, nil)
	case "link":
		r.change(nil, map[string]*file{c.Path: r.now[c.To]})
	case "rename":
		r.rename(c.Path, c.To)
	}
}

// rename gives a file, or all below a folder, another name.
func (r *record) rename(from, to string) {
	gone, given := []string{}, map[string]*file{}
	for name, f := range r.now {
		if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
			gone, given[to+rest] = append(gone, name), f
		}
	}
	slices.Sort(gone)
	r.change(gone, given)
}

// opened takes a file that is opened, and made first if need be.
func (r *record) opened(c meterfs.Change) {
	f, ok := r.now[c.Path]
	if !ok && c.Op == "create" {
		f = &file{}
		r.change(nil, map[string]*file{c.Path: f})
	}
	if f == nil {
		return
	}
	r.open[c.Handle] = f
	if c.Empty {
		f.ops = append(f.ops, meterfs.Change{Op: "resize"})
	}
}

// names returns the names after a cut. A change is durable if all its directories have been synced since.
func (r *record) names(rng *rand.Rand) map[string]*file {
	pending := 0
	isPending := func(n *naming) bool {
		return len(n.durable) < len(slices.Compact(slices.Sorted(slices.Values(n.dirs))))
	}
	for _, n := range r.namings {
		if isPending(n) {
			pending++
		}
	}
	kept := rng.IntN(pending + 1)
	names := map[string]*file{}
	for _, n := range r.namings {
		if isPending(n) {
			if kept--; kept < 0 {
				continue
			}
		}
		n.apply(names)
	}
	return names
}

// content returns the content of a file after a cut.
func (f *file) content(rng *rand.Rand) (b []byte) {
	for i, op := range f.ops {
		torn := false
		if i >= f.synced {
			switch rng.IntN(4) {
			case 0, 1:
				continue
			case 2:
				torn = op.Op == "write"
			}
		}
		if op.Op == "resize" {
			b = resize(b, op)
			continue
		}
		for off := 0; off < len(op.Data); off += sector {
			if torn && rng.IntN(2) == 0 {
				continue
			}
			part := op.Data[off:min(off+sector, len(op.Data))]
			at := int(op.Off) + off
			if end := at + len(part); end > len(b) {
				b = append(b, make([]byte, end-len(b))...)
			}
			copy(b[at:], part)
		}
	}
	return b
}

func resize(b []byte, op meterfs.Change) []byte {
	size := op.Size
	if size < 0 {
		size = max(int64(len(b)), op.Off)
	}
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}
