package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay/internal/access"
)

// Limits of a request.
const (
	maxBody        = 1 << 20
	maxHeader      = 16 << 10
	headerTimeout  = 5 * time.Second
	answerTimeout  = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	wrongDelay     = 100 * time.Millisecond // of a wrong token: all of them wait in one queue
	mostWrong      = 32                     // of them at once; further ones are refused without waiting
	maxTokenLength = 256
)

// headers stand with every answer.
var headers = map[string]string{
	"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cache-Control":                "no-store",
	"X-Frame-Options":              "DENY",
}

// A guard lets requests through that may be made, with who makes them.
type guard struct {
	keys  Keys
	hosts access.Hosts
	mux   *http.ServeMux // which route it is
	next  http.Handler   // the handler behind the guard

	wrong chan struct{} // room for requests with a wrong token
	turn  sync.Mutex    // held by the request that waits
}

func newGuard(keys Keys, hosts access.Hosts, mux *http.ServeMux, next http.Handler) *guard {
	return &guard{keys: keys, hosts: hosts, mux: mux, next: next, wrong: make(chan struct{}, mostWrong)}
}

// ServeHTTP implements [http.Handler].
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for k, v := range headers {
		w.Header().Set(k, v)
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(answerTimeout)) // without deadlines, there is no slow client
	_ = rc.SetWriteDeadline(time.Now().Add(answerTimeout))
	if p := g.checkPlace(r); p != nil {
		answer(w, r, p)
		return
	}
	h, pattern := g.mux.Handler(r)
	route, listed := ofPattern(pattern)
	who, known := g.who(r)
	switch {
	case listed && route.Least == Nobody:
	case !known:
		g.slow(r.Context(), r.Header.Get("Authorization") != "", w, r)
		return
	case pattern == "" || !listed:
		answer(w, r, noRoute(w, h, r))
		return
	case !may(who.Role, route.Least):
		answer(w, r, refuse(http.StatusForbidden, "%s %s is for the role %s; %s is %s",
			r.Method, route.Path, route.Least, who.Name, who.Role))
		return
	}
	if p := checkForm(r); p != nil {
		answer(w, r, p)
		return
	}
	if most := route.most; most > 0 {
		if r.ContentLength > most {
			answer(w, r, refuse(http.StatusRequestEntityTooLarge, "a body has at most %d bytes, not %d", most, r.ContentLength))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
	}
	g.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, who)))
}

// checkPlace returns the reason to refuse a request regardless of its route: its Host is not a name of the server, or
// it comes from a foreign web page.
func (g *guard) checkPlace(r *http.Request) *Problem {
	if !g.hosts.Allow(r.Host) {
		return refuse(http.StatusForbidden, "host %.80q is not a name of this server", r.Host)
	}
	// A foreign page may not even read: CORS is not offered.
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" && site != "none" {
		return refuse(http.StatusForbidden, "requests of other web sites are not answered")
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		if len(origins) > 1 || origins[0] != scheme+r.Host {
			return refuse(http.StatusForbidden, "requests of other web sites are not answered")
		}
	}
	if http.NewCrossOriginProtection().Check(r) != nil {
		return refuse(http.StatusForbidden, "requests of other web sites are not answered")
	}
	return nil
}

// checkForm returns the fault of a request that shows before its body is read.
func checkForm(r *http.Request) *Problem {
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if pair == "" && r.URL.RawQuery == "" {
			continue
		}
		if name == "" || value == "" {
			return refuse(http.StatusUnprocessableEntity, "the query has a name without a value: leave it out, or give one")
		}
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return refuse(http.StatusUnsupportedMediaType, "bodies are not compressed here (Content-Encoding: %.40s)", e)
	}
	return nil
}

// who returns the caller of a request: the owner of its token or, without a token, the peer of the socket.
func (g *guard) who(r *http.Request) (Who, bool) {
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		who, ok := r.Context().Value(peerKey{}).(Who)
		return who, ok
	}
	token, ok := strings.CutPrefix(given[0], "Bearer ")
	if !ok || len(given) > 1 || token == "" || len(token) > maxTokenLength || g.keys == nil {
		return Who{}, false
	}
	who, err := g.keys.Who(r.Context(), token, r.RemoteAddr)
	return who, err == nil
}

// slow answers an unauthenticated request. If the request had a (wrong) token, slow waits first. Such requests wait in
// one queue, so that guessing is slow, and the queue is short, so that it costs little.
func (g *guard) slow(ctx context.Context, guessed bool, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="assay"`)
	if !guessed {
		answer(w, r, refuse(http.StatusUnauthorized, "a token is missing: Authorization: Bearer TOKEN"))
		return
	}
	select {
	case g.wrong <- struct{}{}:
	default:
		w.Header().Set("Retry-After", "5")
		answer(w, r, refuse(http.StatusTooManyRequests, "too many wrong tokens at once"))
		return
	}
	g.turn.Lock()
	select {
	case <-time.After(wrongDelay):
	case <-ctx.Done():
	}
	g.turn.Unlock()
	<-g.wrong
	answer(w, r, refuse(http.StatusUnauthorized, "the token is wrong, expired or revoked"))
}

// Keys of the context of a request.
type (
	whoKey  struct{}
	peerKey struct{} // the peer of the connection
)

// As makes requests of the context come from who, unless they have a token. It is for callers of [Server.Handler] in
// the process of the server that have authenticated the request themselves.
func As(ctx context.Context, who Who) context.Context { return context.WithValue(ctx, peerKey{}, who) }

// whoOf returns the caller of a request.
func whoOf(ctx context.Context) Who {
	who, _ := ctx.Value(whoKey{}).(Who)
	return who
}

// noRoute returns the response to a request that no route matches; h is the mux's own handler. It sets the Allow
// header.
func noRoute(w http.ResponseWriter, h http.Handler, r *http.Request) *Problem {
	probe := &statusProbe{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		allow := probe.header.Get("Allow")
		w.Header().Set("Allow", allow)
		return refuse(http.StatusMethodNotAllowed, "%s %.200s: the methods are %s", r.Method, r.URL.Path, allow)
	}
	return refuse(http.StatusNotFound, "there is no path %.200s", r.URL.Path)
}

// A statusProbe keeps the status of an answer and drops the rest.
type statusProbe struct {
	header http.Header
	status int
}

func (p *statusProbe) Header() http.Header         { return p.header }
func (p *statusProbe) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusProbe) WriteHeader(status int)      { p.status = status }

// answer writes a problem and closes the connection, because the rest of a refused request is not read.
func answer(w http.ResponseWriter, r *http.Request, p *Problem) {
	w.Header().Set("Content-Type", problemType)
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(p) // the client has gone, if this fails
	}
}
