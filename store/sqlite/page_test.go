package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
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

// What is too short for what it says is no record; bytes behind it are not looked at.
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

// The report names the events that are not there, in the middle and at the end, and no two studies have one name.
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

// What fails leaves no trace, and what others have written in the same transaction stays.
func TestApart(t *testing.T) {
	s := openTest(t, filepath.Join(fastDir(t), "a.db"))
	errWhy := errors.New("why")
	put := func(id int64, then error) func() error {
		return func() error {
			_, err := s.conn.ExecContext(t.Context(), `INSERT INTO studies VALUES ($1, $2, x'', '')`, id, fmt.Sprint(id))
			return errors.Join(err, then)
		}
	}
	err := s.alone(t.Context(), func() error {
		for id, then := range []error{nil, errWhy, nil, errWhy} {
			if err, undone := s.apart(put(int64(id+1), then)); !errors.Is(err, then) || undone {
				t.Errorf("%d: got %v and undone %v, want %v", id+1, err, undone, then)
			}
		}
		return nil
	})
	var ids string
	scan := s.conn.QueryRowContext(t.Context(), `SELECT group_concat(id) FROM studies`).Scan(&ids)
	if err != nil || scan != nil || ids != "1,3" {
		t.Errorf("there are %s, %v, %v", ids, err, scan)
	}
}

// A lock file says who has it, as far as that is known.
func TestHolder(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	h := holder{PID: 12, Host: "here", Since: since}
	if got, want := h.String(), "process 12 on here since 2026-01-02 03:04:05"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	h.By = "assay"
	if got, want := h.String(), "assay, process 12 on here since 2026-01-02 03:04:05"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (holder{By: "assay"}).String(); got != "another process" {
		t.Errorf("got %q of nobody", got)
	}
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    holder
		want bool
	}{
		{holder{PID: os.Getpid(), Host: here}, false},
		{holder{PID: 1 << 30, Host: here}, true},
		{holder{PID: 1 << 30, Host: here + "x"}, false},
		{holder{PID: 0, Host: here}, false},
		{holder{PID: -1 << 30, Host: here}, false},
	} {
		if got := c.h.killed(); got != c.want {
			t.Errorf("%+v: killed is %v", c.h, got)
		}
	}
	path := filepath.Join(t.TempDir(), "lock")
	f, err := tryFlock(path, holder{Study: "a", By: "one"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tryFlock(path, holder{})
	who := fmt.Sprintf("by one, process %d on ", os.Getpid())
	if !errors.Is(err, assay.ErrLocked) || !strings.Contains(err.Error(), who) {
		t.Errorf("got %v, want who has it", err)
	}
	if err := f.release(); err != nil {
		t.Fatal(err)
	}
	if f, err = tryFlock(path, holder{}); err != nil {
		t.Fatal(err)
	}
	if err := f.release(); err != nil {
		t.Error(err)
	}
}

// A file without the mark of this program is taken only if it is empty, and one of a later format not at all.
func TestFileVersion(t *testing.T) {
	ctx := t.Context()
	const mark = applicationID
	for _, c := range []struct {
		id, version, tables int
		want                error
	}{
		{0, 0, 0, nil},
		{0, 1, 0, ErrForeign},
		{0, 0, 1, ErrForeign},
		{7, 0, 0, ErrForeign},
		{7, 3, 1, ErrForeign},
		{mark, 1, 0, nil},
		{mark, 3, 1, nil},
		{mark, 4, 1, ErrNewer},
		{mark, 0, 1, ErrDamaged},
		{mark, -1, 1, ErrDamaged},
	} {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", int32(c.id), c.version)
		if c.tables > 0 {
			text += "; CREATE TABLE x (y)"
		}
		if _, err := conn.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
		got, err := fileVersion(ctx, conn, 3)
		if !errors.Is(err, c.want) || err == nil && got != c.version {
			t.Errorf("%+v: got %d, %v", c, got, err)
		}
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// Salvage looks at every page, also at a last one that is cut, and at no page that neither file nor log has.
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

// Frames behind the last commit are of a transaction that has not ended.
func TestUntilCommit(t *testing.T) {
	for commits, want := range map[string]int{"": 0, "-": 0, "--": 0, "c": 1, "c-": 1, "-c": 2, "c-c--": 3} {
		frames := make([]walFrame, len(commits))
		for i := range frames {
			frames[i].commit = commits[i] == 'c'
		}
		if got := len(untilCommit(frames)); got != want {
			t.Errorf("%q: got %d frames, want %d", commits, got, want)
		}
	}
}
