package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/rest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/store"
)

func TestMain(m *testing.M) { testbed.Main(m, testbed.NoGoroutines) }

// serve serves a session on a Unix socket of a new directory.
func serve(t testing.TB, st assay.Store, change func(*online.Options)) (session *online.Session, address string) {
	t.Helper()
	dir := socketDir(t)
	session, stop := serveAt(t, st, filepath.Join(dir, "s"), "", change)
	t.Cleanup(stop)
	return session, "unix:" + filepath.Join(dir, "s")
}

// socketDir returns a directory with a short name for sockets.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assay")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func testSpace(t testing.TB) *assay.Space {
	t.Helper()
	space, err := assay.NewSpace([]assay.Param{
		{Name: "x", Kind: assay.Integer, Lo: 0, Hi: 7},
		{Name: "y", Kind: assay.Ordinal, Levels: []string{"1", "2", "4", "8"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// serveAt serves a session at a socket, or at a loopback port if path is "".
// stop ends the server and its session, not the store.
func serveAt(
	t testing.TB, st assay.Store, path, token string, change func(*online.Options),
) (session *online.Session, stop func()) {
	t.Helper()
	o := online.Options{Name: "o", Space: testSpace(t), Store: st, Default: assay.Config{0, 0}}
	o.Searcher = func(int) (assay.Searcher, error) { return search.NewRandom(o.Space, 7), nil }
	if change != nil {
		change(&o)
	}
	if _, err := st.Spec(t.Context(), "o"); err != nil {
		if err := st.Create(t.Context(), "o", []byte("spec")); err != nil {
			t.Fatal(err)
		}
	}
	session, err := online.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := rest.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	server := rest.NewOnline(session, o.Space, token)
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	return session, func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// post sends a request with net/http, which knows nothing of our client.
func post(
	t testing.TB, address, method, path string, body io.Reader, change func(*http.Request),
) (status int, answer map[string]any) {
	t.Helper()
	network, at, _ := strings.Cut(address, ":")
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, at)
	}}
	defer tr.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://assay"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	res, err := tr.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatalf("%s %s: %d: %v", method, path, res.StatusCode, err)
	}
	return res.StatusCode, answer
}

// Every bad request gets its 4xx, with the reason in words and in a code, and changes
// nothing.
func TestBadRequests(t *testing.T) {
	session, address := serve(t, store.NewMem(), nil)
	ask := func(path, body string) (int, map[string]any) {
		return post(t, address, "POST", "/v1/online/"+path, strings.NewReader(body), nil)
	}
	if status, _ := ask("join", `{"rank":0,"instance":"a"}`); status != 200 {
		t.Fatal("join:", status)
	}
	_, turn := ask("fetch", `{"instance":"a"}`)
	id := int64(turn["turn"].(float64))
	waitQuiet(session)
	before := fmt.Sprint(session.Status())
	report := func(rest string) string { return fmt.Sprintf(`{"instance":"a","turn":%d,%s}`, id, rest) }
	for _, tt := range []struct {
		name, path, body string
		status           int
		code             string
	}{
		{"turn not fetched", "report", `{"instance":"a","turn":99,"seconds":1}`, 409, "not-fetched"},
		{"process unknown", "report", `{"instance":"b","turn":1,"seconds":1}`, 404, "not-joined"},
		{"NaN", "report", report(`"seconds":NaN`), 400, "bad-json"},
		{"NaN in quotes", "report", report(`"seconds":"NaN"`), 400, "bad-json"},
		{"infinite", "report", report(`"seconds":1e999`), 400, "bad-json"},
		{"negative", "report", report(`"seconds":-1`), 422, "bad-report"},
		{"no time", "report", `{"instance":"a","turn":1}`, 400, "bad-json"},
		{"misspelt", "report", report(`"second":1`), 400, "bad-json"},
		{"twice one body", "report", report(`"seconds":1`) + report(`"seconds":1`), 400, "bad-json"},
		{"no JSON", "report", "seconds=1", 400, "bad-json"},
		{"empty", "report", "", 400, "bad-json"},
		{"deep", "report", strings.Repeat("[", 60000), 400, "bad-json"},
		{"fetch without join", "fetch", `{"instance":"b"}`, 404, "not-joined"},
		{"leave without join", "leave", `{"instance":"b"}`, 404, "not-joined"},
		{"rank of another", "join", `{"rank":0,"instance":"b"}`, 409, "rank-taken"},
		{"two ranks", "join", `{"rank":1,"instance":"a"}`, 409, "rank-taken"},
		{"no rank", "join", `{"instance":"b"}`, 422, "bad-report"},
		{"rank 1e9", "join", `{"rank":1000000000,"instance":"b"}`, 422, "bad-report"},
		{"rank 0.5", "join", `{"rank":0.5,"instance":"b"}`, 400, "bad-json"},
		{"long name", "join", `{"rank":1,"instance":"` + strings.Repeat("b", 65) + `"}`, 422, "bad-report"},
		{"no such path", "nonsense", `{}`, 404, "no-route"},
		{"wrong method", "status", `{}`, 405, "method"},
	} {
		status, got := ask(tt.path, tt.body)
		if status != tt.status || got["code"] != tt.code || got["detail"] == "" {
			t.Errorf("%s: got %d %v, want %d %s", tt.name, status, got, tt.status, tt.code)
		}
		if now := fmt.Sprint(session.Status()); now != before {
			t.Errorf("%s changed %s to %s", tt.name, before, now)
		}
	}
	if status, _ := ask("report", report(`"seconds":1`)); status != 200 {
		t.Error("the good report is refused after the bad ones:", status)
	}
	if status, got := ask("report", report(`"seconds":1`)); status != 409 || got["code"] != "reported" {
		t.Errorf("twice: %d %v", status, got)
	}
	if status, _ := ask("end", ""); status != 200 {
		t.Error("end:", status)
	}
	for _, path := range []string{"report", "fetch", "join", "pause", "restart", "end"} {
		if status, got := ask(path, report(`"seconds":1`)); path == "report" && (status != 410 || got["code"] != "ended") {
			t.Errorf("%s after the end: %d %v", path, status, got)
		}
	}
	if status, got := ask("fetch", `{"instance":"a"}`); status != 410 {
		t.Errorf("fetch after the end: %d %v", status, got)
	}
}

// waitQuiet waits until the search has nothing to do.
func waitQuiet(s *online.Session) {
	for was := ""; ; {
		time.Sleep(5 * time.Millisecond)
		now := fmt.Sprint(s.Status())
		if now == was {
			return
		}
		was = now
	}
}

// zeros is an endless body.
type zeros struct{ read int64 }

func (z *zeros) Read(b []byte) (int, error) { clear(b); z.read += int64(len(b)); return len(b), nil }

// A body of 100 MB is refused at its header, or before much of it is read if it has
// none.
func TestLargeBody(t *testing.T) {
	session, address := serve(t, store.NewMem(), nil)
	before := fmt.Sprint(session.Status())
	for _, length := range []int64{100 << 20, -1} {
		z := &zeros{}
		network, at, _ := strings.Cut(address, ":")
		c, err := net.Dial(network, at)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://assay/v1/online/report", io.LimitReader(z, 100<<20))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = length
		sent := make(chan struct{})
		go func() { defer close(sent); r.Write(c) }() // fails when the server hangs up
		head := make([]byte, 12)
		if _, err := io.ReadFull(c, head); err != nil || string(head) != "HTTP/1.1 413" {
			t.Errorf("length %d: answer %q, %v, want 413", length, head, err)
		}
		c.Close()
		<-sent
		if z.read > 4<<20 {
			t.Errorf("length %d: %d bytes were taken", length, z.read)
		}
	}
	if now := fmt.Sprint(session.Status()); now != before {
		t.Errorf("%s became %s", before, now)
	}
}

// No token, no answer; nor for web pages and foreign names.
func TestGuard(t *testing.T) {
	const token = "correct-horse-battery"
	path := filepath.Join(socketDir(t), "s")
	session, stop := serveAt(t, store.NewMem(), path, token, nil)
	defer stop()
	before := fmt.Sprint(session.Status())
	with := func(key, value string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			if key == "Host" {
				r.Host = value
			} else {
				r.Header.Set(key, value)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"no token", nil, 401},
		{"wrong token", with("Authorization", "Bearer wrong"), 401},
		{"prefix of the token", with("Authorization", "Bearer correct-horse"), 401},
		{"web page", with("Origin", "http://127.0.0.1"), 403},
		{"fetch of a web page", with("Sec-Fetch-Site", "same-origin"), 403},
		{"rebound name", with("Host", "evil.example"), 403},
		{"rebound name with port", with("Host", "evil.example:80"), 403},
	} {
		for _, req := range [][2]string{
			{"POST", "/v1/online/join"}, {"GET", "/v1/online/status"}, {"DELETE", "/"}, {"OPTIONS", "/v1/online/end"},
		} {
			status, got := post(t, "unix:"+path, req[0], req[1], strings.NewReader(`{"rank":0,"instance":"a"}`), tt.change)
			if status != tt.status {
				t.Errorf("%s, %v: %d %v, want %d", tt.name, req, status, got, tt.status)
			}
		}
	}
	if now := fmt.Sprint(session.Status()); now != before {
		t.Errorf("%s became %s", before, now)
	}
	for _, host := range []string{"localhost", "localhost:8080", "127.0.0.1:99", "[::1]:99", "assay"} {
		if status, _ := post(t, "unix:"+path, "GET", "/v1/online/status", nil, with("Host", host)); status != 200 {
			t.Errorf("host %s: %d", host, status)
		}
	}
	c := rest.Open(rest.ClientOptions{Address: "unix:" + path, Token: token, Log: io.Discard})
	defer c.Close()
	if v := c.Fetch(); v.Text("y") == "" {
		t.Error("the right token gives no configuration")
	}
}

func TestListenLoopbackOnly(t *testing.T) {
	for _, at := range []string{"0.0.0.0:0", "[::]:0", ":0", "localhost:0", "192.0.2.1:80", "nonsense"} {
		if l, err := rest.ListenLoopback(t.Context(), at); err == nil {
			l.Close()
			t.Errorf("%s is listened on", at)
		}
	}
	l, err := rest.ListenLoopback(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestListenUnixIsPrivate(t *testing.T) {
	dir := socketDir(t)
	path := filepath.Join(dir, "a", "s")
	l, err := rest.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", p, info.Mode(), err, want)
		}
	}
	go func() { // somebody answers
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	if _, err := rest.ListenUnix(path); err == nil {
		t.Error("the socket of a server that runs is taken over")
	}
	l.(interface{ SetUnlinkOnClose(bool) }).SetUnlinkOnClose(false)
	l.Close()
	again, err := rest.ListenUnix(path) // left behind by a server that was killed
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	open := filepath.Join(dir, "open")
	os.Mkdir(open, 0o755)
	os.Chmod(open, 0o755)
	if l, err := rest.ListenUnix(filepath.Join(open, "s")); err == nil {
		l.Close()
		t.Error("a directory that others can read is used")
	}
	if _, err := rest.ListenUnix(filepath.Join(dir, strings.Repeat("x", 120))); err == nil {
		t.Error("a path that is too long is used")
	}
	file := filepath.Join(dir, "file")
	os.WriteFile(file, []byte("precious"), 0o600)
	if _, err := rest.ListenUnix(file); err == nil {
		t.Error("a file is taken for a socket")
	}
	if b, _ := os.ReadFile(file); string(b) != "precious" {
		t.Error("a file was removed")
	}
}

// A client goes on without its server, logs that once, and finds it again.
func TestClientWithoutServer(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	var log bytes.Buffer
	st := store.NewMem()
	_, stop := serveAt(t, st, path, "", nil)
	c := rest.Open(rest.ClientOptions{Address: "unix:" + path, Rank: 3, Log: &log, Default: rest.Values{"x": 9}})
	defer c.Close()
	last := c.Fetch()
	if last.Text("y") == "" {
		t.Fatal("no configuration: ", log.String())
	}
	stop()
	for range 1000 {
		if err := c.Report(time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if v := c.Fetch(); fmt.Sprint(v) != fmt.Sprint(last) {
			t.Fatalf("without a server the configuration is %v, was %v", v, last)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines for one lost server:\n%s", n, log.String())
	}
	_, stop = serveAt(t, st, path, "", nil)
	defer stop()
	time.Sleep(1100 * time.Millisecond)
	c.Fetch()
	if !strings.Contains(log.String(), "back") {
		t.Errorf("the server is not found again:\n%s", log.String())
	}

	log.Reset()
	c = rest.Open(rest.ClientOptions{Address: "unix:" + path + "none", Log: &log, Default: rest.Values{"x": 9}})
	for range 100 {
		if v := c.Fetch(); v.Int("x") != 9 {
			t.Fatalf("got %v, want the default", v)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
	for _, x := range []float64{-1} {
		if err := c.ReportSeconds(x); err == nil {
			t.Errorf("a report of %v is no error", x)
		}
	}
}

// A server that is killed in the middle and replaced goes on where it was, with
// the same ranks, which notice nothing.
func TestServerIsReplaced(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	st := store.NewMem()
	var log bytes.Buffer
	session, stop := serveAt(t, st, path, "", nil)
	c := rest.Open(rest.ClientOptions{Address: "unix:" + path, Log: &log})
	defer c.Close()
	step := func() {
		v := c.Fetch()
		if err := c.ReportSeconds(1 + v.Float("x")); err != nil {
			t.Fatal(err)
		}
		waitQuiet(session)
	}
	for range 10 {
		step()
	}
	was := session.Status()
	c.Fetch() // a turn is under way
	stop()
	session, stop = serveAt(t, st, path, "", nil)
	defer stop()
	now := session.Status()
	if now.Trials != was.Trials || now.Value != was.Value || !now.Best.Equal(was.Best) {
		t.Errorf("resumed as %+v, was %+v", now, was)
	}
	for range 40 {
		step()
	}
	if got := session.Status(); got.Trials != 32 || got.State != "done" || got.Value != 1 {
		t.Errorf("in the end %+v, want all 32 configurations tried", got)
	}
	if strings.Count(log.String(), "\n") > 1 {
		t.Errorf("log:\n%s", log.String())
	}
}

func TestControl(t *testing.T) {
	session, address := serve(t, store.NewMem(), nil)
	for verb, want := range map[string]string{"pause": "paused"} {
		b, err := rest.Control(address, verb)
		var got struct{ State string }
		if err != nil || json.Unmarshal(b, &got) != nil || got.State != want {
			t.Errorf("%s: %s, %v", verb, b, err)
		}
	}
	for _, verb := range []string{"status", "resume", "restart", "end"} {
		if _, err := rest.Control(address, verb); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if st := session.Status(); st.State != "ended" || st.Epoch != 1 {
		t.Errorf("status %+v", st)
	}
	if _, err := rest.Control(address, "pause"); err == nil {
		t.Error("a session that has ended can be paused")
	}
}

// A request that is answered without net/http gets the answer of net/http.
func TestPlainAndOtherFormsAgree(t *testing.T) {
	_, address := serve(t, store.NewMem(), nil)
	c, err := net.Dial("unix", strings.TrimPrefix(address, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	exchange := func(request string) (head, body string) {
		t.Helper()
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.StatusCode, " ", r.Header.Get("Content-Type")), string(b)
	}
	request := func(headers, body string) string {
		return fmt.Sprintf("POST /v1/online/fetch HTTP/1.1\r\nHost: assay\r\nContent-Length: %d\r\n%s\r\n%s",
			len(body), headers, body)
	}
	for _, body := range []string{`{"instance":"nobody"}`, `{"instance":"no\u0062ody"}`, `{"instance":`, `{}`, ``} {
		h1, b1 := exchange(request("", body))
		h2, b2 := exchange(request("Cookie: x\r\n", body)) // no plain form: net/http, from here on
		if h1 != h2 || b1 != b2 {
			t.Errorf("%s: %s %s in plain form, else %s %s", body, h1, b1, h2, b2)
		}
		c.Close()
		if c, err = net.Dial("unix", strings.TrimPrefix(address, "unix:")); err != nil {
			t.Fatal(err)
		}
	}
	// Byte by byte, two requests at once, and a switch in the middle.
	one := request("", `{"instance":"nobody"}`)
	for i := range len(one) - 1 {
		io.WriteString(c, one[i:i+1])
	}
	if h, _ := exchange(one[len(one)-1:]); !strings.HasPrefix(h, "404") {
		t.Errorf("byte by byte: %s", h)
	}
	io.WriteString(c, one+request("Cookie: x\r\n", `{"instance":"nobody"}`)+one)
	in := bufio.NewReader(c)
	for i := range 3 {
		r, err := http.ReadResponse(in, nil)
		if err != nil || r.StatusCode != 404 {
			t.Fatalf("answer %d of three: %v, %v", i, r, err)
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}

// FuzzServer: no body makes the server panic or answer 5xx.
func FuzzServer(f *testing.F) {
	for _, s := range []string{
		`{"rank":0,"instance":"a"}`, `{"instance":"a","turn":1,"seconds":1e-3}`,
		`{"instance":"a","turn":1,"failed":"x"}`, `{}`, `[`, `{"rank":-1}`,
	} {
		f.Add("join", s)
		f.Add("report", s)
		f.Add("fetch", s)
	}
	o := online.Options{Name: "o", Space: testSpace(f), Store: store.NewMem(), Default: assay.Config{0, 0}}
	o.Searcher = func(int) (assay.Searcher, error) { return search.NewRandom(o.Space, 7), nil }
	if err := o.Store.Create(f.Context(), "o", nil); err != nil {
		f.Fatal(err)
	}
	session, err := online.Open(f.Context(), o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { session.Close() })
	h := rest.NewOnline(session, o.Space, "").Handler()
	f.Fuzz(func(t *testing.T, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "/v1/online/", strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.URL.Path += path
		r.Host = "assay"
		w := &recorder{header: http.Header{}}
		h.ServeHTTP(w, r)
		if w.status >= 500 {
			t.Errorf("%s %q: %d", path, body, w.status)
		}
	})
}

type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
func (r *recorder) WriteHeader(status int)      { r.status = status }
