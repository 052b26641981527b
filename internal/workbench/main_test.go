package workbench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/run"
)

// ownerEnv makes the test binary an owner of a run: its value is the data set.
const ownerEnv = "ASSAY_TEST_OWNER"

// ownerName is the owner of its run.Local.
const ownerName = "workbench-killed"

func TestMain(m *testing.M) {
	Main()
	if data := os.Getenv(ownerEnv); data != "" {
		fmt.Fprintln(os.Stderr, ownRun(data))
		os.Exit(1)
	}
	runtime.GOMAXPROCS(runtime.NumCPU() + 6) // as a process that has a link should
	testbed.MainOutside(m)
}

// ownRun runs a program with every limit that there is until this process is killed. It makes
// the file "started" in the data set.
func ownRun(data string) error {
	l, err := run.NewLocal(run.LocalOptions{Owner: ownerName})
	if err != nil {
		return err
	}
	b, err := New(Options{Runner: l, Data: data})
	if err != nil {
		return err
	}
	want := map[string]float64{CPU: 0.5, Memory: 64 << 20, RTT: 0.001, Disk: 10e6}
	for _, a := range Attributes() {
		if !a.Available {
			delete(want, a.Name)
		}
	}
	_, err = b.Run(context.Background(), assay.Job{
		Argv: []string{"/bin/sh", "-c", `setsid sleep 60 & touch started; wait`}, Dir: data,
		Resources: want,
	}, nil)
	return err
}
