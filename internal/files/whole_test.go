package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

var errHalf = errors.New("no more")

// half writes a part and fails.
func half(w io.Writer) error {
	if _, err := io.WriteString(w, strings.Repeat("new", 10_000)); err != nil {
		return err
	}
	return errHalf
}

// A writer that fails leaves the old file, and nothing else.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	if err := Write(path, 0o644, half); !errors.Is(err, errHalf) {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file: %v", err)
	}
	if err := WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, 0o644, half); !errors.Is(err, errHalf) {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if b, e := os.ReadFile(path); e != nil || string(b) != "old" || err != nil || len(entries) != 1 {
		t.Errorf("%q, %d files, %v, %v", b, len(entries), e, err)
	}
}

func TestWriteKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	b, e := os.ReadFile(path)
	to, l := os.Readlink(link)
	if err != nil || e != nil || l != nil || string(b) != "two" || info.Mode().Perm() != 0o600 || to != "a" {
		t.Errorf("%q, %v, %q: %v, %v, %v", b, info.Mode(), to, err, e, l)
	}
	if err := WriteFile("/dev/null", []byte("x"), 0o644); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	err = WriteFile(filepath.Join(dir, "none", "a"), nil, 0o644)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), filepath.Join("none", "a")) ||
		strings.Contains(err.Error(), ".tmp") {
		t.Errorf("no directory: %v", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 100); err != nil || len(b) != 100 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := Read(path, 99); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := Read("/dev/zero", 1000); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// childEnv has the test binary write files, each after a line of its standard input: "FUNCTION DIR".
const childEnv = "ASSAY_TEST_WHOLE"

func TestMain(m *testing.M) {
	if how, dir, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		write := map[string]func(string, []byte, fs.FileMode) error{"whole": WriteFile, "plain": os.WriteFile}[how]
		next := bufio.NewScanner(os.Stdin)
		for i := 0; i < 40 && next.Scan(); i++ {
			text := []byte(strings.Repeat(fmt.Sprint(i, " "), 500))
			if err := write(filepath.Join(dir, fmt.Sprint(i%7)), text, 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(i)
		}
		os.Exit(0)
	}
	testbed.Main(m)
}

// Whenever the power is cut, a file that was written has its last content or the one before it, and nothing in
// between. Files that are written in place, as the control has it, do not.
func TestPowerCut(t *testing.T) {
	testbed.Outside(t)
	rng := rand.New(rand.NewPCG(5, 6))
	const cuts = 40
	harmed := map[string]int{}
	for _, how := range []string{"whole", "plain"} {
		d := testbed.NewDisk(t, nil)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+how+" "+d.Dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		next, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var at []int // by when the writes were acknowledged; the next one has not begun then
		fmt.Fprintln(next)
		for in := bufio.NewScanner(out); in.Scan(); fmt.Fprintln(next) {
			at = append(at, d.Len())
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		for range cuts {
			cut := at[0] + rng.IntN(at[len(at)-1]-at[0])
			dir := d.Cut(t, cut, rng)
			last := map[int]int{}
			for i, a := range at {
				if a <= cut {
					last[i%7] = i
				}
			}
			for name, i := range last {
				b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(name)))
				now := strings.Repeat(fmt.Sprint(i, " "), 500)
				next := strings.Repeat(fmt.Sprint(i+7, " "), 500)
				if err != nil || string(b) != now && string(b) != next {
					harmed[how]++
					break
				}
			}
		}
	}
	t.Logf("counted: cuts %d, harmed %d; the control was harmed in %d of %d", cuts, harmed["whole"], harmed["plain"], cuts)
	if harmed["whole"] > 0 || harmed["plain"]*10 < cuts*8 {
		t.Error("files are harmed, or the rig sees nothing")
	}
}
