package testbed

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// built has the commands that this process has asked for, by import path.
var built sync.Map // string to func() (string, error)

// Built returns the path of a command of this module or of one that it requires, such as
// github.com/nats-io/nats-server/v2. All packages of a run share the file: $ASSAY_TEST_PROGRAMS has it if make test
// runs, and else the first test that asks builds it below bin in the root of the module.
// The file is written by another process, so that no fork of this one can keep it open for writing (ETXTBSY).
func Built(t testing.TB, command string) string {
	t.Helper()
	Outside(t)
	dir := filepath.Join(root(t), "bin", "test")
	once, _ := built.LoadOrStore(command, sync.OnceValues(func() (string, error) { return build(dir, command) }))
	file, err := once.(func() (string, error))() //nolint:forcetypeassert // it has no other type
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// build builds a command in dir, one process at a time.
func build(dir, command string) (string, error) {
	name := path.Base(command)
	if name[0] == 'v' && len(name) == 2 { // a major version
		name = path.Base(path.Dir(command))
	}
	if ready := os.Getenv("ASSAY_TEST_PROGRAMS"); ready != "" {
		if file := filepath.Join(ready, name); exists(file) {
			return file, nil
		}
	}
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // programs, for all users
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", file, command).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w: %s", command, err, out)
	}
	return file, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// WriteProgram writes an executable file by another process. A file that this process wrote may be busy (ETXTBSY) when
// it is run: a process that another goroutine starts meanwhile has it open for writing until it executes its program
// (golang.org/issue/22315).
func WriteProgram(t testing.TB, path string, content []byte) {
	t.Helper()
	Outside(t)
	cmd := exec.Command("sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = bytes.NewReader(content)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", path, err, out)
	}
}
