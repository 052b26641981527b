package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os/user"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/rest"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/web"
	"github.com/assay-run/assay/setup"
)

// UI configures the web pages of a command on this machine.
type UI struct {
	// Client is a client of the server. Without it, or if the server does not answer and FallBack is set, the pages are of
	// Store, and read-only.
	Client *api.Client
	// Store opens the store to show without a server; it may be nil.
	Store   func(context.Context) (*setup.Store, error)
	Listen  string // an address of the loopback; "" is a free port
	Version string
}

// A Shown describes the pages of a command.
type Shown struct {
	URL      string `json:"url"` // with a code that is good once
	Of       string `json:"of"`  // the source of their data
	ReadOnly bool   `json:"read_only"`
}

// ServeUI serves pages at the loopback of this machine until ctx is done. ready receives their address.
func ServeUI(ctx context.Context, o UI, ready func(Shown)) error {
	l, err := rest.ListenLoopback(ctx, cmp.Or(o.Listen, "127.0.0.1:0"))
	if err != nil {
		return assay.Errorf(assay.ClassUsage, "--listen: %w", err)
	}
	defer l.Close()
	w := web.Options{Open: true, Version: o.Version}
	of := ""
	closeAPI := func() {}
	switch err := o.answers(ctx); {
	case err == nil:
		w.API, of = api.Proxy(o.Client), o.Client.Address()
	case o.Store == nil:
		return err
	default:
		store, err := o.Store(ctx)
		if err != nil {
			return err
		}
		defer store.Close()
		look := Look(store, o.Version)
		viewer := api.Who{Name: userName(), Role: api.Viewer}
		w.ReadOnly, of = true, "the store "+cmp.Or(store.Path, storeName(store.Path))
		w.API = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			look.Handler().ServeHTTP(rw, r.WithContext(api.As(r.Context(), viewer)))
		})
		closeAPI = func() { _ = look.Close(context.Background()) }
	}
	site, err := web.New(w)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: site, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // faults of clients are not logged
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	ready(Shown{"http://" + l.Addr().String() + "/#code=" + site.Code(""), of, w.ReadOnly})
	select {
	case <-ctx.Done():
		closeAPI()
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWithin/4)
		defer cancel()
		if srv.Shutdown(short) != nil {
			_ = srv.Close()
		}
		return nil
	case err := <-served:
		return err
	}
}

// answers returns why the server does not answer, nil if it does.
func (o UI) answers(ctx context.Context) error {
	if o.Client == nil {
		return errors.New("no server was asked for")
	}
	_, err := o.Client.Me(ctx)
	return err
}

// userName returns the name of who runs this process.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "owner"
}

// front has the pages be answered at the same addresses as the API.
func (s *server) front() error {
	site, err := web.New(web.Options{API: s.api.Handler(), Hosts: s.names(), Version: s.o.Version})
	if err != nil {
		return err
	}
	s.api.Front(onTCP(site, s.api.Handler()))
	return nil
}

// onTCP serves pages only on TCP, where a browser can be; a socket serves the API alone.
func onTCP(site, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && a.Network() == "unix" {
			api.ServeHTTP(w, r)
			return
		}
		site.ServeHTTP(w, r)
	})
}
