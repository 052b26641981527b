package run

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"pgregory.net/rapid"
)

// cutPlainly is a plain version of keeper.
func cutPlainly(b []byte, head, tail int) []byte {
	if len(b) <= head+tail {
		return b
	}
	mark := fmt.Sprintf("\n[... %d bytes cut ...]\n", len(b)-head-tail)
	return []byte(string(b[:head]) + mark + string(b[len(b)-tail:]))
}

func TestKeeperKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := keeper{head: rapid.IntRange(0, 20).Draw(t, "head"), tail: rapid.IntRange(0, 20).Draw(t, "tail")}
		var all []byte
		for _, part := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 30)).Draw(t, "parts") {
			all = append(all, part...)
			k.write(part)
		}
		if got, want := k.bytes(), cutPlainly(all, k.head, k.tail); !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// A stream far larger than memory allows costs no more than its kept part.
func TestWildOutputIsBounded(t *testing.T) {
	size := int64(512 << 20)
	if os.Getenv("ASSAY_SOAK") == "1" {
		size = 10 << 30
	}
	l := newLocal(t, LocalOptions{})
	var m assay.Measurement
	peak := bounded(t, func() {
		// One line without an end, and a mark at each end of it.
		var err error
		if m, err = l.Run(t.Context(), assay.Job{Argv: []string{
			"/bin/sh", "-c",
			`printf first; head -c "$1" /dev/zero; printf last`, "sh", fmt.Sprint(size),
		}}, nil); err != nil {
			t.Fatal(err)
		}
	})
	mark := fmt.Sprintf("\n[... %d bytes cut ...]\n", size+9-2*DefaultOutput)
	if len(m.Stdout) != 2*DefaultOutput+len(mark) {
		t.Errorf("%d bytes are kept, want %d", len(m.Stdout), 2*DefaultOutput+len(mark))
	}
	if !bytes.HasPrefix(m.Stdout, []byte("first\x00")) || !bytes.HasSuffix(m.Stdout, []byte("\x00last")) ||
		!bytes.Contains(m.Stdout, []byte(mark)) {
		t.Errorf("the ends of the output or the mark of the cut %q are missing", mark)
	}
	t.Logf("counted: %d MiB streamed in %v, peak memory %d MiB", size>>20, m.Elapsed, peak>>20)
}

// Who keeps a stream needs its length in memory.
func TestWildOutputControl(t *testing.T) {
	testbed.Fails(t, "a stream that is kept whole", func(t testing.TB) {
		bounded(t, func() {
			kept, err := io.ReadAll(io.LimitReader(zeros{}, 128<<20))
			if time.Sleep(50 * time.Millisecond); err != nil || len(kept) != 128<<20 {
				t.Fatal(len(kept), err)
			}
			runtime.KeepAlive(kept)
		})
	})
}

// zeros is a stream without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// bounded returns how many bytes of memory this process had at the most while do was running. It fails if they were
// more than 64 MiB.
func bounded(t testing.TB, do func()) uint64 {
	t.Helper()
	runtime.GC()
	var peak atomic.Uint64
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			peak.Store(max(peak.Load(), s.HeapInuse+s.StackInuse))
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	do()
	close(stop)
	<-watched
	if n := peak.Load(); n > 64<<20 {
		t.Errorf("%d MiB of memory, want at most 64", n>>20)
	}
	return peak.Load()
}

func TestOutputOptions(t *testing.T) {
	tests := []struct {
		name       string
		head, tail int
		want       string
	}{
		{"small", 3, 2, "abc\n[... 3 bytes cut ...]\ngh"},
		{"head only", 3, -1, "abc\n[... 5 bytes cut ...]\n"},
		{"none", -1, -1, "\n[... 8 bytes cut ...]\n"},
		{"enough", 4, 4, "abcdefgh"},
	}
	for _, tt := range tests {
		l := newLocal(t, LocalOptions{Head: tt.head, Tail: tt.tail})
		m := mustRun(t, l, "/bin/sh", "-c", "printf abcdefgh; printf abcdefgh >&2")
		if string(m.Stdout) != tt.want || string(m.Stderr) != tt.want {
			t.Errorf("%s: got %q, %q, want %q", tt.name, m.Stdout, m.Stderr, tt.want)
		}
	}
}

// A process outside the run that holds its output neither delays the run nor
// lets it read for ever.
func TestOutputHeldFromOutside(t *testing.T) {
	l := newLocal(t, LocalOptions{})
	ready := make(chan error, 1)
	dir := t.TempDir()
	var held *os.File
	go func() { // opens the write end of the run's output through /proc
		var err error
		for range 500 {
			var pid []byte
			if pid, err = os.ReadFile(dir + "/pid"); err == nil && bytes.HasSuffix(pid, []byte("\n")) {
				held, err = os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/1", os.O_WRONLY, 0)
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		if err == nil {
			_, err = held.WriteString("from outside")
		}
		os.WriteFile(dir+"/go", nil, 0o644)
		ready <- err
	}()
	began := time.Now()
	m, err := l.Run(t.Context(), assay.Job{Argv: []string{
		"/bin/sh", "-c",
		`(echo $$ >pid); until [ -e go ]; do sleep 0.01; done`,
	}, Dir: dir}, nil)
	if e := <-ready; e != nil {
		t.Fatal(e)
	}
	defer held.Close()
	if err != nil || string(m.Stdout) != "from outside" || time.Since(began) > time.Minute {
		t.Errorf("got %q, %v after %v", m.Stdout, err, time.Since(began))
	}
}
