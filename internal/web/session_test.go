package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/web"
	"github.com/assay-run/assay/setup"
)

// tokens are the tokens of a test: "viewer.x" is the token of a viewer, and so on.
type tokens struct{ revoked string }

func (k *tokens) Who(_ context.Context, token, _ string) (api.Who, error) {
	name, secret, _ := strings.Cut(token, ".")
	if secret != "x" || name == k.revoked {
		return api.Who{}, access.ErrDenied
	}
	return api.Who{Name: name, Role: api.Role(name)}, nil
}
func (*tokens) Tokens(context.Context) ([]api.Token, error)            { return nil, nil }
func (*tokens) Add(context.Context, api.Token, string) (string, error) { return "", nil }
func (*tokens) Revoke(context.Context, string, string) error           { return nil }

// A door is the pages of a server that asks for tokens.
type door struct {
	t    *testing.T
	site *web.Site
	keys *tokens
	now  time.Time
	jar  http.CookieJar
}

func newDoor(t *testing.T) *door {
	t.Helper()
	store := memory(t)
	newRecord(t, store, "encoder").run(5)
	return doorTo(t, store, false)
}

// doorTo opens the pages of a store, without a browser; if readOnly, as assay ui --store does.
func doorTo(t *testing.T, store *setup.Store, readOnly bool) *door {
	t.Helper()
	d := &door{t: t, keys: &tokens{}, now: time.Now()}
	look := server.LookFor(store, "test", d.keys, "lab.example.org")
	var err error
	if d.site, err = web.New(web.Options{
		API: look.Handler(), Hosts: []string{"lab.example.org"}, ReadOnly: readOnly,
		Now: func() time.Time { return d.now },
	}); err != nil {
		t.Fatal(err)
	}
	d.jar, _ = cookiejar.New(nil)
	return d
}

// do sends a request as a browser does.
func (d *door) do(method, path string, form url.Values, header ...string) (reply, string) {
	d.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, "https://lab.example.org"+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	for _, c := range d.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	w := &answer{header: http.Header{}}
	d.site.ServeHTTP(w, r)
	for _, line := range w.header["Set-Cookie"] {
		if c, err := http.ParseSetCookie(line); err == nil {
			d.jar.SetCookies(r.URL, []*http.Cookie{c})
		}
	}
	return reply{w.status, w.header}, w.body.String()
}

// A reply is an answer without its body.
type reply struct {
	StatusCode int
	Header     http.Header
}

type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header    { return a.header }
func (a *answer) WriteHeader(status int) { a.status = status }
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.body.Write(b)
}

var csrfField = regexp.MustCompile(`name="csrf" value="([A-Z0-9]+)"`)

// login logs in, and returns the token that forms have.
func (d *door) login(token string) string {
	d.t.Helper()
	resp, body := d.do("POST", "/login", url.Values{"code": {token}})
	if resp.StatusCode != http.StatusSeeOther {
		d.t.Fatalf("log-in of %s: %d %s", token, resp.StatusCode, body)
	}
	_, body = d.do("GET", "/", nil)
	m := csrfField.FindStringSubmatch(body)
	if m == nil {
		d.t.Fatalf("no form on the page: %s", body)
	}
	return m[1]
}

// A session begins with a token and ends with it, by time, or by log-out; its cookie is no use to a
// script or to another site, and there is no token in it.
func TestSessions(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	in := func() bool {
		resp, _ := d.do("GET", "/s/encoder", nil)
		if resp.StatusCode != http.StatusOK && resp.Header.Get("Location") != "/login?next=%2Fs%2Fencoder" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
		return resp.StatusCode == http.StatusOK
	}
	if in() {
		t.Error("the pages are open")
	}
	for _, wrong := range []string{"", "viewer.y", "worker.x", "no token at all", "assay-user-v1.viewer.x"} {
		if resp, body := d.do("POST", "/login", url.Values{"code": {wrong}}); resp.StatusCode != http.StatusUnauthorized ||
			in() {
			t.Errorf("%q: %d %s", wrong, resp.StatusCode, body)
		}
	}
	resp, _ := d.do("POST", "/login", url.Values{"code": {"viewer.x"}, "next": {"//elsewhere.example.org"}})
	c := resp.Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-assay=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(c, want) {
			t.Errorf("the cookie is %q, without %s", c, want)
		}
	}
	if strings.Contains(c, "viewer") || resp.Header.Get("Location") != "/" || !in() {
		t.Errorf("after log-in: %v", resp.Header)
	}
	if d.now = d.now.Add(11 * time.Hour); !in() {
		t.Error("a session ends while it is used")
	}
	if d.now = d.now.Add(13 * time.Hour); in() {
		t.Error("a session never ends")
	}
	d.login("viewer.x")
	if d.keys.revoked = "viewer"; in() {
		t.Error("a session outlives its token")
	}
	d.keys.revoked = ""
	csrf := d.login("viewer.x")
	if d.do("POST", "/logout", url.Values{"csrf": {csrf}}); in() {
		t.Error("log-out does nothing")
	}
	// A code is good once, and for some minutes.
	code := d.site.Code("operator.x")
	d.login(code)
	if resp, _ := d.do("POST", "/login", url.Values{"code": {code}}); resp.StatusCode != http.StatusUnauthorized {
		t.Error("a code is good twice")
	}
	code = d.site.Code("operator.x")
	d.now = d.now.Add(11 * time.Minute)
	if resp, _ := d.do("POST", "/login", url.Values{"code": {code}}); resp.StatusCode != http.StatusUnauthorized {
		t.Error("a code is good for ever")
	}
}

