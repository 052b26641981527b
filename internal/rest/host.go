package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
)

// grace is how long a program has from SIGTERM to SIGKILL.
const grace = time.Second

// A Place is where a session is served: at a socket, or at a loopback address with a token.
type Place struct {
	Socket    string // path; the default one if it and Listen are ""
	Listen    string // loopback address
	TokenFile string // is made if it is not there; "" for no token
}

// token returns the token in the file, "" without one.
func (p Place) token() (string, error) {
	if p.TokenFile == "" {
		return "", nil
	}
	if err := MakeToken(p.TokenFile); err != nil {
		return "", err
	}
	return ReadToken(p.TokenFile)
}

// bind returns the listener, and the address that clients need. storePath is the file of the store, or "".
func (p Place) bind(ctx context.Context, study, storePath string) (net.Listener, string, error) {
	if p.Listen != "" {
		l, err := ListenLoopback(ctx, p.Listen)
		if err != nil {
			return nil, "", assay.WithClass(assay.ClassUsage, err)
		}
		return l, "http://" + l.Addr().String(), nil
	}
	path := p.Socket
	if path == "" {
		path = DefaultSocket(storePath, study)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	l, err := ListenUnix(path)
	return l, "unix:" + path, err
}

// A Hosted is an open session that is served.
type Hosted struct {
	Address string // for ASSAY_ONLINE

	place   Place
	session *online.Session
	server  *Online
	served  chan error
}

// Host opens a session, and serves it at a place. storePath is the file of its store, or "".
func Host(ctx context.Context, o online.Options, at Place, storePath string) (*Hosted, error) {
	token, err := at.token()
	if err != nil {
		return nil, err
	}
	session, err := online.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	l, address, err := at.bind(ctx, o.Name, storePath)
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	h := &Hosted{
		Address: address, place: at, session: session, server: NewOnline(session, o.Space, token),
		served: make(chan error, 1),
	}
	go func() { h.served <- h.server.Serve(l) }()
	return h, nil
}

// A Program is the one that is tuned.
type Program struct {
	Argv []string
	In   io.Reader
	Out  io.Writer // its output and its errors
}

// An Ended is how a session ended.
type Ended struct {
	Status      online.Status
	Program     error // of the program
	Interrupted bool  // drain was closed first
}

// Run waits until the program, if it is not nil, or a request ends the session, or drain is closed, which ends the
// program; then it closes the session. A context that is done ends the program at once.
func (h *Hosted) Run(ctx context.Context, drain <-chan struct{}, p *Program) (e Ended, err error) {
	ended := make(chan error, 1)
	if p != nil {
		go func() { ended <- h.program(ctx, drain, p) }()
	}
	select {
	case e.Program = <-ended:
	case <-drain:
		e.Interrupted = true
		if p != nil {
			e.Program = <-ended
		}
	case err = <-h.served:
		if p != nil { // its work is worth more than the search
			fmt.Fprintf(p.Out, "assay: %v: no configuration is given out any more; the program goes on\n", err)
			e.Program = <-ended
		}
	}
	err = errors.Join(err, h.server.Close(), h.session.Close())
	e.Status = h.session.Status()
	return e, err
}

// program runs the program. When drain is closed it gets SIGTERM.
func (h *Hosted) program(ctx context.Context, drain <-chan struct{}, p *Program) error {
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Env = append(os.Environ(), "ASSAY_ONLINE="+h.Address)
	if h.place.TokenFile != "" {
		file, err := filepath.Abs(h.place.TokenFile)
		if err != nil {
			return err
		}
		cmd.Env = append(cmd.Env, "ASSAY_TOKEN_FILE="+file)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace // and then SIGKILL
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-drain:
			_ = cmd.Process.Signal(syscall.SIGTERM) // it has ended if this fails
		case <-done:
		}
	}()
	return cmd.Wait()
}
