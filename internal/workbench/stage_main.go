package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/assay-run/assay/internal/meterfs"
	"golang.org/x/sys/unix"
)

// A stageSpec is the first message of the owner to the stage.
type stageSpec struct {
	Data      string        `json:"data"`
	Mount     string        `json:"mount"`
	Network   bool          `json:"network"` // through a link, else directly
	RTT       time.Duration `json:"rtt_ns"`
	Bandwidth float64       `json:"bandwidth"`
	Rate      float64       `json:"rate"`   // of the storage, where the kernel does not limit it
	Commit    bool          `json:"commit"` // the storage has a limit
	Keep      bool          `json:"keep"`   // the cached pages
	Varies    bool          `json:"varies"` // levels are set anew later: RTT, Bandwidth and Rate are the first
	// Least is the least bandwidth that there will be, if it varies.
	Least float64  `json:"least,omitempty"`
	Join  []string `json:"join"` // cgroup.procs of the storage's groups
	// Groups are ended and removed by the stage if the owner is gone.
	Groups []string `json:"groups"`
}

// A stageReply is the stage's answer to its specification, and to each command.
type stageReply struct {
	Error string        `json:"error,omitempty"`
	Perm  bool          `json:"perm,omitempty"` // the error is one of missing rights
	Stats meterfs.Stats `json:"stats"`
}

// A stageAsk is a command of the owner. The end of the input means that the owner is gone.
type stageAsk struct {
	Do     string       `json:"do"`
	Levels *stageLevels `json:"levels,omitempty"` // of askSet
}

// stageLevels are the levels that a stage that varies can set anew.
type stageLevels struct {
	RTT       time.Duration `json:"rtt_ns"`
	Bandwidth float64       `json:"bandwidth"`
	Rate      float64       `json:"rate"` // of the storage; 0 where the stage does not limit it
}

// Commands of a stageAsk.
const (
	askStats = "stats" // answered
	askAbort = "abort" // requests that wait are to fail; not answered
	askStop  = "stop"  // answered when the mount has gone
	askSet   = "set"   // answered when the levels are in force
)

// A stageServer is the stage while a run goes on.
type stageServer struct {
	client *meterfs.Client
	mount  *meterfs.Mount
	close  []func() error // in the order of making
	server *meterfs.Server
	link   *Link         // or nil
	rtt    time.Duration // that was asked
}

// How often, and how long at most, round trips are looked at before the program and
// after it.
const (
	pings    = 5
	pingTime = 200 * time.Millisecond
)

// ping takes a few round trips while nothing else is on its way.
func (s *stageServer) ping() {
	end := time.Now().Add(pingTime)
	for range pings {
		if !s.client.Ping() || time.Now().After(end) {
			return
		}
	}
}

// pingOn takes a round trip now and then, whenever the program does not use the
// link, until stop is closed.
func (s *stageServer) pingOn(stop <-chan struct{}) {
	tick := time.NewTicker(max(250*time.Millisecond, 20*s.rtt))
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if s.client.Idle() && !s.client.Ping() {
				return
			}
		}
	}
}

// stageMain is the stage. It sets up the specification in the namespaces in which it was started, and
// obeys commands until it is stopped, or the owner is gone.
func stageMain(in io.Reader, out io.Writer) error {
	// Threads that wait in the kernel count as running for a while.
	runtime.GOMAXPROCS(runtime.NumCPU() + 6)
	syscall.Umask(0)
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var spec stageSpec
	if err := dec.Decode(&spec); err != nil {
		return fmt.Errorf("the specification of a stage: %w", err)
	}
	var s stageServer
	if err := s.open(spec); err != nil {
		s.shut()
		return enc.Encode(stageReply{Error: err.Error(), Perm: errors.Is(err, os.ErrPermission)})
	}
	s.ping()
	if err := enc.Encode(stageReply{}); err != nil {
		return err
	}
	stop := make(chan struct{})
	defer close(stop)
	go s.pingOn(stop)
	for {
		var command stageAsk
		if err := dec.Decode(&command); err != nil {
			return s.orphaned(spec)
		}
		switch command.Do {
		case askStats:
			if err := enc.Encode(stageReply{Stats: s.client.Stats()}); err != nil {
				return s.orphaned(spec)
			}
		case askSet:
			var reply stageReply
			if err := s.set(command.Levels); err != nil {
				reply.Error = err.Error()
			}
			if err := enc.Encode(reply); err != nil {
				return s.orphaned(spec)
			}
		case askAbort:
			s.client.Close()
		case askStop:
			var reply stageReply
			s.ping()
			if err := s.mount.Unmount(); err != nil {
				reply.Error = err.Error()
			}
			reply.Stats = s.client.Stats()
			s.mount = nil
			s.shut()
			return enc.Encode(reply)
		}
	}
}

