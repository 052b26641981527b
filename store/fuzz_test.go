package store

import (
	"bytes"
	"os"
	"testing"
)

// What can be decoded is encoded to the same event again.
func FuzzDecodeEvent(f *testing.F) {
	for id := range int64(3) {
		for _, e := range pair(id) {
			b, err := EncodeEvent(e)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add([]byte(`{"at":"2026-01-01T00:00:00Z","spent_ns":1,"told":{"id":1,"config":[1],"state":"failed","measurement":{"elapsed_ns":1,"exit_code":1},"started":"0001-01-01T00:00:00Z","ended":"0001-01-01T00:00:00Z"},"nonfinite":{"value":"NaN","metrics/a":"-Inf"}}`))
	f.Add([]byte(`{"at":"2026-01-01T00:00:00Z","spent_ns":1,"ended":{"by":"budget"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEvent(b)
		if err != nil {
			return
		}
		again, err := EncodeEvent(e)
		if err != nil {
			t.Fatalf("cannot be encoded again: %v: %s", err, b)
		}
		e2, err := DecodeEvent(again)
		if err != nil || !sameEvent(e, e2) {
			t.Errorf("got %+v, %v, want %+v", e2, err, e)
		}
	})
}

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

// No log makes the check panic, and what it takes lies in the log.
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
