package rest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

// cProgram takes part as rank 1 for argv[1] iterations.
const cProgram = `#define ASSAY_ONLINE_IMPLEMENTATION
#include "assay_online.h"
#include <math.h>
int main(int argc, char **argv) {
    assay *a = assay_open(1);
    long i, n = argc > 1 ? atol(argv[1]) : 1;
    if (assay_report(a, -1) == 0 || assay_report(a, NAN) == 0 || assay_report(NULL, 1) != 0) return 3;
    for (i = 0; i < n; i++) {
        long x, y;
        assay_fetch(a);
        x = assay_int(a, "x", 9);
        y = assay_int(a, "y", 9);
        if (assay_int(a, "none", 77) != 77 || assay_real(a, "z", 7) != 7) return 4;
        if (x == 3) assay_fail(a, "no \"threes\"");
        else assay_report(a, 1 + (x - 5) * (x - 5) + y);
        usleep(1000);
    }
    assay_fetch(a);
    printf("x=%s ", assay_text(a, "x", "9"));
    printf("y=%s ", assay_text(a, "y", "9"));
    printf("mode=%s\n", assay_text(a, "mode", "none"));
    assay_close(a);
    return 0;
}
`

const pythonProgram = `import sys, time
import assay_online
with assay_online.Client(rank=1, default={"x": 9, "y": 9, "mode": "none"}) as a:
    for bad in (-1, float("nan"), float("inf")):
        try:
            a.report(bad)
            sys.exit(3)
        except ValueError:
            pass
    for i in range(int(sys.argv[1])):
        c = a.fetch()
        if c["x"] == 3:
            a.fail('no "threes"')
        else:
            a.report(1 + (c["x"] - 5) ** 2 + c["y"])
        time.sleep(0.001)
    c = a.fetch()
    print(f"x={c['x']} y={c['y']} mode={c['mode']}")
`

// client returns the command of a program in that language; it skips the test
// loudly where there is no compiler or interpreter.
func client(t *testing.T, language string) []string {
	t.Helper()
	dir := t.TempDir()
	clients, err := filepath.Abs("../../clients")
	if err != nil {
		t.Fatal(err)
	}
	if language == "python" {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("SKIPPED: no python3, so the Python client is not tested")
		}
		path := filepath.Join(dir, "p.py")
		if err := os.WriteFile(path, []byte(pythonProgram), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PYTHONPATH", filepath.Join(clients, "python"))
		t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
		return []string{"python3", path}
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("SKIPPED: no cc, so the C client is not tested")
	}
	source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(source, []byte(cProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("cc", "-O1", "-Wall", "-Wextra", "-Werror",
		"-I", filepath.Join(clients, "c"), "-o", program, source).CombinedOutput()
	if err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return []string{program}
}

// The clients in C and Python find the best configuration as Go's does, report
// failures, run on without a server, and log that once.
func TestClientsOfOtherLanguages(t *testing.T) {
	testbed.Outside(t)
	for _, language := range []string{"c", "python"} {
		t.Run(language, func(t *testing.T) {
			argv := client(t, language)
			run := func(address, n string) (stdout, stderr string) {
				t.Helper()
				cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], n)...)
				cmd.Env = append(os.Environ(), "ASSAY_ONLINE="+address)
				var out, err bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &err
				if e := cmd.Run(); e != nil {
					t.Fatalf("%v\n%s%s", e, out.String(), err.String())
				}
				return out.String(), err.String()
			}
			st := store.NewMem()
			path := filepath.Join(socketDir(t), "s")
			session, stop := serveAt(t, st, path, "", withMode)
			out, errs := run("unix:"+path, "150")
			if out != "x=5 y=1 mode=a \"b\"<c>\n" || errs != "" {
				t.Errorf("tuned: %q, %q", out, errs)
			}
			got := session.Status()
			if got.State != "done" || got.Trials != 32 || got.Ranks != 0 {
				t.Errorf("status %+v: want all 32 configurations and no rank", got)
			}
			stop()
			failed := 0
			for e, err := range st.Events(t.Context(), "o", 0) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Told != nil && e.Told.State == assay.Failed {
					failed++
				}
			}
			if failed != 4 {
				t.Errorf("%d failed trials, want the 4 with x=3", failed)
			}
			out, errs = run("unix:"+path, "100")
			if out != "x=9 y=9 mode=none\n" || strings.Count(errs, "\n") != 1 {
				t.Errorf("without a server: %q, and on standard error %q, want one line", out, errs)
			}
			out, errs = run("", "3")
			if out != "x=9 y=9 mode=none\n" || strings.Count(errs, "\n") != 1 {
				t.Errorf("without an address: %q, %q", out, errs)
			}
		})
	}
}

// withMode adds a parameter with one level that JSON has to escape.
func withMode(o *online.Options) {
	mode := assay.Param{Name: "mode", Kind: assay.Categorical, Levels: []string{`a "b"<c>`}}
	params := append(o.Space.Params[:2:2], mode)
	space, err := assay.NewSpace(params)
	if err != nil {
		panic(err)
	}
	o.Space, o.Default = space, assay.Config{0, 0, 0}
	o.Searcher = func(int) (assay.Searcher, error) { return search.NewRandom(space, 7), nil }
}

// A server that is killed under them and replaced is found again.
func TestClientsFindTheServerAgain(t *testing.T) {
	testbed.Outside(t)
	for _, language := range []string{"c", "python"} {
		t.Run(language, func(t *testing.T) {
			argv := client(t, language)
			st := store.NewMem()
			path := filepath.Join(socketDir(t), "s")
			_, stop := serveAt(t, st, path, "", withMode)
			cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], "1800")...)
			cmd.Env = append(os.Environ(), "ASSAY_ONLINE=unix:"+path)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			stop()
			time.Sleep(100 * time.Millisecond)
			session, stop := serveAt(t, st, path, "", withMode)
			defer stop()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			if got := session.Status(); got.Turns == 0 || got.Trials != 32 {
				t.Errorf("the new server: %+v\n%s", got, errs.String())
			}
			if out.String() != "x=5 y=1 mode=a \"b\"<c>\n" || strings.Count(errs.String(), "\n") > 2 {
				t.Errorf("%q, %q", out.String(), errs.String())
			}
		})
	}
}
