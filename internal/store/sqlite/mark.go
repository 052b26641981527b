// This file keeps the mark of the last event that was acknowledged. SQLite takes the end of its log for the end of
// the data, so the log alone does not show that it lost its end. The mark is a separate file that does.

package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"syscall"
)

// A mark records that the event seq of a study was committed. The number of its file, the inode, identifies a file
// that was put in the place of another one.
type mark struct {
	inode      uint64
	study, seq int64
}

// The bytes of a mark: "assay-m1", the three numbers and the CRC-32C of all before, little endian.
// They are within one sector of a disk.
const (
	markMagic = "assay-m1"
	markSize  = len(markMagic) + 3*8 + 4
)

// encode returns the bytes of the mark.
func (m mark) encode() []byte {
	b := append(make([]byte, 0, markSize), markMagic...)
	for _, n := range []uint64{m.inode, uint64(m.study), uint64(m.seq)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// decodeMark reads the output of encode. ok is false for anything else.
func decodeMark(b []byte) (m mark, ok bool) {
	if len(b) != markSize || string(b[:len(markMagic)]) != markMagic {
		return mark{}, false
	}
	n := b[len(markMagic):]
	m = mark{
		binary.LittleEndian.Uint64(n), int64(binary.LittleEndian.Uint64(n[8:])), int64(binary.LittleEndian.Uint64(n[16:])),
	}
	return m, string(m.encode()) == string(b)
}

// markPath is the file of the mark. All processes that have the store open share it.
func (s file) markPath() string { return s.lockPath("last") }

// readMark returns the mark at a path, if it speaks of the file.
func readMark(at, file string) (m mark, ok bool) {
	b, err := os.ReadFile(at)
	if err != nil {
		return mark{}, false // missing or unreadable
	}
	m, ok = decodeMark(b)
	return m, ok && m.inode == inode(file)
}

// inode returns the number of the file at path, or 0.
func inode(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ino
}

// keepMark writes down the last event of the commit that has just been made. It follows the commit, and does not wait
// for the disk: it never names an event that is not on the disk. If two processes commit at once the one that writes
// last counts, so the mark may be an event behind. A failure costs the mark only.
func (w *writer) keepMark() {
	if w.tail == w.marked || w.tail.study == 0 {
		return
	}
	if w.marks == nil {
		f, err := os.OpenFile(w.markPath(), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		w.marks = f
	}
	if w.tail.inode == 0 {
		w.tail.inode = inode(w.path)
	}
	if _, err := w.marks.WriteAt(w.tail.encode(), 0); err == nil {
		w.marked = w.tail
	}
}

// checkMark returns an error that matches [ErrDamaged] if the file lacks the event of the mark. The caller is in a
// transaction. A study that was removed lacks nothing: its number was given out. Unreadable pages are left to their
// readers, who name them.
func (s file) checkMark(ctx context.Context, c *sql.Conn) error {
	m, ok := readMark(s.markPath(), s.path)
	if !ok {
		return nil
	}
	var name string
	var last int64
	err := c.QueryRowContext(ctx, `SELECT name,
		ifnull((SELECT seq FROM events WHERE study = s.id ORDER BY seq DESC LIMIT 1), -1)
		FROM studies s WHERE id = ?`, m.study).Scan(&name, &last)
	what := fmt.Sprintf("event %d of study %q", m.seq, name)
	switch {
	case err == nil && last >= m.seq:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		var given int64
		err = c.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = 'studies'`).Scan(&given)
		if err == nil && given >= m.study {
			return nil
		}
		what = "a study"
	}
	switch err = classify(err); {
	case errors.Is(err, ErrDamaged):
		return nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return fmt.Errorf("%w: %s was recorded and is not there: the log %s-wal lost its end, or an older copy was written "+
		"over the file; "+
		"remove %s to use the file as it is", ErrDamaged, what, s.path, s.markPath())
}
