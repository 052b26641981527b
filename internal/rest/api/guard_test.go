package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// TestHosts sends every route to names that are not the server's, as a page does whose name
// was bound to the address of the server, and to those that are.
func TestHosts(t *testing.T) {
	short := func(o *Options) { o.Stream = 1; o.Hosts = []string{"Lab.example.org"} }
	r := newRig(t, short)
	foreignHosts(t, r)
	for _, host := range []string{
		"localhost", "localhost:1", "127.0.0.1:7700", "[::1]:7700", "assay", "lab.EXAMPLE.org:7700",
	} {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/queue", "", http.Header{"Host": {host}}); got.status != 200 {
			t.Errorf("host %s: %d %s", host, got.status, got.body)
		}
	}
}

// foreignHosts fails unless every route refuses every name that is not the server's.
func foreignHosts(t testing.TB, r *rig) {
	t.Helper()
	before := r.state(t)
	foreign := []string{
		"evil.example", "evil.example:7700", "localhost.evil.example", "127.0.0.1.evil.example", "assay.evil.example",
		"127.0.0.2", "[::2]:80", "0.0.0.0", "10.0.0.5", "localhost.", "lab.example.org.evil.example", "LOCALHOST.",
		"[::1", "::1]",
		"localhost:80:80", "localhost@evil.example", "127.1", "2130706433", "0x7f000001", "localhost%00.evil.example",
	}
	for _, row := range Routes {
		for _, host := range foreign {
			conn, err := net.Dial("tcp", r.at.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			// By hand: a client of Go corrects such names.
			body := bodies[row.Method+" "+row.Path]
			req := row.Method + " " + filled(row.Path) + " HTTP/1.1\r\nHost: " + host + "\r\n" +
				"Authorization: Bearer secret-admin\r\n" +
				"Connection: close\r\nContent-Type: application/json\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
			_, _ = conn.Write([]byte(req))
			var got bytes.Buffer
			_, _ = got.ReadFrom(conn)
			conn.Close()
			status, _, _ := strings.Cut(strings.TrimPrefix(got.String(), "HTTP/1.1 "), " ")
			if status != "403" && status != "400" {
				t.Fatalf("%s %s to host %s: %s", row.Method, row.Path, host, got.String())
			}
		}
	}
	if before != r.state(t) {
		t.Error("something changed")
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestOrigins sends the headers that a browser sends with the requests of web pages.
func TestOrigins(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Stream = 1 })
	foreignOrigins(t, r)
	own := "http://" + r.at.Listener.Addr().String()
	for _, h := range []http.Header{{"Origin": {own}}, {"Sec-Fetch-Site": {"same-origin"}}, {"Sec-Fetch-Site": {"none"}}} {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/queue", "", h); got.status != 200 {
			t.Errorf("with %v: %d %s", h, got.status, got.body)
		}
	}
}

// foreignOrigins fails unless every route refuses the requests of other pages.
func foreignOrigins(t testing.TB, r *rig) {
	t.Helper()
	own := "http://" + r.at.Listener.Addr().String()
	before := r.state(t)
	for _, row := range Routes {
		for _, h := range []http.Header{
			{"Origin": {"http://evil.example"}},
			{"Origin": {"null"}},
			{"Origin": {""}},
			{"Origin": {own, "http://evil.example"}},
			{"Origin": {own + ".evil.example"}},
			{"Origin": {strings.Replace(own, "http:", "https:", 1)}},
			{"Sec-Fetch-Site": {"cross-site"}},
			{"Sec-Fetch-Site": {"same-site"}},
			{"Sec-Fetch-Site": {"anything"}},
			{"Sec-Fetch-Site": {"cross-site"}, "Origin": {own}},
			{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://evil.example"}},
		} {
			got := r.do(t, Admin, row.Method, filled(row.Path), bodies[row.Method+" "+row.Path], h)
			if got.status != http.StatusForbidden {
				t.Errorf("%s %s with %v: %d", row.Method, row.Path, h, got.status)
			}
			if got.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s with %v allows an origin", row.Method, row.Path, h)
			}
		}
	}
	if before != r.state(t) {
		t.Error("something changed")
	}
}

// There is no such protection behind a careless proxy, which takes a browser's headers off the
// requests.
func TestPagesControl(t *testing.T) {
	bare := func(t testing.TB) *rig {
		r := newRig(t, func(o *Options) { o.Stream = 1 })
		inner := r.Handler()
		r.at.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			q.Host = "localhost"
			q.Header.Del("Origin")
			q.Header.Del("Sec-Fetch-Site")
			inner.ServeHTTP(w, q)
		})
		return r
	}
	testbed.Fails(t, "names that nobody looks at", func(t testing.TB) { foreignHosts(t, bare(t)) })
	testbed.Fails(t, "origins that nobody looks at", func(t testing.TB) { foreignOrigins(t, bare(t)) })
}

