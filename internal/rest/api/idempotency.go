package api

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// How many writes are remembered by their keys, and for how long.
const (
	mostReplays = 1024
	keepReplays = time.Hour
	mostKept    = 64 << 10 // of an answer; a longer one is not remembered
)

// replays repeat the response to a write when the same Idempotency-Key is used again, also after a restart if they have
// a file.
type replays struct {
	now func() time.Time

	mu    sync.Mutex
	known map[replayKey]*replay
	file  *keysFile // nil for none
}

// A replayKey is a key of one user for one route, so that users cannot find each other's responses.
type replayKey struct{ who, method, path, key string }

// A replay is a write that was answered, or is being.
type replay struct {
	at     time.Time
	body   [sha256.Size]byte // of the request
	done   bool
	lost   bool // the server that was answering it has ended
	secret bool // the answer is in memory alone
	status int
	header http.Header
	answer []byte
}

func newReplays(now func() time.Time) *replays {
	return &replays{now: now, known: map[replayKey]*replay{}}
}

// keep stores the keys in a file, after loading those already there.
func (rs *replays) keep(path string) (err error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.file, rs.known, err = openKeys(path, rs.now()); err != nil {
		return err
	}
	for len(rs.known) > mostReplays {
		rs.shrink(rs.now())
	}
	return nil
}

// wrap answers requests that were answered before, and has next answer the others.
func (rs *replays) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		repeatable := slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPut}, r.Method)
		if key == "" || len(key) > 200 || repeatable {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body) // guard limits it
		if err != nil {
			answer(w, r, refuse(http.StatusRequestEntityTooLarge, "the body is too large, or was not sent to its end"))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		k := replayKey{whoOf(r.Context()).Name, r.Method, r.URL.EscapedPath(), key}
		mine, before, p := rs.begin(k, sha256.Sum256(body), secretive(r.Method, r.URL.Path))
		switch {
		case p != nil:
			answer(w, r, p)
			return
		case before != nil:
			for name, values := range before.header {
				w.Header()[name] = values
			}
			w.WriteHeader(before.status)
			_, _ = w.Write(before.answer) // the client has gone, if this fails
			return
		}
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		defer rs.end(k, mine, rec)
		next.ServeHTTP(rec, r)
	})
}

// begin returns the earlier response for a key, or a new entry for this one.
func (rs *replays) begin(k replayKey, body [sha256.Size]byte, secret bool) (mine, before *replay, p *Problem) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	now := rs.now()
	old := rs.known[k]
	switch {
	case old == nil || (old.done || old.lost) && now.Sub(old.at) > keepReplays:
	case old.body != body:
		return nil, nil, refuse(http.StatusConflict, "the Idempotency-Key was used for another request")
	case old.lost:
		return nil, nil, refuse(http.StatusConflict, "the server ended while it carried out the request with this "+
			"Idempotency-Key: look whether it was done, and ask with another key if not")
	case old.done && old.secret && old.answer == nil:
		return nil, nil, refuse(http.StatusConflict, "the request with this Idempotency-Key was carried out; its answer "+
			"had a secret and was not kept")
	case !old.done:
		return nil, nil, refuse(http.StatusConflict, "the request with this Idempotency-Key is being answered")
	default:
		return nil, old, nil
	}
	rs.shrink(now)
	mine = &replay{at: now, body: body, secret: secret}
	rs.known[k] = mine
	if rs.file != nil {
		if err := rs.file.add(k, mine, rs.known, true); err != nil {
			delete(rs.known, k)
			return nil, nil, problem(err)
		}
	}
	return mine, nil, nil
}

// shrink drops expired entries and, if that is not enough, the oldest.
func (rs *replays) shrink(now time.Time) {
	var done []replayKey
	for k, r := range rs.known {
		switch {
		case (r.done || r.lost) && now.Sub(r.at) > keepReplays:
			delete(rs.known, k)
		case r.done || r.lost:
			done = append(done, k)
		}
	}
	if len(rs.known) < mostReplays {
		return
	}
	slices.SortFunc(done, func(a, b replayKey) int { return rs.known[a].at.Compare(rs.known[b].at) })
	for _, k := range done[:min(len(done), mostReplays/4)] {
		delete(rs.known, k)
	}
}

// end stores a response. A response that invites a retry, or reports an internal error, is not stored: the same request
// is executed again.
func (rs *replays) end(k replayKey, mine *replay, rec *recorder) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rec.status >= http.StatusInternalServerError || rec.status == http.StatusTooManyRequests || !rec.wrote ||
		rec.body.Len() > mostKept {
		delete(rs.known, k)
		if rs.file != nil {
			_ = rs.file.forget(k, mine) // a retry after a restart must check the outcome
		}
		return
	}
	mine.done, mine.status, mine.header, mine.answer = true, rec.status, rec.Header().Clone(), rec.body.Bytes()
	mine.header.Del("Date")
	if rs.file != nil {
		_ = rs.file.add(k, mine, rs.known, false) // likewise
	}
}

// A recorder passes an answer on, and keeps it.
type recorder struct {
	http.ResponseWriter
	status int
	wrote  bool
	body   bytes.Buffer
}

// Unwrap lets an [http.ResponseController] through.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	if r.body.Len() <= mostKept {
		r.body.Write(b)
	}
	return r.ResponseWriter.Write(b)
}
