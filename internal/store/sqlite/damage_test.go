package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// A key names an event of the sample by study and number.
type key struct {
	study string
	seq   int64
}

// sampleStudies are the studies of the sample and their numbers of trials: 100
// together. One is long enough for several pages, one has events that do not
// fit into a page, one was removed.
func sampleStudies() map[string]int64 { return map[string]int64{"long": 80, "wide": 15, "short": 5} }

func sampleEvents(study string) (events []assay.Event) {
	for id := range sampleStudies()[study] {
		two := pair(id + 1)
		if study == "wide" {
			two[1].Told.Reason = string(slices.Repeat([]byte("0123456789"), []int{110, 230, 900}[id%3]))
		}
		events = append(events, two...)
	}
	return events
}

// written are the events of the sample as they are stored, with the events of the removed study.
var written = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for study := range sampleStudies() {
		for _, e := range sampleEvents(study) {
			b, _ := store.EncodeEvents([]assay.Event{e}) // written events can be encoded
			all[string(b[0])] = true
		}
	}
	for id := range int64(10) {
		b, _ := store.EncodeEvents(pair(id + 1))
		all[string(b[0])], all[string(b[1])] = true, true
	}
	return all
})

// writeSample makes the sample at path and closes it.
func writeSample(t testing.TB, path string) {
	t.Helper()
	s := openTest(t, path)
	for _, study := range []string{"short", "removed", "long", "wide"} {
		if err := s.Create(t.Context(), study, []byte("spec of "+study)); err != nil {
			t.Fatal(err)
		}
		for i, events := 0, sampleEvents(study); i < len(events); i += 2 {
			if _, err := s.Append(t.Context(), study, assay.Position(i), events[i:i+2]...); err != nil {
				t.Fatal(err)
			}
		}
	}
	grow(t, s, "removed", 1, 10)
	if err := s.Remove(t.Context(), "removed"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// pagesOf returns the pages that hold each event of the file, by its bytes.
func pagesOf(t testing.TB, data []byte) map[key][]uint32 {
	t.Helper()
	p := &pages{file: bytesAt(data)}
	where := map[[2]int64][]uint32{}
	names := map[int64]string{}
	for n := uint32(1); int(n) <= len(data)/pageSize; n++ {
		page := data[(n-1)*pageSize : n*pageSize]
		cells(page, n == 1, func(c cell) {
			rec, err := p.record(c)
			if err != nil {
				return // of another kind of page
			}
			found := finds{}
			found.take(c.rowid, columns(rec))
			for id, f := range found {
				for seq, payload := range f.records {
					at := []uint32{n}
					for next, left := c.overflow, c.size-int64(len(c.local)); left > 0; left -= pageSize - 4 {
						at = append(at, next)
						next = uint32(data[(next-1)*pageSize])<<24 | uint32(data[(next-1)*pageSize+1])<<16 |
							uint32(data[(next-1)*pageSize+2])<<8 | uint32(data[(next-1)*pageSize+3])
					}
					where[[2]int64{id, seq}] = at
					if created, err := store.DecodeCreation(payload); seq == 0 && err == nil {
						names[id] = created.Study
					}
				}
			}
		})
	}
	byKey := map[key][]uint32{}
	for k, at := range where {
		byKey[key{names[k[0]], k[1]}] = at
	}
	return byKey
}

type bytesAt []byte

func (b bytesAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(b)) {
		return 0, fmt.Errorf("beyond the end")
	}
	return copy(p, b[off:]), nil
}

// outcome is the fate of a damaged file.
type outcome int

const (
	refused  outcome = iota // Open reports the damage
	reported                // Fsck does
	whole                   // neither does, and it reads as if nothing had happened
	wrong                   // neither does, and something is missing or different
)

// tryDamaged writes data as a store and returns its outcome.
func tryDamaged(t testing.TB, dir string, data []byte) (o outcome, detail string) {
	t.Helper()
	path := filepath.Join(dir, "damaged.db")
	for _, suffix := range []string{"-wal", "-shm"} {
		os.Remove(path + suffix)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		return refused, err.Error()
	}
	defer s.Close()
	r, err := s.Fsck(t.Context(), FsckOptions{})
	if err != nil {
		return reported, err.Error()
	}
	// Events that are read without an error are right, whether there was a warning or not.
	total := 0
	for study := range sampleStudies() {
		want := sampleEvents(study)
		i := 0
		for e, err := range s.Events(t.Context(), study, 0) {
			if err != nil {
				i = -1
				break
			}
			if i >= len(want) || !sameEvent(e, want[i]) {
				return wrong, fmt.Sprintf("study %s: event %d is different", study, i+1)
			}
			i++
		}
		if i >= 0 && i != len(want) {
			return wrong, fmt.Sprintf("study %s: %d events", study, i)
		}
		if spec, err := s.Spec(t.Context(), study); err == nil && string(spec) != "spec of "+study {
			return wrong, fmt.Sprintf("study %s: specification %q", study, spec)
		}
		total += max(i, 0)
	}
	if !r.OK() {
		return reported, r.Problems[0].String()
	}
	if total != 200 {
		return wrong, fmt.Sprintf("%d events, and no problem", total)
	}
	return whole, ""
}

// trySalvage salvages data and fails unless every event is there that does not
// touch the bytes from lo to hi.
func trySalvage(t testing.TB, dir string, data []byte, where map[key][]uint32, lo, hi int) {
	t.Helper()
	src, dst := filepath.Join(dir, "src.db"), filepath.Join(dir, "dst.db")
	if err := os.WriteFile(src, data, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(dst + suffix)
		}
	}()
	report, err := Salvage(t.Context(), src, dst, Options{})
	if err != nil {
		t.Fatalf("damage at %d to %d: %v", lo, hi, err)
	}
	s := openTest(t, dst)
	defer s.Close()
	got := map[string][]assay.Event{}
	for _, r := range report {
		for e, err := range s.Events(t.Context(), r.Study, 0) {
			if err != nil {
				t.Fatal(err)
			}
			got[r.Study] = append(got[r.Study], e)
			if b, err := store.EncodeEvents([]assay.Event{e}); err != nil || !written()[string(b[0])] {
				t.Errorf("damage at %d to %d: %.200s is salvaged, which nobody has written (%v)", lo, hi, b, err)
			}
		}
	}
	for study := range sampleStudies() {
		for i, want := range sampleEvents(study) {
			touched := slices.ContainsFunc(where[key{study, int64(i + 1)}], func(n uint32) bool {
				return int(n)*pageSize > lo && int(n-1)*pageSize < hi
			})
			if touched {
				continue
			}
			found := false
			for name := range got { // its name may be lost
				found = found || slices.ContainsFunc(got[name], func(e assay.Event) bool { return sameEvent(e, want) })
			}
			if !found {
				t.Errorf("damage at %d to %d: event %d of %q is on pages %v and was not salvaged",
					lo, hi, i+1, study, where[key{study, int64(i + 1)}])
			}
		}
	}
	checkFsck(t, s)
}

