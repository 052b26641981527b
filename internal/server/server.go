// Package server assembles a server of studies, and a worker for one, from the store, the queue, the fleet, the studies
// and the API. The files of a server are:
//
//	DIR/assay.db     the studies, unless they are elsewhere
//	DIR/assay.sock   the API, for this user
//	DIR/fleet.sock   the queue, for workers of this user
//	DIR/queue        the contents of the queue: may be deleted at any time
//	DIR/worker       the worker that the server starts
//	DIR/orders.json  orders to workers to take nothing more
//	DIR/keys.jsonl   writes of the last hour that have an Idempotency-Key
//	DIR/blobs        inputs of studies and kept files of runs, by their content
//	DIR/outputs      outputs of runs, if the studies are in a database
//	DIR/audit.jsonl  created and revoked tokens, and the applications that workers offered
//	DIR/ca, names, tokens.json   identity and tokens of a server with remote clients
//
// The parts of a server start in the order of their dependencies, and end in the reverse order: a request is only
// accepted when it can be served. Runs at workers continue after the end.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/rest"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/setup"
)

// Options configure a server.
type Options struct {
	Dir    string   // "" means this user's: see [api.DefaultDir]
	Store  string   // an address; "" is a file in Dir
	Listen []string // HOST:PORT, of the API by TLS; workers have the port after it
	// NATS is the address of the queue; "" means this process.
	NATS string
	// Creds is a file with credentials for an external NATS; "" means none.
	Creds string
	// Monitor is the HOST:PORT where NATS in this process reports the state of the queue; "" disables it.
	Monitor string
	// Slots is how many runs at once this machine makes itself; 0 means none.
	Slots int
	// Blobs is how many bytes the files of studies may have; 0 means 10 GiB.
	Blobs int64
	// Lease is how long a worker may be silent before its runs are repeated; 0 means 30 s.
	Lease   time.Duration
	Version string
	Program string // this program, which is started as the worker of Slots
	// Log receives warnings about faults, and the begin and end of each attempt; it may be nil.
	Log *slog.Logger
}

// File names in the directory of a server.
const (
	FleetSocket = "fleet.sock"
	storeFile   = "assay.db"
	workerDir   = "worker"
	ordersFile  = "orders.json"
	keysFile    = "keys.jsonl"
)

// drainWithin limits the time that a server takes to end.
const drainWithin = 2 * time.Second

// A Ready describes a server that has started.
type Ready struct {
	Version   string   `json:"version"`
	Addresses []string `json:"addresses"` // of the API
	Fleet     []string `json:"fleet"`     // where workers connect to
	Store     string   `json:"store"`
	Studies   int      `json:"studies"` // that are running
	Runs      int      `json:"runs"`    // that continued meanwhile
	Slots     int      `json:"local_slots"`
}

// A server is a running server.
type server struct {
	o     Options
	store *setup.Store
	queue *jetstream.Server // nil if it is elsewhere
	bus   *jetstream.Bus
	fleet *queue.Fleet
	host  *service.Host
	audit *access.Audit
	blobs *files.Store
	keys  *keys // nil without tokens
	api   *api.Server
	// figures are the counts of this server since it began.
	figures *figures
	errs    chan error
	ends    []func() error // in the order in which things began
}

