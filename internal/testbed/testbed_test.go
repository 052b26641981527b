package testbed

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestData(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ASSAY_DATA", dir)
	want := filepath.Join(dir, "a", "b.csv")
	if err := os.MkdirAll(want, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Data(t, "a", "b.csv"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	lacking := &skipping{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Data(lacking, "c")
	}()
	<-done
	if !strings.HasPrefix(lacking.text, "missing ../shared/data: ") {
		t.Errorf("a test without its data was skipped with %q", lacking.text)
	}
}

// A skipping keeps the text of a skip, which ends the goroutine. The suite would count a real one.
type skipping struct {
	testing.TB
	text string
}

func (s *skipping) Skipf(format string, args ...any) {
	s.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestRoot(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root(t), "internal", "testbed", "testbed.go")); err != nil {
		t.Error(err)
	}
}

func TestReadForks(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("benchmark,fork,t1,t2,t3,t4,t5,t6\na,1,9,9,1,2,3,4\nb,1,9,9,1,2,,\na,2,9,9,5,6,7,8\nc\n"))
	z.Close()
	got, err := readForks(&b)
	want := map[string][][]float64{"a": {{3, 4}, {7, 8}}, "b": {nil}, "c": {nil}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := readForks(bytes.NewReader([]byte("no gzip"))); err == nil {
		t.Error("no error for what is no gzip")
	}
}

func TestQuietForSoak(t *testing.T) {
	t.Setenv("ASSAY_SOAK", "1")
	if !Quiet(t) {
		t.Error("not quiet with ASSAY_SOAK")
	}
}
