package setup

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

	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/store"
)

// A copy is the copyMagic and a frame for each record, from record 0 on:
//
//	length of the payload   4 bytes, little endian
//	CRC-32C of all others   4 bytes, likewise
//	hash of the record     32 bytes, see store.NewRecord
//	payload
const (
	copyMagic = "assay record 1\n"
	frameHead = 4 + 4 + 32
	// mostPayload is far above any event: a length beyond it is damage.
	mostPayload = math.MaxInt32
)

// copySuffix ends the names of copies.
const copySuffix = ".events"

// errTorn reports that the last frame was not written whole.
var errTorn = errors.New("the last event was not written whole")

// copyFrame returns the frame of a record.
func copyFrame(r store.Record) []byte {
	b := make([]byte, frameHead, frameHead+len(r.Payload))
	binary.LittleEndian.PutUint32(b, uint32(len(r.Payload)))
	copy(b[8:], r.Hash)
	b = append(b, r.Payload...)
	binary.LittleEndian.PutUint32(b[4:], frameSum(b))
	return b
}

// frameSum returns the checksum of a frame.
func frameSum(b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:4], table), table, b[8:])
}

// A reader reads the frames of a copy.
type copyReader struct {
	in   io.ReaderAt
	size int64
	at   int64 // where the next frame begins
	next int64 // the number of its record
	hash []byte
}

// newCopyReader returns a reader of a file. A file that is too short to have the copyMagic, and begins as it, is torn.
func newCopyReader(in io.ReaderAt, size int64) (*copyReader, error) {
	head := make([]byte, min(size, int64(len(copyMagic))))
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case string(head) == copyMagic:
		return &copyReader{in: in, size: size, at: int64(len(copyMagic)), hash: store.Genesis()}, nil
	case len(head) < len(copyMagic) && string(head) == copyMagic[:len(head)]:
		return nil, errTorn
	}
	return nil, fmt.Errorf("%w: it is no copy of a record", store.ErrDamaged)
}

// read returns the next record; its error is io.EOF behind the last, errTorn if that was not written whole, or matches
// [store.ErrDamaged].
func (f *copyReader) read() (r store.Record, err error) {
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
		// The damage may be in the length, so that whole frames would be taken for a torn one.
		if n > mostPayload || f.follows() {
			return r, fmt.Errorf("%w: event %d, at byte %d, has a wrong length", store.ErrDamaged, f.next, f.at)
		}
		return r, errTorn
	}
	b := make([]byte, frameHead+n)
	if _, err := f.in.ReadAt(b, f.at); err != nil {
		return r, err
	}
	if binary.LittleEndian.Uint32(b[4:]) != frameSum(b) {
		if f.at+int64(len(b)) == f.size {
			return r, errTorn // its pages may reach the disk in any order
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

// follows reports whether a whole frame begins anywhere in the rest: then the frame before it was not torn.
func (f *copyReader) follows() bool {
	rest := make([]byte, min(f.size-f.at, 64<<20))
	if _, err := f.in.ReadAt(rest, f.at); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	for i := 1; i+frameHead <= len(rest); i++ {
		n := int64(binary.LittleEndian.Uint32(rest[i:]))
		if end := int64(i) + frameHead + n; end <= int64(len(rest)) &&
			binary.LittleEndian.Uint32(rest[i+4:]) == frameSum(rest[i:end]) {
			return true
		}
	}
	return false
}

// copiedRecords yields the records of a copy from the first to the last that was written whole, verified: their Study
// is 0. Damage ends it with an error that matches [store.ErrDamaged].
func copiedRecords(path string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		defer f.Close()
		for r, err := range recordsIn(f) {
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func recordsIn(f *os.File) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		at, err := f.Stat()
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		in, err := newCopyReader(f, at.Size())
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

// A copyFile is a copy that is written.
type copyFile struct {
	*os.File
	end  int64 // of the whole frames
	next int64 // the number of the record that comes next
	hash []byte
}

// openCopy opens a copy to write on, or makes it. It cuts off a frame that was not written whole.
func openCopy(path string) (_ *copyFile, err error) {
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
	c := &copyFile{File: f, hash: store.Genesis()}
	in, err := newCopyReader(f, at.Size())
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
		if err := c.write([]byte(copyMagic)); err != nil {
			return nil, err
		}
		return c, files.SyncDir(filepath.Dir(path))
	}
	return c, nil
}

// write appends to the copy, and makes it durable.
func (c *copyFile) write(b []byte) error {
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

// isGone reports whether the error means that the file does not exist.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
