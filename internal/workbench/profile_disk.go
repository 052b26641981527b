package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Sizes of requests to storage.
const (
	diskBlock = 1 << 20 // sequential
	diskPage  = 4 << 10 // random
)

// A diskFile is a file without a name, which vanishes with the process.
type diskFile struct {
	f      *os.File
	dir    string
	size   int64
	direct bool   // the page cache is passed by
	buf    []byte // one block; mapped, since O_DIRECT wants it aligned
	rng    *rand.Rand
	passes uint64 // of writing; part of every page's content
}

// newDiskFile makes the file and refuses a directory that cannot be written or
// has too little space.
func newDiskFile(dir string, size int64) (*diskFile, error) {
	size -= size % diskBlock
	if size < diskBlock {
		return nil, fmt.Errorf("a file of %d bytes measures nothing: %d at least", size, diskBlock)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil, fmt.Errorf("cannot measure storage in %s: %w", dir, err)
	}
	if free := int64(st.Bavail) * st.Bsize; free < 2*size {
		return nil, fmt.Errorf("%s has %d bytes left: measuring storage takes %d, and as much is left alone", dir, free, size)
	}
	f, err := os.CreateTemp(dir, ".assay-profile-*")
	if err != nil {
		return nil, fmt.Errorf("cannot measure storage in %s: %w", dir, err)
	}
	d := &diskFile{f: f, dir: dir, size: size, rng: rand.New(rand.NewPCG(1, 2)), direct: true}
	if err := os.Remove(f.Name()); err != nil {
		d.close()
		return nil, err
	}
	fd := int(f.Fd())
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil {
		d.direct = false
	} else if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags|unix.O_DIRECT); err != nil {
		d.direct = false // tmpfs and some others have no direct access
	}
	d.buf, err = unix.Mmap(-1, 0, diskBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *diskFile) close() {
	d.f.Close()
	if d.buf != nil {
		_ = unix.Munmap(d.buf)
		d.buf = nil
	}
}

// storage measures the rates of sequential writing and reading, and the time of
// a random read of a page and of a page written for good.
func (m *meter) storage(d *diskFile) error {
	way := "past the page cache"
	if !d.direct {
		way = "after they were dropped from the page cache"
		m.warn("the file system of %s has no direct access: reads may be served from memory", d.dir)
	}
	if err := d.fit(m.part(shareStorage)/(leastRuns+1), m.opts.now); err != nil {
		return fmt.Errorf("storage in %s: %w", d.dir, err)
	}
	mib := d.size >> 20
	for _, r := range []struct {
		name, unit, method string
		observe            func() (float64, error)
	}{
		{"disk_write", "B/s", fmt.Sprintf("%d MiB written in requests of 1 MiB, and forced to the disk", mib), d.write},
		{"disk", "B/s", fmt.Sprintf("%d MiB read in requests of 1 MiB, %s", mib, way), d.read},
		{"disk_read_latency", "s", fmt.Sprintf("a random 4 KiB of %d MiB read, %s", mib, way), d.randomRead},
		{
			"disk_write_latency", "s",
			fmt.Sprintf("a random 4 KiB of %d MiB written and forced to the disk", mib), d.randomWrite,
		},
	} {
		err := m.read(Reading{Name: r.name, Resource: "storage", Unit: r.unit, Method: r.method}, shareStorage, r.observe)
		if err == nil {
			continue
		}
		if m.ctx.Err() == nil && !errors.Is(err, errWrongResult) {
			err = fmt.Errorf("storage in %s: %w", d.dir, err)
		}
		return err
	}
	return nil
}

// fit makes the file smaller if writing it once would take more than half a second, or more than within,
// which includes the time to make up its content.
func (d *diskFile) fit(within time.Duration, now func() time.Time) error {
	whole := d.size
	d.size = min(whole, 4*diskBlock)
	began := now()
	_, err := d.write()
	took := max(now().Sub(began), time.Microsecond)
	fits := float64(d.size) * float64(min(within, time.Second/2)) / float64(took)
	d.size = max(d.size, min(whole, int64(min(fits, float64(whole)))/diskBlock*diskBlock))
	return err
}

// stamp fills a buffer with the content of an offset of the file: words that no compression or
// deduplication makes small.
func (d *diskFile) stamp(buf []byte, offset int64) {
	for at := 0; at < len(buf); at += diskPage {
		x := d.passes<<40 ^ uint64(offset+int64(at))
		for i := 0; i < diskPage; i += 8 {
			// SplitMix64 (Steele et al. 2014).
			x += 0x9e3779b97f4a7c15
			z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			binary.NativeEndian.PutUint64(buf[at+i:], z^z>>31)
		}
	}
}

// stamped reports whether a page has the content of the offset, by its first word.
func (d *diskFile) stamped(page []byte, offset int64) bool {
	var want [diskPage]byte
	d.stamp(want[:], offset)
	return binary.NativeEndian.Uint64(page) == binary.NativeEndian.Uint64(want[:])
}

// write returns the bytes a second of writing the whole file. Making up its
// content does not count.
func (d *diskFile) write() (float64, error) {
	d.passes++
	var took time.Duration
	for at := int64(0); at < d.size; at += diskBlock {
		d.stamp(d.buf, at)
		began := time.Now()
		if _, err := d.f.WriteAt(d.buf, at); err != nil {
			return 0, err
		}
		took += time.Since(began)
	}
	began := time.Now()
	err := unix.Fdatasync(int(d.f.Fd()))
	took += time.Since(began)
	return float64(d.size) / took.Seconds(), err
}

// forget drops the file from the page cache where it is in it.
func (d *diskFile) forget() error {
	if d.direct {
		return nil
	}
	return unix.Fadvise(int(d.f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// read returns the bytes a second of reading the whole file.
func (d *diskFile) read() (float64, error) {
	if err := d.forget(); err != nil {
		return 0, err
	}
	var took time.Duration
	for at := int64(0); at < d.size; at += diskBlock {
		began := time.Now()
		if _, err := d.f.ReadAt(d.buf, at); err != nil {
			return 0, err
		}
		took += time.Since(began)
		if !d.stamped(d.buf, at) {
			return 0, errWrongResult
		}
	}
	return float64(d.size) / took.Seconds(), nil
}

// randomPage returns the offset of a random page.
func (d *diskFile) randomPage() int64 { return d.rng.Int64N(d.size/diskPage) * diskPage }

// randomRead returns the seconds of reading a page.
func (d *diskFile) randomRead() (float64, error) {
	at := d.randomPage()
	if err := d.forget(); err != nil {
		return 0, err
	}
	page := d.buf[:diskPage]
	began := time.Now()
	_, err := d.f.ReadAt(page, at)
	took := time.Since(began).Seconds()
	if err == nil && !d.stamped(page, at) {
		err = errWrongResult
	}
	return took, err
}

// randomWrite returns the seconds of writing a page for good.
func (d *diskFile) randomWrite() (float64, error) {
	at := d.randomPage()
	page := d.buf[:diskPage]
	d.stamp(page, at)
	began := time.Now()
	if _, err := d.f.WriteAt(page, at); err != nil {
		return 0, err
	}
	err := unix.Fdatasync(int(d.f.Fd()))
	return time.Since(began).Seconds(), err
}
