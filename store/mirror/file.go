package mirror

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"

	"github.com/assay-run/assay/internal/whole"
	"github.com/assay-run/assay/store"
)

// A copy is the magic and a frame for each record, from record 0 on:
//
//	length of the payload   4 bytes, little endian
//	CRC-32C of all others   4 bytes, likewise
//	hash of the record     32 bytes, see store.NewRecord
//	payload
const (
	magic     = "assay record 1\n"
	frameHead = 4 + 4 + 32
	// mostPayload is far above any event: a length beyond it is damage.
	mostPayload = math.MaxInt32
)

// Suffix ends the names of copies.
const Suffix = ".events"

// errTorn says that the last frame was not written whole.
var errTorn = errors.New("the last event was not written whole")

// frame returns the frame of a record.
func frame(r store.Record) []byte {
	b := make([]byte, frameHead, frameHead+len(r.Payload))
	binary.LittleEndian.PutUint32(b, uint32(len(r.Payload)))
	copy(b[8:], r.Hash)
	b = append(b, r.Payload...)
	binary.LittleEndian.PutUint32(b[4:], checksum(b))
	return b
}

// checksum returns that of a frame.
func checksum(b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:4], table), table, b[8:])
}

// A reader reads the frames of a copy.
type reader struct {
	in   io.ReaderAt
	size int64
	at   int64 // where the next frame begins
	next int64 // the number of its record
	hash []byte
}

// newReader returns a reader of a file. A file that is too short to have the magic, and begins as it, is torn.
func newReader(in io.ReaderAt, size int64) (*reader, error) {
	head := make([]byte, min(size, int64(len(magic))))
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case string(head) == magic:
		return &reader{in: in, size: size, at: int64(len(magic)), hash: store.Genesis()}, nil
	case len(head) < len(magic) && string(head) == magic[:len(head)]:
		return nil, errTorn
	}
	return nil, fmt.Errorf("%w: it is no copy of a record", store.ErrDamaged)
}

// read returns the next record; its error is io.EOF behind the last, errTorn if that was not written whole, or matches
// [store.ErrDamaged].
func (f *reader) read() (r store.Record, err error) {
	left := f.size - f.at
	if left == 0 {
		return r, io.EOF
	}
	if left < frameHead {
		return r, errTorn
	}
	head := make([]byte, frameHead)
	if _, err := f.in.ReadAt(head, f.at); err != nil {
		return r, err
	}
	n := int64(binary.LittleEndian.Uint32(head))
	if n > left-frameHead {
		// The length may be what is damaged, so that whole frames would be taken for a torn one.
		if n > mostPayload || f.follows() {
			return r, fmt.Errorf("%w: event %d, at byte %d, has a wrong length", store.ErrDamaged, f.next, f.at)
		}
		return r, errTorn
	}
	b := make([]byte, frameHead+n)
	if _, err := f.in.ReadAt(b, f.at); err != nil {
		return r, err
	}
	if binary.LittleEndian.Uint32(b[4:]) != checksum(b) {
		if f.at+int64(len(b)) == f.size {
			return r, errTorn // its pages may come to the disk in any order
		}
		return r, fmt.Errorf("%w: event %d, at byte %d, has a wrong checksum", store.ErrDamaged, f.next, f.at)
	}
	r = store.NewRecord(f.hash, 0, f.next, b[frameHead:])
	if !bytes.Equal(r.Hash, b[8:frameHead]) {
		return r, fmt.Errorf("%w: event %d, at byte %d, does not follow the one before it", store.ErrDamaged, f.next, f.at)
	}
	f.at += int64(len(b))
	f.next++
	f.hash = r.Hash
	return r, nil
}

// follows reports whether a whole frame begins anywhere in what is left: it was torn by nothing then.
func (f *reader) follows() bool {
	rest := make([]byte, min(f.size-f.at, 64<<20))
	if _, err := f.in.ReadAt(rest, f.at); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	for i := 1; i+frameHead <= len(rest); i++ {
		n := int64(binary.LittleEndian.Uint32(rest[i:]))
		if end := int64(i) + frameHead + n; end <= int64(len(rest)) &&
			binary.LittleEndian.Uint32(rest[i+4:]) == checksum(rest[i:end]) {
			return true
		}
	}
	return false
}

// Records yields the records of a copy from the first to the last that was written whole, verified: their Study is 0.
// What is damaged ends it with an error that matches [store.ErrDamaged].
func Records(path string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		defer f.Close()
		for r, err := range records(f) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func records(f *os.File) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		at, err := f.Stat()
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		in, err := newReader(f, at.Size())
		for err == nil {
			var r store.Record
			if r, err = in.read(); err == nil && !yield(r, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, errTorn) {
			yield(store.Record{}, err)
		}
	}
}

// A file is a copy that is written.
type file struct {
	*os.File
	end  int64 // of what is whole
	next int64 // the number of the record that comes next
	hash []byte
}

// open opens a copy to write on, or makes it. What was not written whole is cut off.
func open(path string) (_ *file, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
	}()
	at, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c := &file{File: f, hash: store.Genesis()}
	in, err := newReader(f, at.Size())
	for err == nil {
		c.end, c.next, c.hash = in.at, in.next, in.hash
		_, err = in.read()
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, errTorn) {
		return nil, err
	}
	if err := f.Truncate(c.end); err != nil {
		return nil, err
	}
	if c.end == 0 {
		if err := c.write([]byte(magic)); err != nil {
			return nil, err
		}
		return c, whole.SyncDir(filepath.Dir(path))
	}
	return c, nil
}

// write writes what follows, and makes it durable.
func (c *file) write(b []byte) error {
	n, err := c.WriteAt(b, c.end)
	if err == nil {
		err = c.Sync()
	}
	if err != nil {
		return err
	}
	c.end += int64(n)
	return nil
}

// gone reports whether the error is that of a file which is not there.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
