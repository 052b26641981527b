// This file copies the intact events of a damaged file. It trusts a row of events if its checksum is right, and
// nothing else: rows of studies and heads are hints. SQLite does not read the damaged file, because it would stop at
// the first fault, and might change the file or remove its log.

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// A Salvaged lists the events of one study that [Salvage] copied.
type Salvaged struct {
	Study  string
	Events int64      // copied
	Lost   [][2]int64 // first and last number of the events that are not there
	// Guessed means that the record of the study's creation is lost, so that name and specification have no checksum or
	// are not known at all.
	Guessed bool
}

// Salvage copies every readable event of the damaged store at path into a new store at dst. It reads the pages of the
// file and its log without SQLite, takes every event with a right checksum, and does not change the file. The events
// of a study are numbered anew; the report lists the missing ones.
//
// No store of this process may be open on path, for closing the file would end SQLite's locks on it. Salvage holds
// all events in memory. It returns an error that matches fs.ErrExist if dst exists. If Salvage fails on the way, dst
// stays with the studies copied so far, each of them whole, and the report lists them. It must be removed before the
// next attempt.
func Salvage(ctx context.Context, path, dst string, opts Options) ([]Salvaged, error) {
	if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "salvage to", Path: dst, Err: fs.ErrExist}
	}
	found := finds{}
	// Before dst is made: a file that cannot be read leaves none behind.
	if err := found.read(path); err != nil {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	damaged := file{path}
	if m, ok := readMark(damaged.markPath(), path); ok && found[m.study] != nil {
		f := found[m.study]
		f.last = max(f.last, m.seq)
	}
	s, err := Open(ctx, dst, opts)
	if err != nil {
		return nil, err
	}
	var report []Salvaged
	names := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		f := found[id]
		if len(f.records) == 0 && f.name == "" {
			continue // only a row of heads
		}
		r, err := f.copy(ctx, s, id, names)
		if err != nil {
			return report, errors.Join(err, s.Close())
		}
		report = append(report, r)
	}
	return report, s.Close()
}

// finds holds the find of each study, by its number.
type finds map[int64]*find

// A find holds the rows found of one study.
type find struct {
	records map[int64][]byte // payload by seq, checked
	name    string           // in the table studies, not checked
	spec    []byte
	created time.Time
	// last only serves to count the events that are missing at the end.
	last int64 // seq in the table heads, not checked
}

// at returns the find of a study, and makes it if it does not exist.
func (found finds) at(id int64) *find {
	if found[id] == nil {
		found[id] = &find{records: map[int64][]byte{}}
	}
	return found[id]
}

// read looks through all pages of the file and its log.
// The log is laid over the file as SQLite does it. An error is one of reading.
func (found finds) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	p := &pages{file: file, overlay: map[uint32]int64{}}
	var stray []walFrame
	if wal, err := os.Open(path + "-wal"); err == nil {
		defer wal.Close()
		scan, err := scanWAL(wal)
		if err != nil {
			return err
		}
		p.wal, stray = wal, scan.stray
		// The last image of a page counts, as with SQLite.
		for _, f := range scan.frames {
			p.overlay[f.page] = f.offset
		}
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// A last page that is not whole counts too; see pages.read.
	last := uint32((info.Size() + pageSize - 1) / pageSize)
	for n := range p.overlay {
		last = max(last, n)
	}
	// n > 0 ends the loop if a damaged log names the greatest page number.
	for n := uint32(1); n <= last && n > 0; n++ {
		if err := found.page(p, n); err != nil {
			return err
		}
	}
	// After a fault of the log there are newer images of some pages. Events are only added, so common rows are the same.
	for _, f := range stray {
		p.overlay[f.page] = f.offset
		if err := found.page(p, f.page); err != nil {
			return err
		}
	}
	return nil
}

