package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long a child may take to end its runs after SIGTERM.
const patience = 30 * time.Second

// A session is the state of one client: its runs.
type session struct {
	Options
	ctx  context.Context //nolint:containedctx // of the session, which outlives each call
	ends sync.WaitGroup

	mu   sync.Mutex
	runs map[string]*run
}

// A run is a child process that measures: a study or a comparison.
type run struct {
	here bool // its commands run on this machine
	end  context.CancelFunc
	done chan struct{} // closed when the process has ended
	out  bytes.Buffer  // standard output; read it when done
	err  error         // of the process; read it when done

	mu    sync.Mutex
	lines []byte        // the end of standard error
	more  chan struct{} // closed when lines grow
}

// command returns a command line of this program. The end of ctx ends it as SIGTERM does, with all its runs.
func command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Args[0] = "assay"
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // this process is killed
	return cmd
}

// wait starts a command and waits for it. The kernel binds Pdeathsig to the thread that starts a process, so the thread
// waits as well.
func wait(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

// read runs a command that measures nothing. It returns the command's output, and as a note the warnings.
func (a *session) read(ctx context.Context, args ...string) (out, note string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := command(ctx, args)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := wait(cmd); err != nil {
		return "", "", failure(err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), strings.TrimSpace(stderr.String()), nil
}

// failure returns the message of a command, or err if it printed none.
func failure(err error, message string) error {
	if message = strings.TrimSpace(message); message != "" {
		return errors.New(strings.TrimPrefix(message, "assay: "))
	}
	return err
}

// begin starts a run with flags that have a value. Its name is free if the earlier run of that name has ended.
func (a *session) begin(
	name string, here bool, args []string, flags map[string]string, rest ...string,
) (out, note string, err error) {
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		if flags[flag] != "" {
			args = append(args, "--"+flag+"="+flags[flag])
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, c := range a.runs {
		if !c.over() && (other == name || c.here && here) {
			return "", "", fmt.Errorf("%s is running, and two runs disturb each other's measurements: wait for it, or stop it",
				other)
		}
	}
	ctx, end := context.WithCancel(a.ctx)
	c := &run{here: here, end: end, done: make(chan struct{}), more: make(chan struct{})}
	cmd := command(ctx, append(args, rest...))
	cmd.Stdout, cmd.Stderr = &c.out, c
	a.runs[name] = c
	a.ends.Go(func() {
		defer end()
		defer close(c.done)
		c.err = wait(cmd)
	})
	return name + " is started: wait for it", "", nil
}

// running returns a run of this session.
func (a *session) running(name string) (*run, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.runs[name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("this session has started no study or comparison %q", name)
}

func (c *run) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Write takes standard error of the process, of which it keeps the end.
func (c *run) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const most = 1 << 16
	if c.lines = append(c.lines, p...); len(c.lines) > 2*most {
		c.lines = slices.Clone(c.lines[len(c.lines)-most:])
	}
	close(c.more)
	c.more = make(chan struct{})
	return len(p), nil
}

// latest returns the last n lines of standard error, and a channel that is closed when it grows.
func (c *run) latest(n int) (string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Split(strings.TrimSpace(string(c.lines)), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n"), c.more
}

// result returns the output of a run that has ended. A run without output has failed, and its message is the error.
// A note has the message and the exit code of a run that ended otherwise than by itself, or that gives a negative
// answer.
func (c *run) result() (out, note string, err error) {
	lines, _ := c.latest(20)
	out = strings.TrimSpace(c.out.String())
	if out == "" {
		return "", "", failure(c.err, lines)
	}
	if c.err != nil {
		note = fmt.Sprintf("%s\n%v", lines, c.err)
	}
	return out, note, nil
}
