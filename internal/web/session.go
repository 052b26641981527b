package web

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Lifetimes and numbers of sessions and codes.
const (
	idleFor      = 12 * time.Hour      // since the last request
	lastsFor     = 30 * 24 * time.Hour // from creation
	codeFor      = 10 * time.Minute
	mostSessions = 1000
)

// A session is a browser that has logged in. Its token stays in this process.
type session struct {
	token string // of a person, or ""
	csrf  string // part of every form

	mu    sync.Mutex
	made  time.Time
	seen  time.Time
	flash *flash // shown by the next page
}

// A flash is the outcome of an act, which the next page shows once.
type flash struct {
	Text    string
	Bad     bool
	Command string // that does the same
}

// authorize adds the token of the session to a request.
func (s *session) authorize(h http.Header) {
	if s.token != "" {
		h.Set("Authorization", "Bearer "+s.token)
	}
}

// say sets the outcome that the next page shows.
func (s *session) say(f *flash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flash = f
}

// said returns the pending outcome and clears it.
func (s *session) said() *flash {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flash
	s.flash = nil
	return f
}

// live reports whether a session is good still at a time, and notes that it was used.
func (s *session) live(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.seen) > idleFor || now.Sub(s.made) > lastsFor {
		return false
	}
	s.seen = now
	return true
}

// sessions are the sessions of a process, and the codes that lead to some. They exist only in memory: access to the
// memory gives the tokens, and a restart ends all sessions.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex
	byID  map[[sha256.Size]byte]*session // by the hash of the cookie's value
	codes map[[sha256.Size]byte]grant
}

// A grant is the session behind a code.
type grant struct {
	token string
	until time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, byID: map[[sha256.Size]byte]*session{}, codes: map[[sha256.Size]byte]grant{}}
}

func hash(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// secret returns 256 random bits.
func secret() string { return rand.Text() + rand.Text() }

// begin creates a session for a token, and returns the value of its cookie.
func (ss *sessions) begin(token string) string {
	id, now := secret(), ss.now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for k, s := range ss.byID {
		if !s.lasts(now) || len(ss.byID) >= mostSessions && s == ss.oldest() {
			delete(ss.byID, k)
		}
	}
	ss.byID[hash(id)] = &session{token: token, csrf: secret(), made: now, seen: now}
	return id
}

// lasts is live without noting anything.
func (s *session) lasts(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.seen) <= idleFor && now.Sub(s.made) <= lastsFor
}

// oldest returns the session that was used least recently. The lock is held.
func (ss *sessions) oldest() (old *session) {
	for _, s := range ss.byID {
		if old == nil || s.seen.Before(old.seen) {
			old = s
		}
	}
	return old
}

// find returns the session of a cookie.
func (ss *sessions) find(id string) (*session, bool) {
	ss.mu.Lock()
	s := ss.byID[hash(id)]
	ss.mu.Unlock()
	if s == nil {
		return nil, false
	}
	if !s.live(ss.now()) {
		ss.end(id)
		return nil, false
	}
	return s, true
}

// end ends the session of a cookie.
func (ss *sessions) end(id string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.byID, hash(id))
}

// code creates a single-use code for the owner of a token.
func (ss *sessions) code(token string) string {
	c, now := secret(), ss.now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for k, g := range ss.codes {
		if now.After(g.until) {
			delete(ss.codes, k)
		}
	}
	ss.codes[hash(c)] = grant{token, now.Add(codeFor)}
	return c
}

// redeem returns the token of a code, which is good no more.
func (ss *sessions) redeem(code string) (token string, ok bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	g, ok := ss.codes[hash(code)]
	delete(ss.codes, hash(code))
	return g.token, ok && !ss.now().After(g.until)
}

// cookieName returns the name of the cookie. Pages on this machine's loopback share a host with the pages of other
// commands, whatever their ports, so each process has its own name; other cookies are bound to their host and to TLS.
func cookieName(open bool) string {
	if open {
		return "assay-" + strings.ToLower(rand.Text()[:8])
	}
	return "__Host-assay"
}

// session returns the session that a request is of.
func (s *site) session(r *http.Request) (*session, bool) {
	c, err := r.Cookie(s.cookie)
	if err != nil {
		return nil, false
	}
	return s.sessions.find(c.Value)
}

// setCookie gives a browser its session, or takes it away if id is "".
func (s *site) setCookie(w http.ResponseWriter, id string) {
	c := &http.Cookie{
		Name: s.cookie, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: !s.o.Open,
	}
	if c.MaxAge = int(lastsFor.Seconds()); id == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
