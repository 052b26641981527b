package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/assay-run/assay/internal/proc"
	"github.com/assay-run/assay/internal/queue"
)

// localName is the name of the worker of this machine.
const localName = "local"

// resuming is a Fleet that restarts the worker of this machine when it is ordered to resume: a drained worker has
// ended.
type resuming struct {
	*queue.Fleet
	start func() error
}

// Order implements [api.Fleet].
func (f resuming) Order(who string, o queue.Order) error {
	if err := f.Fleet.Order(who, o); err != nil || o != (queue.Order{}) {
		return err
	}
	for _, w := range f.Workers() {
		if w.Name == localName && (who == w.ID || who == w.Name) {
			return f.start()
		}
	}
	return nil
}

// startWorker starts the worker of this machine: a process in its own session, so that its runs continue when the
// server ends. If the worker of an earlier server is still running, the new one ends at once, because the directory is
// locked.
func (s *server) startWorker(socket string) error {
	dir := filepath.Join(s.o.Dir, workerDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(s.o.Program, "worker", "--server", "unix:"+socket, "--name", localName, "--accept-commands",
		"--slots", strconv.Itoa(s.o.Slots), "--data", dir, "--alone", proc.Paced(time.Minute).String())
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // its messages are in its log
	return nil
}
