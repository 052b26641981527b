package sqlite

import (
	"bytes"
	"os"
	"testing"
)

// No page makes salvage panic, hang or accept a record without its checksum.
func FuzzPage(f *testing.F) {
	data, err := os.ReadFile("testdata/v1.db")
	if err != nil {
		f.Fatal(err)
	}
	for n := 0; n < len(data); n += pageSize {
		f.Add(data[n : n+pageSize])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file := make([]byte, pageSize*(1+len(b)/pageSize))
		copy(file, b)
		p := &pages{file: bytes.NewReader(file)}
		found := finds{}
		for n := uint32(1); int(n) <= len(file)/pageSize; n++ {
			if err := found.page(p, n); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// No log makes the check panic, and the frames that it takes lie in the log.
func FuzzWAL(f *testing.F) {
	_, wal := logged(f, 2)
	f.Add(wal)
	f.Add(wal[:walHeader+frameSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		scan, err := scanWAL(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range append(scan.frames, scan.stray...) {
			if w.offset+pageSize > int64(len(b)) {
				t.Fatalf("frame at %d of %d bytes", w.offset, len(b))
			}
		}
	})
}

func FuzzHolder(f *testing.F) {
	f.Add([]byte(`{"study":"a","pid":1,"host":"h","since":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if readHolder(bytes.NewReader(b)).String() == "" {
			t.Error("nobody holds the lock")
		}
	})
}
