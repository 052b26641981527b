// This file reads SQLite's log without SQLite, for two purposes: to refuse a file whose log lost commits (checkWAL),
// and to find the content of such a log (Salvage).

package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	driver "modernc.org/sqlite"
)

// The write-ahead log (https://sqlite.org/fileformat2.html#the_write_ahead_log): a header of 32 bytes and frames of
// 24 bytes and a page, all big-endian. The checksum of a frame covers the checksum before it, so that SQLite takes
// the first frame with a wrong one for the end of the log: damage in the middle makes it drop the later frames
// silently. scanWAL detects that.
const (
	walHeader   = 32
	frameHeader = 24
	frameSize   = frameHeader + pageSize
)

// A walFrame is a page image in the log. commit marks the end of a transaction.
type walFrame struct {
	page   uint32
	commit bool
	offset int64 // of the page image in the file
}

// A walScan is the content of a log. A fault alone is no damage. Behind the last commit of a sound log there may be:
//   - frames with another salt, from before the last checkpoint
//   - frames of a transaction that did not end
type walScan struct {
	frames []walFrame // the part that SQLite reads: up to the last commit before a fault
	stray  []walFrame // frames of the same log behind the fault
	// fault is the number of the first wrong frame, counted from 1; 0 is the header and -1 means no fault.
	fault int
	// lost is the number of commits behind the fault, at least, if it cannot be
	// the unfinished write of the last transaction; 0 otherwise.
	lost int
}

// checkWAL returns an error that matches [ErrDamaged] if SQLite passes over commits in the log, or if the log lost its
// end. The caller must not be in a transaction. To close f ends no lock of SQLite, although POSIX locks end so: its
// locks are on the file and on the index of the log, not on the log.
func (w *writer) checkWAL(ctx context.Context) error {
	// No process may write meanwhile. The lock also makes SQLite recover.
	if err := w.begin(ctx); err != nil {
		return classify(err)
	}
	defer func() { _ = w.exec("ROLLBACK") }()
	err := w.checkCommits()
	if err == nil {
		err = w.checkMark(ctx, w.conn)
	}
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	// SQLite would remove the log as it closes the file, and Salvage needs it.
	kept := w.conn.Raw(func(c any) error {
		_, err := c.(driver.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
	if kept != nil {
		return classify(kept)
	}
	return err
}

// checkCommits returns an error that matches [ErrDamaged] if commits follow a fault of the log.
func (s file) checkCommits() error {
	f, err := os.Open(s.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	defer f.Close()
	scan, err := scanWAL(f)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	if scan.lost > 0 {
		return fmt.Errorf("%w: its log is damaged at frame %d and at least %d commits behind that are lost to SQLite",
			ErrDamaged, scan.fault, scan.lost)
	}
	return nil
}

// scanWAL reads a log, which may be empty. The error is one of reading. The fields of the header are, by offset:
// magic number 0, version 4, page size 8, number of checkpoints 12, salts 16, checksum 24. The fields of a frame are:
// page 0, size of the database after a commit 4 (0 for other frames), salts 8, checksum 16. The checksum covers the
// first 8 bytes of a frame and the page. A frame at the end that is not whole is ignored.
func scanWAL(r io.ReaderAt) (walScan, error) {
	scan := walScan{fault: -1}
	var header [walHeader]byte
	if n, err := r.ReadAt(header[:], 0); n < walHeader {
		return scan, notEOF(err)
	}
	sum := newWALSum(header[:])
	sum.add(header[:24])
	salt := [8]byte(header[16:24])
	valid := sum.equal(header[24:])
	if !valid {
		scan.fault = 0
	}
	commits := 0 // in the present run of stray frames that follow each other
	frame := make([]byte, frameSize)
	for i := 1; ; i++ {
		offset := int64(walHeader) + int64(i-1)*frameSize
		if n, err := r.ReadAt(frame, offset); n < frameSize {
			scan.frames = untilCommit(scan.frames)
			return scan, notEOF(err)
		}
		// With a damaged header, the first frame shows which frames belong together.
		if i == 1 && !valid {
			salt = [8]byte(frame[8:16])
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		follows := sum.equal(frame[16:24])
		// From the stored sum on, one damaged frame does not make all that follow look wrong.
		sum.set(frame[16:24])
		f := walFrame{
			page:   binary.BigEndian.Uint32(frame),
			commit: binary.BigEndian.Uint32(frame[4:]) != 0,
			offset: offset + frameHeader,
		}
		same := [8]byte(frame[8:16]) == salt
		// Behind the first fault nothing is valid any more, as with SQLite.
		if valid = valid && same && follows && f.page != 0; valid {
			scan.frames = append(scan.frames, f)
			continue
		}
		if scan.fault < 0 {
			scan.fault = i
		}
		if !same {
			commits = 0
			continue
		}
		scan.stray = append(scan.stray, f)
		if !follows {
			commits = 0 // of another run, such as a transaction that was written over
		}
		if f.commit {
			// One commit may belong to a transaction whose frames did not all reach the disk: it was never acknowledged. With
			// two, the first was.
			if commits++; commits > 1 {
				scan.lost = max(scan.lost, commits)
			}
		}
	}
}

// untilCommit returns the frames up to the last that ends a transaction.
// SQLite does not read a transaction that has not ended. The result is part of frames.
func untilCommit(frames []walFrame) []walFrame {
	for len(frames) > 0 && !frames[len(frames)-1].commit {
		frames = frames[:len(frames)-1]
	}
	return frames
}

// notEOF returns err, or nil for the end of the file: a log may end anywhere.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// walSum is the running checksum of a log: two Fibonacci-weighted sums of 32-bit words in the byte order that the magic
// number names. The sums are stored big-endian all the same.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// newWALSum returns the sum of nothing, for a log with that header. The magic number is
// 0x377f0682 for little-endian words and 0x377f0683 for big-endian ones.
func newWALSum(header []byte) *walSum {
	if binary.BigEndian.Uint32(header)&1 != 0 {
		return &walSum{order: binary.BigEndian}
	}
	return &walSum{order: binary.LittleEndian}
}

// add continues the sum by b, whose length is a multiple of 8.
func (w *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		w.s0 += w.order.Uint32(b) + w.s1
		w.s1 += w.order.Uint32(b[4:]) + w.s0
	}
}

// equal reports whether b is the sum as it is stored.
func (w *walSum) equal(b []byte) bool {
	return w.s0 == binary.BigEndian.Uint32(b) && w.s1 == binary.BigEndian.Uint32(b[4:])
}

// set goes on from a stored sum.
func (w *walSum) set(b []byte) {
	w.s0, w.s1 = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
}
