package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
)

// ServerOptions configure a [Server].
type ServerOptions struct {
	Dir string // what is queued is kept here; it belongs to the server alone
	// Listen is HOST:PORT, with port 0 for any; "" listens nowhere. Then TLS and Door are needed.
	Listen string
	TLS    *tls.Config
	Door   Door
	// Monitor is HOST:PORT where NATS answers over HTTP, without TLS or a token, how much is queued and
	// who is connected; "" is nowhere.
	Monitor string
	// Lease is how long a ticket is leased; 0 means 30 s.
	Lease time.Duration
	Warn  func(string) // is told what goes wrong meanwhile; nil hears nothing
}

// A Server is NATS with JetStream in this process. What it keeps is no truth: if its directory is
// lost or damaged, it begins with an empty one. It is safe for concurrent use.
type Server struct {
	opts ServerOptions
	door *door
	quit chan struct{}
	// suspected has what a connection of this process has found wrong with what is queued.
	suspected chan string
	wg        sync.WaitGroup
	once      sync.Once

	mu     sync.Mutex
	ns     *server.Server
	port   int
	closed bool
	conns  map[net.Conn]bool // of unix sockets
	socks  []net.Listener
}

const (
	readyLimit = 15 * time.Second
	watchEvery = 3 * time.Second
	// renewEvery is how often what is queued is made anew at the most: a disk that is full is no better
	// for it.
	renewEvery = 5 * time.Second
	// syncEvery is how often what is queued is flushed to the disk. A ticket that is lost costs
	// nothing: the fleet offers another one within seconds.
	syncEvery = 10 * time.Second
)

// Start starts a server.
func Start(o ServerOptions) (*Server, error) {
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Server{
		opts: o, quit: make(chan struct{}), suspected: make(chan string, 1), conns: map[net.Conn]bool{},
		door: newDoor(o.Door),
	}
	if o.Listen != "" {
		if o.TLS == nil || o.Door == nil {
			return nil, assay.Errorf(assay.ClassUsage, "a queue that listens on %s needs TLS and tokens", o.Listen)
		}
		_, port, err := net.SplitHostPort(o.Listen)
		if err == nil {
			s.port, err = strconv.Atoi(port)
		}
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "%q is no HOST:PORT", o.Listen)
		}
	}
	err := s.start()
	if err != nil && assay.ClassOf(err) != assay.ClassUsage {
		o.Warn("the queue begins empty: " + err.Error())
		if err = os.RemoveAll(o.Dir); err == nil {
			err = s.start()
		}
	}
	if err != nil {
		return nil, err
	}
	own, err := s.Dial(context.Background())
	if err != nil {
		s.Close()
		return nil, err
	}
	s.wg.Go(func() { defer own.Close(); s.watch(own) })
	return s, nil
}

// start starts NATS. The lock is held, or nobody else has the server yet.
func (s *Server) start() error {
	if err := os.MkdirAll(s.opts.Dir, 0o700); err != nil {
		return err
	}
	o := &server.Options{
		ServerName: "assay", JetStream: true, StoreDir: s.opts.Dir, SyncInterval: syncEvery,
		NoSigs: true, NoLog: true, DontListen: true, DisableJetStreamBanner: true,
		CustomClientAuthentication: s.door, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 8 << 30,
		MaxPayload: 1 << 20, MaxPending: 64 << 20,
	}
	if s.opts.Listen != "" {
		host, _, err := net.SplitHostPort(s.opts.Listen)
		if err != nil {
			return err
		}
		o.DontListen, o.Host, o.Port = false, host, s.port
		if s.port == 0 {
			o.Port = server.RANDOM_PORT
		}
		o.TLS, o.TLSConfig, o.TLSTimeout = true, s.opts.TLS, 5
		if err := free(s.opts.Listen); err != nil {
			return assay.Errorf(assay.ClassUsage, "the queue cannot listen on %s: %w", s.opts.Listen, err)
		}
	}
	if s.opts.Monitor != "" {
		host, port, err := net.SplitHostPort(s.opts.Monitor)
		if err == nil {
			o.HTTPHost = host
			o.HTTPPort, err = strconv.Atoi(port)
		}
		if err != nil || o.HTTPPort < 1 || o.HTTPPort > 65535 {
			return assay.Errorf(assay.ClassUsage, "--monitor %s: not an address HOST:PORT", s.opts.Monitor)
		}
		if err := free(s.opts.Monitor); err != nil {
			return assay.Errorf(assay.ClassUsage, "--monitor %s: %w", s.opts.Monitor, err)
		}
	}
	ns, err := server.NewServer(o)
	if err != nil {
		return err
	}
	go ns.Start()
	if !ns.ReadyForConnections(readyLimit) || !ns.JetStreamEnabled() {
		ns.Shutdown()
		ns.WaitForShutdown()
		return errors.New("what was queued cannot be read")
	}
	if a, ok := ns.Addr().(*net.TCPAddr); ok && s.opts.Listen != "" {
		s.port = a.Port
	}
	s.ns = ns
	return nil
}