// page takes the cells of page n. A record that is cut off is left out; after an error of reading, the other cells of
// the page are still taken.
func (found finds) page(p *pages, n uint32) error {
	buf := make([]byte, pageSize)
	if ok, err := p.read(n, buf); !ok {
		return err
	}
	var failed error
	cells(buf, n == 1, func(c cell) {
		rec, err := p.record(c)
		switch {
		case err == nil:
			found.take(c.rowid, columns(rec))
		case !errors.Is(err, errShort):
			failed = err
		}
	})
	return failed
}

// take sorts a row by its form: a row of events, whose checksum is right, of studies, or of heads. The page does not
// name its table, so these signs identify it:
//   - rowid is 0 in events and trials, which are WITHOUT ROWID
//   - the first column is NULL in studies and heads, whose key is the rowid
//   - the number of columns: 6 in events, 4 in studies, 14 in heads; 15 in heads of format 1, 11 of format 2
//
// A row may be met twice, in the file and in a stray frame. For events, both are the same; for studies and heads, the
// last one counts.
func (found finds) take(rowid int64, v []value) {
	switch {
	case rowid == 0 && len(v) == 6 && begins(v, "ii-tib"):
		study, seq, payload := v[0].n, v[1].n, v[3].b
		if study > 0 && seq >= 0 && v[4].n == int64(store.Checksum(study, seq, payload)) {
			found.at(study).records[seq] = payload
		}
	case rowid > 0 && len(v) == 4 && begins(v, "ntbt"):
		f := found.at(rowid)
		f.name, f.spec, f.created = string(v[1].b), v[2].b, store.ParseTimeOr(string(v[3].b))
	case rowid > 0 && slices.Contains([]int{11, 14, 15}, len(v)) && begins(v, "nib"):
		found.at(rowid).last = v[1].n
	}
}

// begins reports whether the first values are of these kinds: null, integer, text, blob, or - for any.
func begins(v []value, kinds string) bool {
	for i, kind := range kinds {
		is := map[rune]bool{'n': v[i].null, 'i': v[i].isInt, 't': v[i].isText, 'b': v[i].isBlob, '-': true}
		if !is[kind] {
			return false
		}
	}
	return true
}

// copy makes the study in s, with a name that is not in names yet.
// All is one transaction, so a crash leaves the study whole or not at all. The events get new
// numbers and a new chain of hashes; their payloads stay byte for byte. f.records loses record
// 0.
func (f *find) copy(ctx context.Context, s *Store, id int64, names map[string]bool) (Salvaged, error) {
	c, err := store.DecodeCreation(f.records[0])
	r := Salvaged{Guessed: f.records[0] == nil || err != nil}
	if r.Guessed {
		c = store.Creation{Study: f.name, Spec: f.spec, Created: f.created}
	}
	if store.CheckName(c.Study) != nil {
		c.Study = fmt.Sprintf("salvaged-%d", id)
	}
	// Two studies have one name only if a name was guessed or made up.
	for n, name := 2, c.Study; names[c.Study]; n++ {
		c.Study = fmt.Sprintf("%s (%d)", name, n)
	}
	names[c.Study] = true
	r.Study = c.Study
	payload, err := c.Encode()
	if err != nil {
		return r, err
	}
	delete(f.records, 0)
	var events []assay.Event
	var payloads [][]byte
	next := int64(1)
	for _, seq := range slices.Sorted(maps.Keys(f.records)) {
		e, err := store.DecodeEvent(f.records[seq])
		if err != nil {
			continue // written by something else: it counts as lost
		}
		if seq > next {
			r.Lost = append(r.Lost, [2]int64{next, seq - 1})
		}
		next = seq + 1
		events, payloads = append(events, e), append(payloads, f.records[seq])
	}
	if f.last >= next {
		r.Lost = append(r.Lost, [2]int64{next, f.last})
	}
	r.Events = int64(len(events))
	return r, s.write(ctx, func() error {
		if err := s.insertStudy(c, payload); err != nil {
			return err
		}
		return s.insertAt(c.Study, 0, events, payloads)
	})
}
