package api

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/blobs"
	"github.com/assay-run/assay/setup"
)

// Options are what a [Server] needs.
type Options struct {
	// Studies, Trials and External are the parts of one host.
	Studies  StudyHost
	Trials   TrialHost
	External ExternalHost
	// Fleet and Runs are the parts of one fleet.
	Fleet Fleet
	Runs  Runs
	// Store is where the host writes the record. It is only read here.
	Store *setup.Store
	// Keys are the tokens; nil if there are none, and then only a peer gets in.
	Keys Keys
	// Blobs are the files of studies; nil keeps none.
	Blobs *blobs.Store
	// Warn is told, for people, of what is wrong with the files; nil means nobody.
	Warn func(string)
	// Audit returns the last entries of the audit; nil has none.
	Audit func(limit int) ([]Decision, error)
	// Peer says who is at the other end of a connection by what the system says of it, such
	// as the owner of a socket. nil, or false, leaves it to the token.
	Peer func(net.Conn) (Who, bool)
	// Hosts are the names that a request may be sent to, besides those of this machine's
	// own loopback. Case and port do not matter.
	Hosts []string
	// About is what GET /api/v1/server says.
	About About
	// Stream is how long a stream of events lasts at most; its client comes back for the
	// rest. 0 means an hour.
	Stream time.Duration
	// Now is the time; nil means the machine's.
	Now func() time.Time
}

// An About is what a server is.
type About struct {
	Version string    `json:"version"`
	Store   string    `json:"store" doc:"where the studies are kept"`
	Queue   string    `json:"queue" doc:"what carries the tickets"`
	Listen  []string  `json:"listen" nullable:"false" doc:"the addresses of the server"`
	Started time.Time `json:"started"`
}

// A Server answers requests. Make one with [New].
type Server struct {
	o       Options
	api     huma.API
	mux     *http.ServeMux
	http    *http.Server
	guard   *guard
	hubs    *hubs
	replay  *replays
	kept    *keptIndexes
	fits    chan struct{} // room for what fits models
	tallies tallies
	savings savings
	conns   *connLimit
	models  models
}

// local are the names of a server that only this machine reaches; a client of a socket
// says assay.
var local = []string{"assay", "localhost", "127.0.0.1", "::1"}

// New returns a server. It listens to nothing yet: see [Server.Serve].
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
		"Idempotency-Key; what is read has the number of the last event as its ETag."
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
		ErrorLog:          log.New(io.Discard, "", 0), // of what clients do wrong
	}
	return s
}

// Remember has a file remember the writes that have an Idempotency-Key, and what they were answered,
// for the server that comes next. It is called before the first Serve. A file belongs to one server.
func (s *Server) Remember(path string) error { return s.replay.keep(path) }

// peer notes who is at the other end of a connection.
func (s *Server) peer(ctx context.Context, c net.Conn) context.Context {
	if s.o.Peer != nil {
		if who, ok := s.o.Peer(c); ok {
			return context.WithValue(ctx, peerKey{}, who)
		}
	}
	return ctx
}

// Handler returns what answers requests, for a server of somebody else's. Nobody is known by
// the connection then, unless [As] says it.
func (s *Server) Handler() http.Handler { return s.guard }

// Front has h answer the requests of all listeners; it passes those that are for the API on to
// [Server.Handler]. It is called before Serve.
func (s *Server) Front(h http.Handler) { s.http.Handler = h }

// OpenAPI returns the document that describes the routes.
func (s *Server) OpenAPI() ([]byte, error) { return s.api.OpenAPI().MarshalJSON() }

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
