package rest

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay/internal/access"
)

// A guard admits requests that have the token, if one is set, come from no web page, and are addressed to a name of
// this machine.
type guard struct {
	token string
	mu    sync.Mutex // held by a request with a wrong token while it waits
}

// wrongTokenDelay makes guessing slow: all wrong guesses wait in one line.
const wrongTokenDelay = 100 * time.Millisecond

func (g *guard) wrap(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := len(r.Header["Origin"]) > 0 || len(r.Header["Sec-Fetch-Site"]) > 0
		if err := g.check(r.Host, r.Header.Get("Authorization"), page); err != nil {
			if err.code == "token" {
				g.mu.Lock()
				time.Sleep(wrongTokenDelay)
				g.mu.Unlock()
			}
			w.Header().Set("Connection", "close")
			write(w, nil, err)
			return
		}
		if k, ok := r.Context().Value(connKey{}).(*conn); ok {
			k.known()
		}
		h, pattern := mux.Handler(r)
		if pattern == "" {
			write(w, nil, noRoute(h, r))
			return
		}
		h.ServeHTTP(w, r)
	})
}

// noRoute returns the refusal of a request that no route matches; h is the mux's own handler.
func noRoute(h http.Handler, r *http.Request) error {
	probe := &statusProbe{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		return refuse(http.StatusMethodNotAllowed, "method",
			fmt.Sprintf("%s %s: the method is %s", r.Method, r.URL.Path, probe.header.Get("Allow")))
	}
	return refuse(http.StatusNotFound, "no-route", "no such path: "+r.URL.Path)
}

// A statusProbe keeps the status of an answer and drops the rest.
type statusProbe struct {
	header http.Header
	status int
}

func (p *statusProbe) Header() http.Header         { return p.header }
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusProbe) WriteHeader(status int)      { p.status = status }

// check returns the reason to refuse a request, or nil. page is true if a web page has sent it.
func (g *guard) check(host, authorization string, page bool) *refusal {
	if page {
		return refuse(http.StatusForbidden, "origin", "requests of web pages are not answered")
	}
	if !machine.Allow(host) {
		return refuse(http.StatusForbidden, "host", fmt.Sprintf("host %.80q is not this machine", host))
	}
	if g.token == "" {
		return nil
	}
	given, _ := strings.CutPrefix(authorization, "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.token))
	if subtle.ConstantTimeCompare(a[:], b[:]) == 1 {
		return nil
	}
	return refuse(http.StatusUnauthorized, "token", "the token is missing or wrong")
}

// machine are the names of this machine; a client of a socket sends the first.
var machine = access.Hosts{Names: []string{"assay", "localhost"}, Loopback: true}