// Run runs a server until ctx is done, or a part that it needs fails. ready is called when the server accepts requests.
func Run(ctx context.Context, o Options, ready func(Ready)) (err error) {
	if o.Dir == "" {
		if o.Dir, err = api.DefaultDir(); err != nil {
			return err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	defer keepHeap()()
	s := &server{o: o, figures: newFigures(o.Version), errs: make(chan error, 8)}
	defer func() { err = errors.Join(err, s.close()) }()
	r, err := s.open(ctx)
	if err != nil {
		return err
	}
	ready(r)
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.errs:
		return err
	}
}

// end registers a function to call when the server ends, in reverse order.
func (s *server) end(f func() error) { s.ends = append(s.ends, f) }

// close ends all that has begun.
func (s *server) close() error {
	var errs []error
	for i := len(s.ends) - 1; i >= 0; i-- {
		errs = append(errs, s.ends[i]())
	}
	return errors.Join(errs...)
}

// open begins everything.
func (s *server) open(ctx context.Context) (r Ready, err error) {
	if err := s.o.check(); err != nil {
		return r, err
	}
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return r, assay.WithClass(assay.ClassUsage, err)
	}
	s.audit = access.OpenAudit(filepath.Join(s.o.Dir, access.AuditFile))
	if err := s.access(ctx); err != nil {
		return r, err
	}
	// The socket first: it locks the directory.
	socket := filepath.Join(s.o.Dir, api.SocketName)
	own, err := rest.ListenUnix(socket)
	if errors.Is(err, fs.ErrExist) {
		return r, err
	}
	if err != nil {
		return r, assay.WithClass(assay.ClassUsage, err)
	}
	s.end(func() error { _ = own.Close(); return nil }) // it is closed already if it was served
	listeners, err := s.listen(ctx)
	if err != nil {
		return r, err
	}
	if err := s.openStudies(ctx); err != nil {
		return r, err
	}
	r = Ready{
		Version: s.o.Version, Addresses: []string{"unix:" + socket}, Store: storeName(s.o.Store), Slots: s.o.Slots,
		Fleet: s.workersAt(),
	}
	for _, l := range listeners {
		r.Addresses = append(r.Addresses, "https://"+l.Addr().String())
	}
	if r.Studies, r.Runs, err = s.goingOn(ctx); err != nil {
		return r, err
	}
	if err := s.serve(append(listeners, own), r); err != nil {
		return r, err
	}
	s.collect(ctx)
	if s.o.Slots > 0 {
		return r, s.startWorker(socket)
	}
	return r, nil
}

// check returns an error of options that contradict each other.
func (o Options) check() error {
	if o.NATS != "" && o.Monitor != "" {
		return assay.Errorf(assay.ClassUsage,
			"--monitor %s: this server does not run NATS; use the monitor of the external one", o.Monitor)
	}
	if o.NATS == "" && o.Creds != "" {
		return assay.WithHint(assay.Errorf(assay.ClassUsage,
			"--creds %s: credentials are for NATS that is elsewhere", o.Creds), "--nats URL")
	}
	return nil
}

// openStudies opens the queue, the store, the files and the host of the studies.
func (s *server) openStudies(ctx context.Context) (err error) {
	// A queue that is elsewhere is tried before anything is written.
	if s.o.NATS != "" {
		at := jetstream.Options{URL: s.o.NATS, Creds: s.o.Creds, Lease: s.o.Lease, Log: s.o.Log}
		if s.bus, err = jetstream.Dial(ctx, at); err != nil {
			return err
		}
		s.end(func() error { s.bus.Close(); return nil })
	}
	at := cmp.Or(s.o.Store, filepath.Join(s.o.Dir, storeFile))
	if s.store, err = setup.OpenStore(ctx, at); err != nil {
		return err
	}
	tracer, err := openTracer("assay-server", s.o.Version)
	if err != nil {
		return err
	}
	s.end(tracer.close)
	s.figures.follow(s.store, newTraces(tracer))
	s.end(s.store.Close)
	if err := s.openBlobs(); err != nil {
		return err
	}
	if err := s.carry(ctx); err != nil {
		return err
	}
	s.host, err = service.Open(ctx, service.Options{Store: s.store, Fleet: s.fleet, Log: s.o.Log})
	if err != nil {
		return err
	}
	s.end(s.host.Close)
	return nil
}

// goingOn returns the number of running studies, and of their runs at workers.
func (s *server) goingOn(ctx context.Context) (studies, runs int, err error) {
	all, err := s.host.Infos(ctx)
	for _, i := range all {
		if i.State == service.Running || i.State == service.Paused {
			studies++
			runs += i.Running
		}
	}
	return studies, runs, err
}

// carry begins the queue and the fleet.
func (s *server) carry(ctx context.Context) (err error) {
	if s.o.NATS == "" {
		if err := s.embed(ctx); err != nil {
			return err
		}
	}
	path := filepath.Join(s.o.Dir, ordersFile)
	orders, err := readOrders(path)
	if err != nil {
		return err
	}
	s.fleet = queue.New(s.bus.Carrier(), queue.Options{
		Lease: s.o.Lease, Version: s.o.Version, Log: s.o.Log, Orders: orders, Waited: s.figures.waited,
		Keep: func(all map[string]queue.Order) error { return writeOrders(path, all) },
	})
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := s.fleet.Serve(serving); err != nil && serving.Err() == nil {
			s.errs <- err
		}
	}()
	s.end(func() error { stop(); <-served; return nil })
	var may func(worker, app string) bool
	if s.queue != nil {
		may = s.queue.May
	}
	control, err := newAudited(s.fleet, s.audit)
	if err != nil {
		return err
	}
	quiet, err := s.bus.Answer(control, may)
	if err != nil {
		return err
	}
	s.end(func() error { quiet(); return nil })
	return nil
}

