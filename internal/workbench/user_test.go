package workbench_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// asUser makes the devices open to all, as they are where udev runs, for itself
// only, and becomes an ordinary user that runs $1.
const asUser = `set -e
mount -t tmpfs -o dev none "$NODES"
mknod -m 666 "$NODES/fuse" c 10 229; mknod -m 666 "$NODES/tun" c 10 200
mount --bind "$NODES/fuse" /dev/fuse; mount --bind "$NODES/tun" /dev/net/tun
exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"`

// An ordinary user has the same workbench in a user namespace, but for the limit
// of memory.
func TestOrdinaryUser(t *testing.T) {
	testbed.System(t)
	testbed.Root(t)
	for _, name := range []string{"setpriv", "nsenter", "mknod"} {
		testbed.Program(t, name)
	}
	dir, err := os.MkdirTemp("", "assay-user-") // t.TempDir is below one that only root may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, nodes := filepath.Join(dir, "program"), filepath.Join(dir, "nodes")
	for path, mode := range map[string]os.FileMode{nodes: 0o755, filepath.Join(dir, "tmp"): 0o777} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	copyProgram(t, program)
	cmd := exec.Command("/bin/sh", "-c", asUser, "sh", program, "-test.v",
		"-test.run=^(TestDataFlow|TestRoundTrips|TestDisk|TestProcessorShare|"+
			"TestTransparent|TestKilledOwner|TestKilledStage|TestOutOfMemory)$")
	cmd.Dir = filepath.Join(dir, "tmp")
	cmd.Env = append(os.Environ(), "NODES="+nodes, "TMPDIR="+cmd.Dir, "HOME="+cmd.Dir, "ASSAY_SOAK=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 7 ||
		strings.Count(string(out), "--- SKIP: TestOutOfMemory") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
