package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rowsOf returns the rows of all pages of the file that SQLite makes by the statements.

func rowsOf(t *testing.T, f func(rowid int64, v []value), statements ...string) {
	t.Helper()
	path := filepath.Join(fastDir(t), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, text := range append([]string{fmt.Sprintf("PRAGMA page_size = %d", pageSize)}, statements...) {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &pages{file: bytes.NewReader(data)}
	buf := make([]byte, pageSize)
	for n := uint32(1); int(n) <= len(data)/pageSize; n++ {
		if ok, err := p.read(n, buf); !ok || err != nil {
			t.Fatal(n, ok, err)
		}
		cells(bytes.Clone(buf), n == 1, func(c cell) {
			rec, err := p.record(c)
			if err != nil || int64(len(rec)) != c.size {
				return // an overflow page that looks like one of rows
			}
			f(c.rowid, columns(rec))
		})
	}
}

// Rows of all lengths about which something changes are read as SQLite has written them: where all of a row no longer

// fits into its page, where the rest begins, and where that needs one overflow page more.

func TestPageLengths(t *testing.T) {
	for _, kind := range []string{"", " WITHOUT ROWID"} {
		statements := []string{"CREATE TABLE x (id INTEGER PRIMARY KEY, b BLOB)" + kind}
		want := map[int64]bool{}
		for _, r := range [][2]int64{
			{0, 3},
			{480, 500},
			{985, 1010},
			{4045, 4070},
			{4570, 4600},
			{5080, 5110},
			{8140, 8160},
			{8650, 8690},
			{20000, 20001},
		} {
			statements = append(statements, fmt.Sprintf("INSERT INTO x WITH RECURSIVE n(n) AS "+
				"(SELECT %d UNION ALL SELECT n + 1 FROM n WHERE n < %d) SELECT n + 1, zeroblob(n) FROM n", r[0], r[1]))
			for n := r[0]; n <= r[1]; n++ {
				want[n] = true
			}
		}
		rowsOf(t, func(rowid int64, v []value) {
			if len(v) != 2 || !v[1].isBlob {
				return // the definition of the table
			}
			n, id := int64(len(v[1].b)), rowid
			if kind != "" {
				id = v[0].n
			}
			if !want[n] || id != n+1 || v[0].null != (kind == "") {
				t.Errorf("%q: row %d of %d bytes", kind, id, n)
			}
			delete(want, n)
		}, statements...)
		if len(want) > 0 {
			t.Errorf("%q: lengths that are not found: %v", kind, slices.Sorted(maps.Keys(want)))
		}
	}
}

// Numbers of all lengths and signs are read as SQLite has written them.

func TestPageValues(t *testing.T) {
	numbers := []int64{0, 1, -1, 2, math.MaxInt64, math.MinInt64}
	for bits := 7; bits < 63; bits += 8 {
		numbers = append(numbers, 1<<bits-1, 1<<bits, -1<<bits, -1<<bits-1)
	}
	statements := []string{"CREATE TABLE x (id INTEGER PRIMARY KEY, n, a, b, c, d)"}
	for i, n := range numbers {
		statements = append(statements, fmt.Sprintf("INSERT INTO x VALUES (%d, %d, NULL, 'text', x'0102', 0.5)", i+1, n))
	}
	got := 0
	rowsOf(t, func(rowid int64, v []value) {
		if len(v) != 6 {
			return
		}
		got++
		if want := numbers[rowid-1]; !v[1].isInt || v[1].n != want {
			t.Errorf("got %+v, want %d", v[1], want)
		}
		if !v[2].null || !v[3].isText || string(v[3].b) != "text" || !v[4].isBlob || string(v[4].b) != "\x01\x02" {
			t.Errorf("got %+v", v)
		}
		if d := v[5]; d.null || d.isInt || d.isText || d.isBlob {
			t.Errorf("a float is %+v", d)
		}
	}, statements...)
	if got != len(numbers) {
		t.Errorf("got %d rows, want %d", got, len(numbers))
	}
}

func TestUvarint(t *testing.T) {
	ff := strings.Repeat("\xff", 9)
	for _, c := range []struct {
		b string
		x int64
		n int
	}{
		{"", 0, 0},
		{"\x00", 0, 1},
		{"\x7fx", 127, 1},
		{"\x81\x00", 128, 2},
		{"\x81\x01", 129, 2},
		{"\x80", 0, 0},
		{"\xff\x7f", 16383, 2},
		{ff, -1, 9},
		{ff[:8], 0, 0},
		{ff[:7] + "\x7f", 1<<56 - 1, 8},
		{strings.Repeat("\x80", 8) + "\x05", 5, 9},
	} {
		if x, n := uvarint([]byte(c.b)); x != c.x || n != c.n {
			t.Errorf("%x: got %d of %d bytes, want %d of %d", c.b, x, n, c.x, c.n)
		}
	}
}

// Bytes that are too few for their header are no record; bytes behind a record are not looked at.

func TestColumns(t *testing.T) {
	for b, want := range map[string]int{
		"\x01": 0, "\x02\x00": 1, "\x03\x01\x00\x05": 2, "\x02\x01\x05rest": 1, "\x02\x0f\x41": 1, // 'A'
	} {
		if v := columns([]byte(b)); len(v) != want {
			t.Errorf("%x: got %+v, want %d columns", b, v, want)
		}
	}
	for _, b := range []string{
		"", "\x00", "\x03\x01", "\x02\x01", "\x02\x04\x01\x02\x03", "\x02\x0a", "\x02\x0b", "\x02\x0f", "\x02\x80",
		strings.Repeat("\xff", 9),
	} {
		if v := columns([]byte(b)); v != nil {
			t.Errorf("%x: got %+v, want none", b, v)
		}
	}
}

// A row belongs to the table that it looks like, and one of events is taken only with its checksum.

// The report names the events that are not there, in the middle and at the end, and no two studies have one name.

// A write that fails leaves no trace, and the writes of others in the same transaction stay.

// A lock file names its holder, as far as that is known.

// A file without the mark of this program is taken only if it is empty, and one of a later format not at all.

// Salvage looks at every page, also at a last one that is cut, and at no page that neither file nor log has.

// Frames behind the last commit are of a transaction that has not ended.
