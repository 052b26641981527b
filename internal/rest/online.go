package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
)

// An Online serves one session of on-line tuning. It is safe for concurrent use.
type Online struct {
	session *online.Session
	space   *assay.Space
	guard   *guard
	posts   map[string]route // by the last element of their path
	server  *http.Server     // of all that serveConn does not answer

	mu    sync.RWMutex
	texts map[*float64][]byte // configurations as JSON, by address
	open  map[io.Closer]bool  // listeners and connections, until Close
	shut  bool
	conns sync.Map // net.Conn of server -> *conn
	ended sync.WaitGroup

	unproven connLimit
	closing  chan struct{} // closed by Close
}

// A route answers the body of a request on connection k, which may be nil.
type route func(k *conn, body []byte) ([]byte, error)

// maxTexts bounds how many configurations are kept as JSON.
const maxTexts = 1024

// NewOnline returns the server of a session on space. If token is not "", every
// request must carry it.
func NewOnline(session *online.Session, space *assay.Space, token string) *Online {
	o := &Online{
		session: session, space: space, guard: &guard{token: token},
		texts: map[*float64][]byte{}, open: map[io.Closer]bool{}, closing: make(chan struct{}),
	}
	o.server = &http.Server{
		Handler:           o.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       -1, // an iteration may take hours
		MaxHeaderBytes:    16 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, o.admit(c))
		},
		ConnState: o.connState,
	}
	return o
}

// Serve answers requests until Close, and then returns nil. If the machine has no descriptor or
// memory for a connection, it waits for one.
func (o *Online) Serve(l net.Listener) error {
	to := &relay{conns: make(chan net.Conn), done: make(chan struct{}), addr: l.Addr()}
	o.ended.Go(func() { _ = o.server.Serve(to) }) // until Close
	defer close(to.done)
	if !o.keep(l) {
		l.Close()
		return nil
	}
	for {
		c, err := o.accept(l)
		if err != nil {
			if o.drop(l) {
				return fmt.Errorf("%w", err)
			}
			return nil
		}
		if !o.keep(c) {
			c.Close()
			continue
		}
		if o.guard.token != "" {
			o.unproven.admit(c)
		}
		o.ended.Go(func() {
			defer o.drop(c)
			o.serveConn(c, to)
		})
	}
}

// keep registers c to be closed by Close; it returns false if Close has been called.
func (o *Online) keep(c io.Closer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[c] = true
	return !o.shut
}

// drop is the inverse of keep.
func (o *Online) drop(c io.Closer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, c)
	return !o.shut
}

// Handler returns the handler of requests, for use in another server. The session is not notified of connections that
// end then.
func (o *Online) Handler() http.Handler { return o.server.Handler }

// Close ends all connections, and returns when no request is being answered. It does not close the session.
func (o *Online) Close() error {
	o.mu.Lock()
	if !o.shut {
		close(o.closing)
	}
	o.shut = true
	for c := range o.open {
		c.Close()
	}
	o.mu.Unlock()
	err := o.server.Close()
	o.ended.Wait()
	return err
}

// A conn is the state of one connection.
type conn struct {
	known    func() // called when it has shown the token
	mu       sync.Mutex
	instance string // that has last spoken through it
}

type connKey struct{} // of the *conn in a request's context

// admit returns the state of a new connection of server.
func (o *Online) admit(c net.Conn) *conn {
	k := &conn{known: func() {}}
	if h, ok := c.(*handedOver); ok {
		k = h.k
	}
	o.conns.Store(c, k)
	return k
}

// connState notifies the session that a connection has ended.
func (o *Online) connState(c net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	if h, ok := c.(*handedOver); ok {
		o.unproven.forget(h.Conn)
	}
	if v, ok := o.conns.LoadAndDelete(c); ok {
		o.gone(v.(*conn))
	}
}

func (o *Online) gone(k *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.instance != "" {
		o.session.Lost(k.instance)
	}
}

// speaks notes which process is behind a connection.
func (k *conn) speaks(instance string) {
	if k != nil {
		k.mu.Lock()
		k.instance = instance
		k.mu.Unlock()
	}
}