// TestBombs sends requests that are made to cost much.
func TestBombs(t *testing.T) {
	r := newRig(t)
	before := r.state(t)
	alias := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'k'; c++ {
		alias += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "x]\n"
	}
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(make([]byte, 10<<20))
	z.Close()
	knobs := strings.Repeat("a: 1..3, ", 100_000)
	for name, b := range map[string]struct {
		body   string
		header http.Header
	}{
		"a body of 2 MiB":     {body: strings.Repeat(" ", 2<<20)},
		"a body that unpacks": {body: zipped.String(), header: http.Header{"Content-Encoding": {"gzip"}}},
		"deep JSON":           {body: strings.Repeat("[", 500_000)},
		"deep JSON in a key":  {body: `{"spec":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + "}"},
		"aliases of aliases":  {body: `{"file":` + quoted(alias) + `}`},
		"deep YAML":           {body: `{"file":` + quoted(strings.Repeat("[", 200_000)) + `}`},
		"a parameter again":   {body: `{"file":` + quoted("command: [x]\nparameters: {"+knobs+"}") + `}`},
		"a pattern that grows": {body: `{"file":` + quoted("command: [x, '{n}']\nparameters: {n: 1..3}\n"+
			"metrics: {m: 'stdout:/(((a{1000}){1000}){1000})/'}") + `}`},
		"a number that is none": {body: `{"name":1e999999}`},
		"no body":               {body: ""},
		"half a body":           {body: `{"file":"`},
		"two bodies":            {body: `{"file":"x"}{"file":"x"}`},
		"a file and a spec":     {body: `{"file":"command: [x]","spec":{}}`},
		"a spec of nothing":     {body: `{"spec":null}`},
		"an unknown key":        {body: `{"file":"x","by":"root"}`},
		"a name with NUL": {body: `{"name":"a\u0000b","file":` +
			quoted("command: [x, '{n}']\nparameters: {n: 1..3}") + `}`},
	} {
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		start := time.Now()
		h := http.Header{"Content-Type": {"application/json"}}
		for k, v := range b.header {
			h[k] = v
		}
		got := r.do(t, Author, http.MethodPost, prefix+"/studies", b.body, h)
		runtime.ReadMemStats(&m1)
		if got.status/100 != 4 {
			t.Errorf("%s: %d %.300s", name, got.status, got.body)
		}
		if packed := b.header != nil; packed != (got.status == http.StatusUnsupportedMediaType) {
			t.Errorf("%s: packed %v, and the answer is %d", name, packed, got.status)
		}
		if got.header.Get("Content-Type") != problemType {
			t.Errorf("%s: the refusal is %q", name, got.header.Get("Content-Type"))
		}
		if used := m1.TotalAlloc - m0.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d MiB were allocated", name, used>>20)
		}
		t.Logf("%-22s %d in %v, %d KiB: %.100s", name, got.status, time.Since(start).Round(time.Millisecond),
			(m1.TotalAlloc-m0.TotalAlloc)>>10, got.body)
	}
	if before != r.state(t) {
		t.Error("something changed")
	}
}

// Most of many wrong tokens at once are refused without waiting, and the rest wait in one
// line; a right one waits for none of them.
func TestWrongTokens(t *testing.T) {
	r := newRig(t)
	wrongTokens(t, r.at.URL, func() {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/queue", "", nil); got.status != 200 {
			t.Errorf("a right token among wrong ones: %d", got.status)
		}
	})
}

// A server that answers wrong tokens at once fails the test.
func TestWrongTokensControl(t *testing.T) {
	hasty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer hasty.Close()
	testbed.Fails(t, "wrong tokens that are answered at once", func(t testing.TB) { wrongTokens(t, hasty.URL, func() {}) })
}

// wrongTokens shows 20 wrong tokens at once, and does something else meanwhile.
func wrongTokens(t testing.TB, at string, meanwhile func()) {
	t.Helper()
	counts := make(chan int, 200)
	var wg sync.WaitGroup
	start := time.Now()
	for range 20 {
		wg.Go(func() {
			req, _ := http.NewRequest(http.MethodGet, at+prefix+"/queue", nil)
			req.Header.Set("Authorization", "Bearer wrong")
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				counts <- 0
				return
			}
			resp.Body.Close()
			counts <- resp.StatusCode
		})
	}
	meanwhile()
	wg.Wait()
	close(counts)
	waited := 0
	for status := range counts {
		switch status {
		case http.StatusUnauthorized:
			waited++
		case http.StatusTooManyRequests:
		default:
			t.Errorf("a wrong token: %d", status)
		}
	}
	if least := time.Duration(waited) * wrongDelay; time.Since(start) < least {
		t.Errorf("%d wrong tokens were answered in %v", waited, time.Since(start))
	}
}

// An empty value of a query is not a missing one.
func TestQueries(t *testing.T) {
	r := newRig(t)
	for query, want := range map[string]int{
		"?limit=": 422, "?limit": 422, "?=1": 422, "?limit=1&": 422, "?limit=0": 422, "?limit=x": 422, "?limit=100001": 422,
		"?unknown=1": 422, "?fields=nothing": 422, "?fields=value&format=columns": 200, "?limit=2": 200, "": 200,
		"?after=" + strings.Repeat("1", 5000): 422,
	} {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/studies/tuned/trials"+query, "", nil); got.status != want {
			t.Errorf("%.40s: %d, want %d: %s", query, got.status, want, got.body)
		}
	}
}
