package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay/store"
)

func TestTake(t *testing.T) {
	num := func(n int64) value { return value{isInt: true, n: n} }
	text := func(s string) value { return value{isText: true, b: []byte(s)} }
	blob, null := value{isBlob: true, b: []byte("x")}, value{null: true}
	event := func(study, seq, crc int64) []value {
		return []value{num(study), num(seq), text("at"), text("payload"), num(crc), blob}
	}
	sum := func(study, seq int64) int64 { return int64(store.Checksum(study, seq, []byte("payload"))) }
	row := []value{null, text("a"), blob, text("2026-01-02T03:04:05Z")}
	head := func(columns int) []value {
		v := []value{null, num(9), blob}
		for len(v) < columns {
			v = append(v, null)
		}
		return v
	}
	found := finds{}
	for _, c := range []struct {
		rowid int64
		v     []value
	}{
		{0, event(1, 4, sum(1, 4)+1)},
		{1, event(1, 4, sum(1, 4))},
		{0, event(0, 4, sum(0, 4))},
		{0, event(1, -1, sum(1, -1))},
		{0, event(1, 4, sum(1, 4))[:5]},
		{0, event(1, 4, sum(2, 4))},
		{0, row},
		{-1, row},
		{1, row[:3]},
		{0, head(14)},
		{1, head(13)},
		{1, head(10)},
		{1, head(12)},
		{1, head(16)},
		{1, append([]value{num(1)}, head(14)[1:]...)},
		{1, append([]value{num(1)}, row[1:]...)},
	} {
		if found.take(c.rowid, c.v); len(found) > 0 {
			t.Fatalf("taken: row %d %+v", c.rowid, c.v)
		}
	}
	found.take(0, event(1, 4, sum(1, 4)))
	found.take(0, event(1, 0, sum(1, 0)))
	found.take(2, row)
	for i, n := range []int{11, 14, 15} {
		found.take(int64(3+i), head(n))
		if found[int64(3+i)].last != 9 {
			t.Errorf("a row of heads of %d columns is not taken", n)
		}
	}
	if r := found[1].records; len(r) != 2 || string(r[4]) != "payload" || string(r[0]) != "payload" {
		t.Errorf("events: %v", r)
	}
	if f := found[2]; f.name != "a" || string(f.spec) != "x" || f.created.Year() != 2026 {
		t.Errorf("studies: %+v", f)
	}
}

func TestFindCopy(t *testing.T) {
	s := openTest(t, filepath.Join(fastDir(t), "a.db"))
	var payloads [][]byte
	for id := range int64(5) {
		for _, e := range pair(id + 1) {
			b, err := store.EncodeEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			payloads = append(payloads, b)
		}
	}
	creation, err := store.Creation{Study: "a", Spec: []byte("spec"), Created: time.Unix(1, 0).UTC()}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range []struct {
		f      find
		events []int64
		want   Salvaged
	}{
		{find{}, []int64{0, 1, 2}, Salvaged{Study: "a", Events: 2}},
		{find{last: 2}, []int64{0, 1, 2}, Salvaged{Study: "a (2)", Events: 2}},
		{find{last: 3}, []int64{0, 1, 2}, Salvaged{Study: "a (3)", Events: 2, Lost: [][2]int64{{3, 3}}}},
		{find{last: 9}, []int64{0, 2, 5, 6}, Salvaged{Study: "a (4)", Events: 3, Lost: [][2]int64{{1, 1}, {3, 4}, {7, 9}}}},
		{find{name: "b"}, []int64{1}, Salvaged{Study: "b", Events: 1, Guessed: true}},
		{find{}, []int64{1}, Salvaged{Study: "salvaged-7", Events: 1, Guessed: true}},
		{find{name: "b", last: 4}, nil, Salvaged{Study: "b (2)", Guessed: true, Lost: [][2]int64{{1, 4}}}},
	} {
		c.f.records = map[int64][]byte{}
		for _, seq := range c.events {
			if c.f.records[seq] = creation; seq > 0 {
				c.f.records[seq] = payloads[seq-1]
			}
		}
		got, err := c.f.copy(t.Context(), s, 7, names)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("got %+v, %v, want %+v", got, err, c.want)
		}
		if sum, err := s.Summary(t.Context(), c.want.Study); err != nil || sum.Events != c.want.Events {
			t.Errorf("%s has %d events, %v", c.want.Study, sum.Events, err)
		}
	}
	checkFsck(t, s)
}

func TestReadPages(t *testing.T) {
	leaf := func(rowid byte) []byte { // a page with one row of studies, of the name "a"
		b := make([]byte, pageSize)
		b[0], b[4], b[8], b[9] = 0x0d, 1, 1, 0 // one cell, at 256
		// 7 bytes of a record with a header of 5: NULL, a text and a blob of 0 or 1 bytes, a text of none.
		copy(b[256:], []byte{6, rowid, 5, 0, 15, 12, 13, 'a'})
		return b
	}
	first := append(make([]byte, 100), leaf(1)[:pageSize-100]...)
	first[100+8], first[100+9] = 1, 100 // 256 became 356
	whole := slices.Concat(first, leaf(2), leaf(3))
	for _, c := range []struct {
		size int
		want []int64
	}{
		{0, nil},
		{100, nil},
		{400, []int64{1}},
		{pageSize, []int64{1}},
		{pageSize + 200, []int64{1}},
		{pageSize + 300, []int64{1, 2}},
		{2 * pageSize, []int64{1, 2}},
		{3*pageSize - 1, []int64{1, 2, 3}},
		{3 * pageSize, []int64{1, 2, 3}},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		if err := os.WriteFile(path, whole[:c.size], 0o600); err != nil {
			t.Fatal(err)
		}
		found := finds{}
		err := found.read(path)
		if got := slices.Sorted(maps.Keys(found)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("of %d bytes: got %v, %v, want %v", c.size, got, err, c.want)
		}
	}
	if err := (finds{}).read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v of a file that is not there", err)
	}
}
