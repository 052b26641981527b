package web

import (
	"net/http"
	"time"

	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/rest/api"
)

// Options configure the pages.
type Options struct {
	// API answers requests under /api/v1, in this process or elsewhere. It decides the permissions of each user.
	API http.Handler
	// Hosts are the accepted names of the server; nil means this machine's loopback.
	Hosts []string
	// Open gives sessions without a token the rights of API itself: the pages of a command on this machine, to which a
	// code leads. Otherwise a token is required.
	Open bool
	// ReadOnly hides the acts of the pages and refuses requests for them.
	ReadOnly bool
	// Version is the version of the program.
	Version string
	// Now is the time; nil means the machine's.
	Now func() time.Time
}

// A page answers the requests of one pattern.
type page struct {
	pattern string // "GET /s/{study}"
	least   access.Role
	answer  func(*site, *visit) error
	// server is true for a page of a server, which a store without a server lacks.
	server bool
}

// table lists all pages. The API decides which data a user may see; the role here decides which pages are offered.
var table = []page{
	{"GET /{$}", access.Viewer, (*site).studies, false},
	{"GET /s/{study}", access.Viewer, (*site).study, false},
	{"POST /s/{study}/trials", access.Operator, (*site).changeTrials, false},
	{"POST /s/{study}/values", access.Operator, (*site).tryPruned, false},
	{"POST /s/{study}/state", access.Operator, (*site).changeState, false},
	{"GET /s/{study}/t/{trial}", access.Viewer, (*site).trial, false},
	{"POST /s/{study}/t/{trial}", access.Operator, (*site).giveAgain, false},
	{"GET /queue", access.Viewer, (*site).queue, true},
	{"POST /queue", access.Operator, (*site).changeQueue, true},
	{"GET /workers", access.Viewer, (*site).workers, true},
	{"POST /workers", access.Operator, (*site).orderWorker, true},
	{"GET /admin", access.Admin, (*site).admin, false},
	{"POST /admin/tokens", access.Admin, (*site).addToken, false},
	{"POST /admin/revoke", access.Admin, (*site).revoke, false},
	{"GET /new", access.Author, (*site).newStudy, true},
	{"POST /new", access.Author, (*site).submitStudy, true},
	{"GET /compare", access.Viewer, (*site).compare, false},
	{"GET /kb", access.Viewer, (*site).knowledge, false},
	{"GET /plan", access.Viewer, (*site).planForm, false},
	{"POST /plan", access.Viewer, (*site).plan, false},
	{"GET /model", access.Viewer, (*site).model, false},
	{"POST /theme", access.Viewer, (*site).theme, false},
	{"POST /logout", access.Viewer, (*site).logout, false},
}

// A tab is an entry of the navigation.
type tab struct {
	Path, Text string
	least      access.Role
}

// tabs are the pages in the navigation of every page, if they exist.
var tabs = []tab{
	{"/", "Studies", access.Viewer},
	{"/queue", "Queue", access.Viewer},
	{"/workers", "Workers", access.Viewer},
	{"/kb", "Knowledge", access.Viewer},
	{"/plan", "Plan", access.Viewer},
	{"/model", "Model", access.Viewer},
	{"/admin", "Admin", access.Admin},
}

// A Site serves the pages. Create one with [New].
type Site struct{ *site }

type site struct {
	o        Options
	hosts    access.Hosts
	mux      *http.ServeMux
	sessions *sessions
	files    *files
	views    views
	client   *api.Client
	tabs     []tab // whose page is there
	cookie   string
}

// loopback are the names of this machine for itself.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// New returns the pages.
func New(o Options) (*Site, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	hosts := access.Hosts{Names: o.Hosts}
	if o.Hosts == nil {
		hosts.Names = loopback
	}
	s := &site{o: o, hosts: hosts, mux: http.NewServeMux(), sessions: newSessions(o.Now), cookie: cookieName(o.Open)}
	var err error
	if s.files, err = newFiles(); err != nil {
		return nil, err
	}
	if s.views, err = newViews(s.files); err != nil {
		return nil, err
	}
	if s.client, err = api.NewClient(api.ClientOptions{Address: "this server", Transport: inProcess{o.API}}); err != nil {
		return nil, err
	}
	for _, p := range table {
		if p.server && o.ReadOnly {
			continue
		}
		s.mux.HandleFunc(p.pattern, s.page(p))
	}
	for _, t := range tabs {
		r := &http.Request{Method: http.MethodGet, Host: "localhost", URL: mustURL(t.Path)}
		if _, pattern := s.mux.Handler(r); pattern != "" {
			s.tabs = append(s.tabs, t)
		}
	}
	s.mux.HandleFunc("GET /login", s.loginForm)
	s.mux.HandleFunc("POST /login", s.login)
	s.mux.Handle("GET /static/{hash}/{name}", s.files)
	s.mux.HandleFunc("/", s.nothing)
	return &Site{s}, nil
}

// Code returns a code that lets one browser in, once and within a few minutes, with the rights of the token; "" is for
// pages that need none.
func (s *Site) Code(token string) string { return s.sessions.code(token) }

// policy is the same on every page, without an exception.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// headers stand with every answer.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
}

// Limits of a request for a page.
const (
	maxForm       = 1 << 20
	answerTimeout = time.Minute
)

// ServeHTTP implements [http.Handler].
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if api.IsAPI(r) {
		s.api(w, r)
		return
	}
	for k, v := range headers {
		w.Header().Set(k, v)
	}
	if !s.hosts.Allow(r.Host) {
		http.Error(w, "this is no name of this server", http.StatusForbidden)
		return
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "requests of other web sites are not answered", http.StatusForbidden)
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(answerTimeout)) // without deadlines, there is no slow client
	_ = rc.SetWriteDeadline(time.Now().Add(answerTimeout))
	most := int64(maxForm)
	if r.URL.Path == "/plan" {
		most = maxPlan
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	s.mux.ServeHTTP(w, r)
}

// api forwards a request to the API. A request of a page's module gets the token of its session. Requests with their
// own token, or on a connection whose peer is known, are forwarded as they are, unless Open is set: then the API would
// take any caller for its owner.
func (s *site) api(w http.ResponseWriter, r *http.Request) {
	if one, ok := s.session(r); ok && len(r.Header.Values("Authorization")) == 0 {
		if !s.hosts.Allow(r.Host) || http.NewCrossOriginProtection().Check(r) != nil {
			http.Error(w, "requests of other web sites are not answered", http.StatusForbidden)
			return
		}
		if s.o.ReadOnly && api.Changes(r) {
			http.Error(w, "these pages only look", http.StatusMethodNotAllowed)
			return
		}
		r = r.Clone(r.Context())
		one.authorize(r.Header)
	} else if s.o.Open {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "no session: open the address that assay ui prints", http.StatusUnauthorized)
		return
	}
	s.o.API.ServeHTTP(w, r)
}

// nothing answers a request that no page has.
func (s *site) nothing(w http.ResponseWriter, r *http.Request) {
	s.page(page{least: access.Viewer, answer: func(*site, *visit) error { return notFound(r.URL.Path) }})(w, r)
}
