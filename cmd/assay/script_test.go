package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assay-run/assay/internal/testbed"
)

// exits CODE COMMAND... runs a command that must end with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// natsd returns the command natsd NAME [ARGUMENT...], which starts nats-server on a free port until the
// end of the script, with its HOST:PORT in $NAME.
func natsd(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: natsd NAME [ARGUMENT...]")
		}
		startNATS(ts, testbed.Built(t, "github.com/nats-io/nats-server/v2"), args[0], args[1:])
	}
}

// startNATS starts nats-server until the end of the script, with its address in a variable.
func startNATS(ts *testscript.TestScript, path, name string, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	at := l.Addr().String()
	ts.Check(l.Close())
	_, port, _ := net.SplitHostPort(at)
	cmd := exec.Command(path, append([]string{"-a", "127.0.0.1", "-p", port}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", at)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			ts.Fatalf("nats-server does not listen: %v", err)
		}
	}
	ts.Setenv(name, at)
}

// running PATTERN waits until a process of this script has a command line that matches the pattern. ! running PATTERN
// fails if there is one. A process is of the script if its working directory or its $WORK is below the script's.
func running(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] running PATTERN")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	work := ts.Getenv("WORK")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		found := ""
		for _, pid := range testbed.Descendants(os.Getppid()) {
			proc := filepath.Join("/proc", strconv.Itoa(pid))
			line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
			env, _ := os.ReadFile(filepath.Join(proc, "environ"))
			dir, _ := os.Readlink(filepath.Join(proc, "cwd"))
			text := strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			if pattern.MatchString(text) && (strings.HasPrefix(dir, work) || bytes.Contains(env, []byte("WORK="+work+"\x00"))) {
				found = text
			}
		}
		switch {
		case neg && found != "":
			ts.Fatalf("it is running: %s", found)
		case neg || found != "":
			return
		case time.Now().After(end):
			ts.Fatalf("no process matches %s", args[0])
		}
	}
}

// ports NAME [FILE...] sets $NAME to the first four digits of ten free ports, and replaces @NAME@ in the files by them.
// The ports are the script's until it ends, also beside another run of the tests.
func ports(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: ports NAME [FILE...]")
	}
	name, files := args[0], args[1:]
	first := freePorts(ts)
	ts.Setenv(name, first)
	for _, file := range files {
		path := ts.MkAbs(file)
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "@"+name+"@", first)), 0o600))
	}
}

// freePorts returns the first four digits of ten ports on which nothing listens, below those that the kernel gives out.
func freePorts(ts *testscript.TestScript) string {
	for range 1000 {
		first := 1100 + rand.IntN(2100)
		lock, err := net.Listen("unix", fmt.Sprintf("@assay-test-ports-%d", first))
		if err != nil {
			continue // another script has them
		}
		free := true
		for last := range 10 {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(10*first+last)))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			ts.Defer(func() { lock.Close() })
			return strconv.Itoa(first)
		}
		lock.Close()
	}
	ts.Fatalf("no ten free ports")
	return ""
}

// program FILE... makes files of the script executable, written so that they are not busy; see testbed.WriteProgram.
func program(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: program FILE...")
		}
		for _, file := range args {
			path := ts.MkAbs(file)
			content, err := os.ReadFile(path)
			ts.Check(err)
			ts.Check(os.Remove(path))
			testbed.WriteProgram(t, path, content)
		}
	}
}
