// This file reads the b-tree pages of a damaged file for [Salvage]. It follows no tree: every
// page is looked at by itself, so that a damaged inner page hides nothing.

package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
)

// Pages of an SQLite file (https://sqlite.org/fileformat2.html#b_tree_pages), read without SQLite and without trust:
// wrong parts are left out.

// pages gives the pages of a file with its log laid over them. It is for one goroutine and changes neither file.
type pages struct {
	file io.ReaderAt
	// wal is nil if there is no log; then overlay is empty.
	wal     io.ReaderAt
	overlay map[uint32]int64 // page number to offset in wal
}

// read fills buf with page n, which counts from 1, and reports whether there is one. An error is one of reading. buf
// has the size of a page. The part of a page that the file does not have is zero.
func (p *pages) read(n uint32, buf []byte) (bool, error) {
	from, offset := p.file, int64(n-1)*pageSize
	if o, ok := p.overlay[n]; ok {
		from, offset = p.wal, o
	}
	got, err := from.ReadAt(buf, offset)
	if got < len(buf) {
		clear(buf[got:]) // of a file that was cut
	}
	return got > 0, notEOF(err)
}

// A cell is a row of a b-tree page: all of its record, or the beginning and the
// first of the overflow pages that hold the rest.
type cell struct {
	rowid int64 // of a table; 0 in an index
	// size is the size in the cell, up to 1 GiB; it may be wrong.
	size int64 // of the record
	// local is part of the page that was given to cells, and good for as long as that is.
	local []byte
	// overflow is 0 if local has all.
	overflow uint32
}

// cells calls f for each cell that can be read. first is true for page 1, which begins with the header of the file. It
// goes by the array of cell pointers alone. Inner pages of tables (0x05) have keys and no records. limit is the most
// bytes of a record that a page keeps, X in the format's description; the formulas use pageSize as U, since no bytes at
// a page's end are reserved.
func cells(page []byte, first bool, f func(cell)) {
	at := 0
	if first {
		at = 100
	}
	kind := page[at]
	var start, limit int
	switch kind {
	case 0x0d: // leaf of a table
		start, limit = at+8, pageSize-35
	case 0x0a: // leaf of an index, which a table WITHOUT ROWID is
		start, limit = at+8, (pageSize-12)*64/255-23
	case 0x02: // inner page of an index: it has records too
		start, limit = at+12, (pageSize-12)*64/255-23
	default:
		return
	}
	// The number of cells is at offset 3 of the page's header.
	for i := range int(binary.BigEndian.Uint16(page[at+3:])) {
		pointer := start + 2*i
		if pointer+2 > len(page) {
			return
		}
		if c, ok := parseCell(page, int(binary.BigEndian.Uint16(page[pointer:])), kind, limit); ok {
			f(c)
		}
	}
}

// parseCell reads the cell at offset of the page. ok is false if its content is impossible.
func parseCell(page []byte, offset int, kind byte, limit int) (c cell, ok bool) {
	if kind == 0x02 {
		offset += 4 // the child to the left
	}
	if offset >= len(page) {
		return cell{}, false
	}
	b := page[offset:]
	size, n := uvarint(b)
	// 1 GiB is above SQLite's own largest row, SQLITE_MAX_LENGTH, of 10^9 bytes.
	if n == 0 || size < 1 || size > 1<<30 {
		return cell{}, false
	}
	b = b[n:]
	c.size = size
	if kind == 0x0d {
		if c.rowid, n = uvarint(b); n == 0 {
			return cell{}, false
		}
		b = b[n:]
	}
	local := int(size)
	if local > limit {
		// This is M of the format's description, and local becomes K, or M if K is above X.
		least := (pageSize-12)*32/255 - 23
		if local = least + (int(size)-least)%(pageSize-4); local > limit {
			local = least
		}
		if len(b) < local+4 {
			return cell{}, false
		}
		c.overflow = binary.BigEndian.Uint32(b[local:])
	}
	if len(b) < local {
		return cell{}, false
	}
	c.local = b[:local]
	return c, true
}

// errShort reports that a record is not whole.
var errShort = errors.New("record is cut off")

// record returns the whole record of a cell in a new slice. The first four bytes of an overflow page are the number of
// the next, 0 on the last. A record that ends early gives errShort; other errors are of reading.
func (p *pages) record(c cell) ([]byte, error) {
	// A wrong size must not exhaust the memory: the slice begins small and grows with the data.
	b := append(make([]byte, 0, min(c.size, 1<<16)), c.local...)
	buf := make([]byte, pageSize)
	// The record grows by each page, so a loop of pages ends.
	for next := c.overflow; int64(len(b)) < c.size; {
		if next == 0 {
			return nil, errShort
		}
		ok, err := p.read(next, buf)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errShort
		}
		next = binary.BigEndian.Uint32(buf)
		b = append(b, buf[4:4+min(c.size-int64(len(b)), pageSize-4)]...)
	}
	return b, nil
}

// A value is a column of a record. If none of the four is set, it is a float.
type value struct {
	null, isInt, isText, isBlob bool

	n int64 // if isInt
	// b is part of the record that was given to columns.
	b []byte // if isText or isBlob
}

// columns returns the columns of a record, or nil if it is not one. The header of a record is its own length and then
// one serial type per column (https://sqlite.org/fileformat2.html#record_format). A header or a body that is too short
// is no record; bytes behind the last column are not looked at.
func columns(rec []byte) []value {
	header, n := uvarint(rec)
	if n == 0 || header < int64(n) || header > int64(len(rec)) {
		return nil
	}
	types, body := rec[n:header], rec[header:]
	var vs []value
	for len(types) > 0 {
		t, n := uvarint(types)
		if n == 0 || t < 0 {
			return nil
		}
		types = types[n:]
		size := serialSize(t)
		if size < 0 || size > int64(len(body)) {
			return nil
		}
		vs = append(vs, makeValue(t, body[:size]))
		body = body[size:]
	}
	return vs
}

// serialSize returns the length of a value of that serial type, or -1. t is not negative. 10 and 11 are SQLite's own
// and never in a file; 8 and 9 are the integers 0 and 1.
func serialSize(t int64) int64 {
	switch {
	case t >= 12:
		return (t - 12) / 2
	case t == 10, t == 11:
		return -1
	}
	return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[t]
}

// makeValue returns the value of serial type t whose bytes are b, serialSize(t) of them.
func makeValue(t int64, b []byte) value {
	switch {
	case t == 0:
		return value{null: true}
	case t == 8, t == 9:
		return value{isInt: true, n: t - 8}
	case t == 7: // a float: we read none
		return value{}
	case t >= 12:
		return value{isBlob: t%2 == 0, isText: t%2 == 1, b: b}
	}
	x := int64(int8(b[0])) // two's complement, big-endian
	for _, c := range b[1:] {
		x = x<<8 | int64(c)
	}
	return value{isInt: true, n: x}
}

// uvarint reads SQLite's variable-length integer: seven bits per byte, the most significant first, eight in the ninth.
// n is its length, or 0. The ninth byte can make x negative: callers must check.
func uvarint(b []byte) (x int64, n int) {
	for i, c := range b[:min(len(b), 9)] {
		if i == 8 {
			return x<<8 | int64(c), 9
		}
		x = x<<7 | int64(c&0x7f)
		if c < 0x80 {
			return x, i + 1
		}
	}
	return 0, 0
}