// routes returns the handler of all requests.
func (o *Online) routes() http.Handler {
	o.posts = map[string]route{
		"join": o.join, "fetch": o.fetch, "report": o.report, "leave": o.leave,
		"pause": o.control(o.session.Pause), "resume": o.control(o.session.Resume),
		"restart": o.control(o.session.Restart), "end": o.control(o.session.End),
	}
	mux := http.NewServeMux()
	for name, f := range o.posts {
		mux.HandleFunc("POST "+prefix+name, func(w http.ResponseWriter, r *http.Request) {
			k, _ := r.Context().Value(connKey{}).(*conn)
			body, err := readBody(w, r)
			if err == nil {
				body, err = f(k, body)
			}
			write(w, body, err)
		})
	}
	mux.HandleFunc("GET "+prefix+"status", func(w http.ResponseWriter, _ *http.Request) {
		body, err := o.status()
		write(w, body, err)
	})
	return o.guard.wrap(mux)
}

// readBody reads the body of a request, which is small.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := func() error {
		w.Header().Set("Connection", "close")
		return refuse(http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("a body has at most %d bytes", maxBody))
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	var b []byte
	var err error
	if n := r.ContentLength; n >= 0 {
		b = make([]byte, n)
		_, err = io.ReadFull(r.Body, b)
	} else {
		b, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	}
	switch {
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "bad-body", "the body ended early")
	case len(b) > maxBody:
		return nil, tooLarge()
	}
	return b, nil
}

var (
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}
)

// write writes a response, or the refusal for err.
func write(w http.ResponseWriter, body []byte, err error) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Date"] = nil
	if err != nil {
		status := 0
		status, _, body = asRefusal(err).answer()
		h["Content-Type"] = problemType
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
	} else {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	_, _ = w.Write(body) // the client is gone if this fails
}

func answer(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(b, '\n'), err
}

func (o *Online) join(k *conn, body []byte) ([]byte, error) {
	q := joinRequest{Rank: -1}
	if err := decode(body, &q); err != nil {
		return nil, err
	}
	if err := o.session.Join(q.Rank, q.Instance); err != nil {
		return nil, err
	}
	k.speaks(q.Instance)
	st := o.session.Status()
	return answer(joinAnswer{Version, st.Study, st.Mode.String()})
}

func (o *Online) fetch(k *conn, body []byte) ([]byte, error) {
	instance, ok := quickMember(body)
	if !ok {
		var q memberRequest
		if err := decode(body, &q); err != nil {
			return nil, err
		}
		instance = q.Instance
	}
	t, err := o.session.Fetch(instance)
	if err != nil {
		return nil, err
	}
	k.speaks(instance)
	config, err := o.text(t.Config)
	if err != nil {
		return nil, err
	}
	return appendTurn(make([]byte, 0, 64+len(config)), t, config), nil
}

func (o *Online) report(k *conn, body []byte) ([]byte, error) {
	q, ok := quickReport(body)
	if !ok {
		q = reportRequest{}
		if err := decode(body, &q); err != nil {
			return nil, err
		}
	}
	if q.Seconds == nil && q.Failed == "" {
		return nil, refuse(http.StatusBadRequest, "bad-json",
			`a report has "seconds", or in "failed" the reason of the failure`)
	}
	seconds := 0.0
	if q.Seconds != nil {
		seconds = *q.Seconds
	}
	used, err := o.session.Report(q.Instance, q.Turn, seconds, q.Failed)
	if err != nil {
		return nil, err
	}
	k.speaks(q.Instance)
	if used {
		return []byte("{\"used\":true}\n"), nil
	}
	return []byte("{\"used\":false}\n"), nil
}

func (o *Online) leave(k *conn, body []byte) ([]byte, error) {
	var q memberRequest
	if err := decode(body, &q); err != nil {
		return nil, err
	}
	k.speaks("")
	return []byte("{}\n"), o.session.Leave(q.Instance)
}

func (o *Online) control(f func() error) route {
	return func(*conn, []byte) ([]byte, error) {
		if err := f(); err != nil {
			return nil, err
		}
		return o.status()
	}
}

func (o *Online) status() ([]byte, error) {
	st := o.session.Status()
	best, err := o.text(st.Best)
	if err != nil {
		return nil, err
	}
	return answer(newStatusAnswer(st, best))
}

// text returns a configuration as a JSON object. It is cached: configurations never change, and the same one is fetched
// many times.
func (o *Online) text(c assay.Config) ([]byte, error) {
	if len(c) == 0 {
		return []byte("{}"), nil
	}
	o.mu.RLock()
	b, ok := o.texts[&c[0]]
	o.mu.RUnlock()
	if ok {
		return b, nil
	}
	b, err := json.Marshal(o.space.Values(c))
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.texts) >= maxTexts {
		maps.DeleteFunc(o.texts, func(*float64, []byte) bool { return true })
	}
	o.texts[&c[0]] = b
	return b, nil
}
