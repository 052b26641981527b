package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
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
	Dir string // directory of the queue; it belongs to the server alone
	// Listen is HOST:PORT, with port 0 for any; "" listens nowhere. Then TLS and Door are needed.
	Listen string
	TLS    *tls.Config
	Door   Door
	// Monitor is the HOST:PORT where NATS reports the state of the queue and its clients over HTTP, without TLS or a
	// token; "" disables it.
	Monitor string
	// Lease is the lease of a ticket; 0 means 30 s.
	Lease time.Duration
	Log   *slog.Logger // receives warnings about faults; it may be nil
}

// A Server is NATS with JetStream in this process. Its storage is not authoritative: if its directory is lost or
// damaged, it begins with an empty one. It is safe for concurrent use.
type Server struct {
	opts ServerOptions
	door *door
	quit chan struct{}
	// suspected receives the faults of the queue that a connection of this process has found.
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
	// renewEvery is the least time between two recreations of the queue: they do not help against a full disk.
	renewEvery = 5 * time.Second
	// syncEvery is the interval of flushes to the disk. A lost ticket does no harm: the fleet offers another one within
	// seconds.
	syncEvery = 10 * time.Second
)

// Start starts a server.
func Start(o ServerOptions) (*Server, error) {
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
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
		o.Log.Warn("the queue begins empty: " + err.Error())
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

// start starts NATS. The lock is held, or the server is not shared yet.
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
		return errors.New("the stored queue cannot be read")
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

// Addr returns the address of the server, or "" if it does not listen.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Listen == "" {
		return ""
	}
	host, _, _ := net.SplitHostPort(s.opts.Listen)
	return net.JoinHostPort(host, strconv.Itoa(s.port))
}

// InProcessConn returns a connection to the current NATS server. A Bus outlives a server that is recreated.
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
	return Dial(ctx, Options{Lease: s.opts.Lease, Log: s.opts.Log, in: s})
}

// May reports whether a worker may have work of an application: its token decides, and a connection through the unix
// socket allows everything.
func (s *Server) May(worker, app string) bool { return s.door.may(worker, app) }

// Cut closes the connections that a key authorized: see [Rights].
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

// watch recreates the queue when it is damaged. It inspects the queue through its own connection.
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
		s.opts.Log.Warn("the queue is rebuilt, and open runs are offered again: " + flaw)
		before, renewed = nil, time.Now()
		if err := s.renew(); err != nil {
			s.opts.Log.Warn("the queue cannot be rebuilt: " + err.Error())
		}
	}
}

// suspect requests a recreation of the queue.
func (s *Server) suspect(flaw string) {
	select {
	case s.suspected <- flaw:
	default:
	}
}

// flaw returns the fault of the queue, or "". stuck has the consumers that had both tickets and takers waiting at the
// last look, with their delivery counts then; a consumer whose count has not changed is faulty.
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
		return "", nil // it is reconnecting to a recreated server
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
			return "its directory, or a part of it, is gone", nil
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
			return "the queue for " + info.Name + " is not delivered", nil
		}
	}
	return "", now
}

// renew replaces NATS by a new one with an empty directory.
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
