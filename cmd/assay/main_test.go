package main

import (
	"errors"
	goflag "flag"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/fakeslurm"
)

// TestMain lets scripts and documentation run the command by its name.
func TestMain(m *testing.M) {
	of := func(version string) func() { return func() { release = version; main() } }
	commands := fakeslurm.Commands()
	maps.Copy(commands, map[string]func(){
		"assay": main, "assay-1.1": of("v1.1.0"), "assay-1.2": of("v1.2.0"), "assay-1.3": of("v1.3.7"),
		"assay-far": of("v1.4.0"),
	})
	testscript.Main(withBrowser{m}, commands)
}

// withBrowser ends the browser, if a test has begun one.
type withBrowser struct{ *testing.M }

// Run has at least four tests run at once, unless -parallel says otherwise: for most of its time such a test waits for
// programs that it has started.
func (m withBrowser) Run() int {
	defer browser.Close()
	goflag.Parse()
	said := false
	goflag.Visit(func(f *goflag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		if err := goflag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
			panic(err)
		}
	}
	return m.M.Run()
}

// TestScripts runs the scenarios in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Setenv("HOME", e.WorkDir)
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("ROOT", root)
			e.Setenv("CLIENTS", root+"/clients")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			case "fuse":
				for _, device := range []string{"/dev/fuse", "/dev/net/tun"} {
					f, err := os.OpenFile(device, os.O_RDWR, 0)
					if err != nil {
						return false, nil
					}
					f.Close()
				}
				return true, nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "natsd": natsd(t.TempDir()), "natscreds": natsCreds,
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

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
// end of the script, with its HOST:PORT in $NAME. It is built in dir of the module that is in assay too.
func natsd(dir string) func(*testscript.TestScript, bool, []string) {
	build := sync.OnceValues(func() (string, error) {
		path := filepath.Join(dir, "nats-server")
		out, err := exec.Command("go", "build", "-o", path, "github.com/nats-io/nats-server/v2").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return path, nil
	})
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: natsd NAME [ARGUMENT...]")
		}
		path, err := build()
		ts.Check(err)
		startNATS(ts, path, args[0], args[1:])
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