// set brings levels into force.
func (s *stageServer) set(l *stageLevels) error {
	if l == nil {
		return errors.New("no levels")
	}
	if s.link != nil {
		if err := s.link.Set(l.RTT, l.Bandwidth); err != nil {
			return err
		}
	}
	if l.Rate > 0 {
		return s.server.SetRate(l.Rate)
	}
	return nil
}

// orphaned ends the remains of the run after its owner is gone.
func (s *stageServer) orphaned(spec stageSpec) error {
	s.client.Close()
	// This process may be a member of the storage's group.
	left := leave(spec.Join)
	if id, ok := parseIdentity(os.Getenv(stageMarker)); ok {
		for range 100 {
			if len(endMarked(func(other identity) bool { return other == id })) == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	owned := &groups{dirs: spec.Groups}
	owned.kill(5 * time.Second)
	s.shut()
	return errors.Join(left, owned.remove(5*time.Second))
}

// leave moves this process from the groups to those above.
func leave(procs []string) error {
	var errs []error
	for _, p := range procs {
		errs = append(errs, writeFile(parentProcs(p), "0"))
	}
	return errors.Join(errs...)
}

// open makes everything.
func (s *stageServer) open(spec stageSpec) error {
	for _, p := range spec.Join {
		if err := writeFile(p, "0"); err != nil {
			return fmt.Errorf("joining the group of the storage: %w", err)
		}
	}
	if !spec.Keep {
		if err := meterfs.DropCache(spec.Data); err != nil {
			return err
		}
	}
	server, err := meterfs.NewServer(spec.Data, meterfs.ServerOptions{
		Commit: spec.Commit, Rate: spec.Rate, Varies: spec.Varies,
	})
	if err != nil {
		return err
	}
	s.server = server
	near, far, err := s.connect(spec)
	if err != nil {
		return err
	}
	go func() { _ = server.Serve(far) }() // ends with the connection; requests report it
	s.client, s.rtt = meterfs.NewClient(near), spec.RTT
	s.close = append(s.close, s.client.Close)
	s.mount, err = meterfs.NewMount(spec.Mount, s.client, meterfs.MountOptions{})
	return err
}

// shut ends everything, the last first.
func (s *stageServer) shut() {
	if s.mount != nil {
		_ = s.mount.Unmount() // the namespace ends with us
	}
	for i := len(s.close) - 1; i >= 0; i-- {
		_ = s.close[i]()
	}
}

// connect returns the two ends of the connection between program and storage.
func (s *stageServer) connect(spec stageSpec) (near, far net.Conn, err error) {
	if !spec.Network {
		return socketPair()
	}
	a, err := Current()
	if err != nil {
		return nil, nil, err
	}
	b, err := NewNamespace()
	if err != nil {
		return nil, nil, err
	}
	opts := LinkOptions{RTT: spec.RTT, Rate: spec.Bandwidth, Varies: spec.Varies}
	if spec.Least > 0 {
		opts.Rate = spec.Least
	}
	l, err := Open(a, b, opts)
	if err != nil {
		return nil, nil, err
	}
	if spec.Varies {
		if err := l.Set(spec.RTT, spec.Bandwidth); err != nil {
			return nil, nil, errors.Join(err, l.Close())
		}
	}
	s.link = l
	s.close = append(s.close, l.Close)
	var ln net.Listener
	if err := b.Do(func() (err error) {
		ln, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(AddrB, storagePort)))
		return err
	}); err != nil {
		return nil, nil, fmt.Errorf("the storage: %w", err)
	}
	defer ln.Close()
	type accepted struct {
		conn net.Conn
		err  error
	}
	ch := make(chan accepted, 1)
	go func() {
		conn, err := ln.Accept()
		ch <- accepted{conn, err}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second+4*spec.RTT)
	defer cancel()
	var d net.Dialer
	near, err = d.DialContext(ctx, "tcp4", netip.AddrPortFrom(AddrB, storagePort).String())
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the storage: %w", err)
	}
	acc := <-ch
	return near, acc.conn, acc.err
}

// storagePort is where the storage listens in its namespace.
const storagePort = 9988

// socketPair returns two connected ends without any network.
func socketPair() (net.Conn, net.Conn, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%w", err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "storage")
		ends[i], err = net.FileConn(f)
		f.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("%w", err)
		}
	}
	return ends[0], ends[1], nil
}