// A damaged file is seen, named and mostly saved.
func TestDamage(t *testing.T) {
	t.Parallel()
	testbed.Long(t)
	dir := fastDir(t)
	path := filepath.Join(dir, "sample.db")
	writeSample(t, path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	where := pagesOf(t, data)
	if len(where) != 203 {
		t.Fatalf("got %d records in the pages of the sample, want 200 events and 3 creations", len(where))
	}
	if o, detail := tryDamaged(t, dir, data); o != whole {
		t.Fatalf("the sample: %v %s", o, detail)
	}
	trySalvage(t, dir, data, where, 0, 0)
	rng := rand.New(rand.NewPCG(3, 4))
	flips, salvages, randomCuts := 1, testbed.Times(12, 3), 20 // salvage one in so many
	if soak() {
		flips, salvages, randomCuts = 20, 1, 0
	}
	salvaged := 0
	count := map[string]*[4]int{"zeroed": {}, "flipped": {}, "cut": {}}
	try := func(kind string, damaged []byte, lo, hi int) {
		t.Helper()
		o, detail := tryDamaged(t, dir, damaged)
		count[kind][o]++
		if o == wrong || o == whole && kind != "flipped" {
			t.Errorf("%s at %d to %d of %d: not detected: %s", kind, lo, hi, len(data), detail)
		}
	}
	for lo := 0; lo < len(data); lo += pageSize {
		zeroed := slices.Clone(data)
		clear(zeroed[lo : lo+pageSize])
		if slices.Equal(zeroed, data) {
			continue // it was zero before: a free page
		}
		try("zeroed", zeroed, lo, lo+pageSize)
		if rng.IntN(salvages) == 0 {
			trySalvage(t, dir, zeroed, where, lo, lo+pageSize)
			salvaged++
		}
		for range flips {
			flipped := slices.Clone(data)
			at := lo + rng.IntN(pageSize)
			flipped[at] ^= 1 << rng.IntN(8)
			try("flipped", flipped, at, at+1)
			if rng.IntN(2*salvages) == 0 {
				trySalvage(t, dir, flipped, where, lo, lo+pageSize)
				salvaged++
			}
		}
	}
	cuts := []int{0, 1, 15, 16, 99, 100, 511, 512, len(data) - 1, len(data) - pageSize, len(data) - pageSize - 1}
	for range randomCuts {
		cuts = append(cuts, rng.IntN(len(data)))
	}
	if soak() { // at every byte
		cuts = nil
		for n := range data {
			cuts = append(cuts, n)
		}
	}
	for _, n := range cuts {
		try("cut", data[:n], n, len(data))
	}
	trySalvage(t, dir, data[:len(data)/2], where, len(data)/2, len(data))
	faults, wrongs := 0, 0
	for _, n := range count {
		faults, wrongs = faults+n[refused]+n[reported]+n[whole]+n[wrong], wrongs+n[wrong]
	}
	t.Logf("counted: %d blocks, each zeroed and flipped, and cuts: %d faults, %d harmless, %d silently wrong; %d salvaged",
		len(data)/pageSize, faults, count["flipped"][whole], wrongs, salvaged)
}
