package api

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/pages"
	"github.com/assay-run/assay/setup"
)

// Options configure a [Server].
type Options struct {
	// Studies, Trials and External are the parts of one host.
	Studies  StudyHost
	Trials   TrialHost
	External ExternalHost
	// Fleet and Runs are the parts of one fleet.
	Fleet Fleet
	Runs  Runs
	// Store is the record, which the host writes. It is only read here.
	Store *setup.Store
	// Keys are the tokens; if nil, only a Peer is let in.
	Keys Keys
	// Blobs are the files of studies; nil keeps none.
	Blobs *files.Store
	// Log receives warnings about faults of the files; it may be nil.
	Log *slog.Logger
	// Audit returns the last entries of the audit; nil has none.
	Audit func(limit int) ([]Decision, error)
	// Metrics answers GET /metrics; without it the route does not exist.
	Metrics http.Handler
	// Peer identifies the other end of a connection from the operating system, such as by the owner of a socket. If Peer
	// is nil or returns false, the token decides.
	Peer func(net.Conn) (Who, bool)
	// Hosts are additional accepted names of the server, besides the names of the loopback interface. Case and port do
	// not matter.
	Hosts []string
	// About is the response of GET /api/v1/server.
	About About
	// Stream is the longest duration of a stream of events; its client reconnects for the rest. 0 means an hour.
	Stream time.Duration
	// Now is the time; nil means the machine's.
	Now func() time.Time
}

// An About describes a server.
type About struct {
	Version string    `json:"version"`
	Store   string    `json:"store" doc:"where the studies are kept"`
	Queue   string    `json:"queue" doc:"the carrier of the tickets"`
	Listen  []string  `json:"listen" nullable:"false" doc:"the addresses of the server"`
	Started time.Time `json:"started"`
}

// A Server answers requests. Create one with [New].
type Server struct {
	o       Options
	api     huma.API
	mux     *http.ServeMux
	http    *http.Server
	guard   *guard
	hubs    *hubs
	replay  *replays
	kept    *keptIndexes
	fits    chan struct{} // a semaphore for fitting models
	tallies tallies
	savings savings
	conns   *connLimit
	models  recent[fitted]
	// explained are explanations with curves.
	explained recent[*pages.Explained]
}

// local are the names of a server that only this machine can reach. Clients of a socket use assay.
var local = []string{"assay", "localhost", "127.0.0.1", "::1"}

// New returns a server. It does not listen yet: see [Server.Serve].
func New(o Options) *Server {
	useProblems()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Stream <= 0 {
		o.Stream = time.Hour
	}
	s := &Server{
		o: o, mux: http.NewServeMux(), hubs: newHubs(o.Store), replay: newReplays(o.Now), kept: newKeptIndexes(),
		fits: make(chan struct{}, 1), tallies: tallies{store: o.Store, of: map[string]*tally{}},
		savings: savings{store: o.Store, known: map[string]*saving{}}, conns: newConnLimit(),
	}
	doc := huma.DefaultConfig("assay", o.About.Version)
	doc.DocsPath, doc.SchemasPath, doc.OpenAPIPath, doc.CreateHooks = "", "", "", nil
	doc.Info.Description = "Studies on a server, and the machines that make their runs. Every write takes an " +
		"Idempotency-Key; an answer to a read has the number of the last event as its ETag."
	doc.RejectUnknownQueryParameters = true
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "Not needed by the owner of the server on its socket."},
	}
	s.api = humago.New(s.mux, doc)
	describeViews(s.api.OpenAPI().Components.Schemas)
	for _, r := range Routes {
		r.register(s, r)
	}
	s.guard = newGuard(o.Keys, access.Hosts{Names: slices.Concat(local, o.Hosts)}, s.mux, s.replay.wrap(s.mux))
	s.http = &http.Server{
		Handler:           s.guard,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       s.peer,
		ConnState:         s.conns.state,
		ErrorLog:          log.New(io.Discard, "", 0), // faults of clients are not logged
	}
	return s
}

// Remember stores the Idempotency-Keys of writes and their responses in a file, for the next server process. Call it
// before the first Serve. A file belongs to one server.
func (s *Server) Remember(path string) error { return s.replay.keep(path) }

// peer records the identity of the peer of a connection.
func (s *Server) peer(ctx context.Context, c net.Conn) context.Context {
	if s.o.Peer != nil {
		if who, ok := s.o.Peer(c); ok {
			return context.WithValue(ctx, peerKey{}, who)
		}
	}
	return ctx
}

// Handler returns the handler of requests, for use in another server. Connections do not identify a caller then, unless
// [As] does.
func (s *Server) Handler() http.Handler { return s.guard }

// Front has h answer the requests of all listeners; it passes those that are for the API on to
// [Server.Handler]. It is called before Serve.
func (s *Server) Front(h http.Handler) { s.http.Handler = h }

// OpenAPI returns the document that describes the routes.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() }

// Streams returns how many streams of events are open.
func (s *Server) Streams() int { return s.hubs.count() }

// Serve answers the requests of a listener until Close, after which it returns nil. It
// may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(s.conns.door(l)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the streams, waits for the other requests until ctx is done, and ends those too.
func (s *Server) Close(ctx context.Context) error {
	s.hubs.close()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	return err
}

// openAPIInYAML returns the document in YAML.
func (s *Server) openAPIInYAML() ([]byte, error) { return s.api.OpenAPI().YAML() }
