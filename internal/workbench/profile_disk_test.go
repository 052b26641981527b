package workbench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDiskFileIsGoneAtOnce(t *testing.T) {
	dir := t.TempDir()
	d, err := newDiskFile(dir, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("%v in the directory, %v", names, err)
	}
	for name, f := range map[string]func() (float64, error){"write": d.write, "random write": d.randomWrite} {
		if x, err := f(); err != nil || x <= 0 {
			t.Fatalf("%s: %g, %v", name, x, err)
		}
	}
	for name, f := range map[string]func() (float64, error){"read": d.read, "random read": d.randomRead} {
		if x, err := f(); err != nil || x <= 0 {
			t.Errorf("%s: %g, %v", name, x, err)
		}
	}
}

// A rate is the size by the time of the transfer, which is part of the time of the call.
func TestDiskRates(t *testing.T) {
	d, err := newDiskFile(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for i, f := range []func() (float64, error){d.write, d.read} {
		began := time.Now()
		x, err := f()
		if took := time.Since(began); err != nil || !(x*took.Seconds() >= float64(d.size)) {
			t.Errorf("%s: %g B/s and %v for %d B, %v", []string{"write", "read"}[i], x, took, d.size, err)
		}
	}
}

// Data that are read are compared with the data that were written.
func TestChangedDiskFileIsNoticed(t *testing.T) {
	d, err := newDiskFile(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if _, err := d.write(); err != nil {
		t.Fatal(err)
	}
	clear(d.buf)
	if _, err := d.f.WriteAt(d.buf, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.read(); err != errWrongResult {
		t.Errorf("read: %v", err)
	}
	if _, err := d.randomRead(); err != errWrongResult {
		t.Errorf("random read: %v", err)
	}
}

func TestStampDiffersByPageAndPass(t *testing.T) {
	d := &diskFile{passes: 1}
	a, b, c := make([]byte, 2*diskPage), make([]byte, diskPage), make([]byte, diskPage)
	d.stamp(a, 0)
	d.stamp(b, diskPage)
	if !bytes.Equal(a[diskPage:], b) || bytes.Equal(a[:diskPage], b) {
		t.Error("a page's content is not that of its offset")
	}
	d.passes++
	d.stamp(c, diskPage)
	if bytes.Equal(b, c) {
		t.Error("two passes write the same")
	}
}

func TestDiskFileRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir string
		size      int64
		want      string
	}{
		{"no directory", filepath.Join(t.TempDir(), "none"), 1 << 20, "no such file or directory"},
		{"a file", file, 1 << 20, "cannot measure storage in " + file},
		{"not writable", "/proc", 1 << 20, "/proc"},
		{"too large", t.TempDir(), 1 << 60, "bytes left"},
		{"too small", t.TempDir(), 1000, "measures nothing"},
	} {
		d, err := newDiskFile(c.dir, c.size)
		if err == nil {
			d.close()
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestFitMakesSlowDisksFileSmaller(t *testing.T) {
	d, err := newDiskFile(t.TempDir(), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if err := d.fit(time.Hour, time.Now); err != nil {
		t.Fatal(err)
	}
	if d.size < 4<<20 || d.size > 64<<20 || d.size%diskBlock != 0 {
		t.Errorf("size %d", d.size)
	}
}