// free returns an error if an address is taken: NATS would end the process.
func free(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return l.Close()
}

// Addr returns where the server listens, "" if nowhere.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Listen == "" {
		return ""
	}
	host, _, _ := net.SplitHostPort(s.opts.Listen)
	return net.JoinHostPort(host, strconv.Itoa(s.port))
}

// InProcessConn returns a connection to the server that runs now: that of a Bus outlives a server that
// was made anew.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ns == nil {
		return nil, net.ErrClosed
	}
	return s.ns.InProcessConn()
}

// Dial connects to the server in this process.
func (s *Server) Dial(ctx context.Context) (*Bus, error) {
	return Dial(ctx, Options{Lease: s.opts.Lease, Warn: s.opts.Warn, in: s})
}

// May reports whether a worker may have work of an application: what its token says, or
// everything if it came in through the unix socket.
func (s *Server) May(worker, app string) bool { return s.door.may(worker, app) }

// Cut ends the connections that were let in by a key: see [Rights].
func (s *Server) Cut(key string) {
	s.mu.Lock()
	ns := s.ns
	s.mu.Unlock()
	if ns == nil {
		return
	}
	conns, err := ns.Connz(&server.ConnzOptions{Username: true, Limit: 1 << 20})
	if err != nil {
		return
	}
	for _, c := range conns.Conns {
		if c.AuthorizedUser == key {
			_ = ns.DisconnectClientByID(c.Cid)
		}
	}
}

// Close ends the server, and every connection to it.
func (s *Server) Close() error {
	s.once.Do(func() {
		close(s.quit)
		s.mu.Lock()
		s.closed = true
		ns := s.ns
		for _, l := range s.socks {
			l.Close()
		}
		for c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		if ns != nil {
			ns.Shutdown()
			ns.WaitForShutdown()
		}
		s.wg.Wait()
	})
	return nil
}

// watch makes the queue anew when it has come to harm. It looks at it through a connection of its own.
func (s *Server) watch(own *Bus) {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	var before map[string]uint64
	var renewed time.Time
	for {
		var flaw string
		select {
		case <-s.quit:
			return
		case flaw = <-s.suspected:
			before = nil
		case <-t.C:
			flaw, before = s.flaw(own, before)
		}
		if flaw == "" || time.Since(renewed) < renewEvery {
			continue
		}
		s.opts.Warn("the queue is made anew, what is open is offered again: " + flaw)
		before, renewed = nil, time.Now()
		if err := s.renew(); err != nil {
			s.opts.Warn("the queue cannot be made anew: " + err.Error())
		}
	}
}

// suspect has the queue made anew.
func (s *Server) suspect(flaw string) {
	select {
	case s.suspected <- flaw:
	default:
	}
}

// flaw says what is wrong with the queue, or "". stuck are the consumers for which something waited,
// with somebody waiting for it, and what they had delivered: a second look at that.
func (s *Server) flaw(own *Bus, stuck map[string]uint64) (flaw string, now map[string]uint64) {
	s.mu.Lock()
	ns := s.ns
	s.mu.Unlock()
	if ns == nil || !ns.JetStreamEnabled() {
		return "JetStream has stopped", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), watchEvery)
	defer cancel()
	if own.down() != nil {
		return "", nil // it is on its way back to a server that was made anew
	}
	stream, err := own.js.Stream(ctx, jobsStream)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return "", nil
	case err != nil:
		return "its stream does not answer: " + err.Error(), nil
	}
	// A directory that is deleted while the server writes may be there again, with next to nothing in it.
	for _, part := range []string{"meta.inf", "msgs"} {
		_, err := os.Stat(filepath.Join(s.opts.Dir, "jetstream", "$G", "streams", jobsStream, part))
		if errors.Is(err, fs.ErrNotExist) {
			return "its directory, or what was in it, is gone", nil
		}
	}
	now = map[string]uint64{}
	list := stream.ListConsumers(ctx)
	for info := range list.Info() {
		if info.NumPending == 0 || info.NumWaiting == 0 {
			continue
		}
		now[info.Name] = info.Delivered.Consumer
		if n, ok := stuck[info.Name]; ok && n == info.Delivered.Consumer {
			return "what is queued for " + info.Name + " is not delivered", nil
		}
	}
	return "", now
}

// renew starts NATS with an empty directory in place of the one that runs.
func (s *Server) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.ns != nil {
		s.ns.Shutdown()
		s.ns.WaitForShutdown()
		s.ns = nil
	}
	if err := os.RemoveAll(s.opts.Dir); err != nil {
		return err
	}
	return s.start()
}