// A page of another site can do nothing, with the cookie or without.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	csrf := d.login("operator.x")
	form := url.Values{"state": {"pause"}}
	for name, c := range map[string]struct {
		method, path string
		form         url.Values
		header       []string
		status       int
	}{
		"another host":   {"GET", "/", nil, []string{"Host", "evil.example.org"}, 403},
		"another origin": {"POST", "/s/encoder/state", form, []string{"Origin", "https://evil.example.org"}, 403},
		"another site":   {"POST", "/s/encoder/state", form, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"no token":       {"POST", "/s/encoder/state", form, nil, 403},
		"a wrong token":  {"POST", "/s/encoder/state", url.Values{"state": {"pause"}, "csrf": {csrf + "A"}}, nil, 403},
		"by a link":      {"GET", "/s/encoder/state", nil, nil, 404},
		"log-in of another site": {
			"POST", "/login", url.Values{"code": {"viewer.x"}}, []string{"Sec-Fetch-Site", "cross-site"}, 403,
		},
		"the API, of another site": {"GET", "/api/v1/studies", nil, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"the API":                  {"GET", "/api/v1/studies", nil, []string{"Sec-Fetch-Site", "same-origin"}, 200},
	} {
		if resp, body := d.do(c.method, c.path, c.form, c.header...); resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %s", name, resp.StatusCode, c.status, body)
		}
	}
	// The same form with its token gets through to the API, which refuses it for a reason of its own;
	// its page shows the reason.
	resp, _ := d.do("POST", "/s/encoder/state", url.Values{"state": {"pause"}, "csrf": {csrf}, "back": {"/s/encoder"}})
	_, body := d.do("GET", "/s/encoder", nil)
	if resp.StatusCode != http.StatusSeeOther || !strings.Contains(body, "these pages only look") {
		t.Errorf("with the token: %d %v", resp.StatusCode, resp.Header)
	}
	// Roles are the API's business; a viewer is offered nothing.
	csrf = d.login("viewer.x")
	if _, body := d.do("GET", "/s/encoder", nil); strings.Contains(body, `value="pause"`) ||
		strings.Contains(body, "/s/encoder/trials") {
		t.Error("a viewer is offered acts")
	}
	if resp, _ := d.do("POST", "/s/encoder/state",
		url.Values{"state": {"pause"}, "csrf": {csrf}}); resp.StatusCode != 403 {
		t.Errorf("a viewer pauses: %d", resp.StatusCode)
	}
}

// Every answer has the policy, without an exception, and no page has a script or a style of its own.
func TestPolicy(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.login("admin.x")
	inline := regexp.MustCompile(`(?i)<script(?:>| [^>]*>)[^<]|<style|\sstyle=|\son[a-z]+=|javascript:`)
	for _, path := range []string{"/", "/s/encoder", "/s/none", "/nothing", "/login"} {
		resp, body := d.do("GET", path, nil)
		p := resp.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(p, "default-src 'none'; script-src 'self'; style-src 'self';") ||
			strings.Contains(p, "unsafe") ||
			!strings.Contains(p, "require-trusted-types-for 'script'") || !strings.Contains(p, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, p)
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, resp.Header)
		}
		body = regexp.MustCompile(`(?s)<script type="application/json".*?</script>`).ReplaceAllString(body, "")
		if m := inline.FindString(body); m != "" {
			t.Errorf("%s: %q stands in the page", path, m)
		}
	}
}

// All modules and styles together are small when they are sent, and a browser keeps them.
func TestFiles(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.login("viewer.x")
	_, page := d.do("GET", "/s/encoder", nil)
	dir := regexp.MustCompile(`/static/[0-9a-f]+/`).FindString(page)
	sent, plain := 0, 0
	seen := map[string]bool{}
	var load func(name string)
	load = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		resp, body := d.do("GET", dir+name, nil, "Accept-Encoding", "gzip")
		if resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Fatalf("%s: %d %v", name, resp.StatusCode, resp.Header)
		}
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		sent, plain = sent+len(body), plain+len(text)
		for _, m := range regexp.MustCompile(`from "\./([a-z_]+\.js)"`).FindAllStringSubmatch(string(text), -1) {
			load(m[1])
		}
	}
	load("site.js")
	load("page_study.js")
	t.Logf("modules of the page of a study: %d files, %d bytes, %d sent", len(seen), plain, sent)
	if sent > 60_000 || len(seen) < 15 {
		t.Errorf("the %d modules of the page of a study are %d bytes, %d as they are sent: at most 60 kB", len(seen), plain,
			sent)
	}
	if resp, _ := d.do("GET", "/static/0123456789abcdef/site.js", nil); resp.StatusCode != http.StatusNotFound {
		t.Error("files of another version are answered")
	}
}