// embed begins a queue in this process.
func (s *server) embed(ctx context.Context) (err error) {
	o := jetstream.ServerOptions{
		Dir: filepath.Join(s.o.Dir, "queue"), Lease: s.o.Lease, Monitor: s.o.Monitor, Log: s.o.Log,
	}
	if len(s.o.Listen) > 0 {
		if o.Listen, err = next(s.o.Listen[0]); err != nil {
			return err
		}
		o.TLS, o.Door = s.keys.tls, s.keys.door
	}
	if s.queue, err = jetstream.Start(o); err != nil {
		return err
	}
	s.end(s.queue.Close)
	if s.bus, err = s.queue.Dial(ctx); err != nil {
		return err
	}
	s.end(func() error { s.bus.Close(); return nil })
	return s.queue.ServeUnix(filepath.Join(s.o.Dir, FleetSocket))
}

// workersAt returns where workers connect to.
func (s *server) workersAt() []string {
	if s.queue == nil {
		return []string{jetstream.Shown(s.o.NATS)}
	}
	at := []string{"unix:" + filepath.Join(s.o.Dir, FleetSocket)}
	if a := s.queue.Addr(); a != "" {
		at = append(at, "tls://"+a)
	}
	return at
}

// serve answers requests.
func (s *server) serve(listeners []net.Listener, r Ready) error {
	owner := userName()
	fleet := resuming{s.fleet, func() error { return nil }}
	if s.o.Slots > 0 {
		fleet.start = func() error { return s.startWorker(filepath.Join(s.o.Dir, api.SocketName)) }
	}
	o := api.Options{
		Studies: s.host, Trials: s.host, External: s.host, Fleet: fleet, Runs: fleet, Store: s.store,
		Blobs: s.blobs, Log: s.o.Log, Hosts: s.names(), Audit: s.audit.Entries,
		Metrics: s.scraped(),
		// The listener has turned away all processes of others.
		Peer: func(c net.Conn) (api.Who, bool) {
			_, ok := c.(*net.UnixConn)
			return api.Who{Name: owner, Role: api.Admin}, ok
		},
		About: api.About{
			Version: r.Version, Store: r.Store, Queue: strings.Join(r.Fleet, " "), Listen: r.Addresses,
			Started: time.Now().UTC(),
		},
	}
	if s.keys != nil {
		o.Keys = s.keys
	}
	s.api = api.New(o)
	if err := s.api.Remember(filepath.Join(s.o.Dir, keysFile)); err != nil {
		return err
	}
	if len(s.o.Listen) > 0 {
		if err := s.front(); err != nil {
			return err
		}
	}
	for _, l := range listeners {
		go func() {
			if err := s.api.Serve(l); err != nil {
				s.errs <- err
			}
		}()
	}
	s.end(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), drainWithin/4)
		defer cancel()
		if err := s.api.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	})
	return nil
}

// names are those by which clients may know the server.
func (s *server) names() []string {
	var all []string
	for _, l := range s.o.Listen {
		if host, _, err := net.SplitHostPort(l); err == nil && host != "" {
			all = append(all, host)
		}
	}
	if s.keys != nil {
		all = append(all, s.keys.known...)
	}
	return all
}

// next returns the address with the port after it.
func next(address string) (string, error) { return beside(address, 1) }

// beside returns the address with the port increased by the given number. Port 0 stays 0, any port.
func beside(address string, by int) (string, error) {
	host, port, err := net.SplitHostPort(address)
	var n int
	if err == nil {
		_, err = fmt.Sscanf(port, "%d", &n)
	}
	if err != nil || n < 0 || n+by > 65535 {
		return "", assay.Errorf(assay.ClassUsage, "--listen %s: not an address HOST:PORT", address)
	}
	if n > 0 {
		n += by
	}
	return net.JoinHostPort(host, fmt.Sprint(n)), nil
}

// storeName returns the location of the studies, without secrets of a URL.
func storeName(at string) string {
	if at == "" {
		return "sqlite"
	}
	if scheme, _, ok := strings.Cut(at, "://"); ok {
		return scheme
	}
	return at
}
