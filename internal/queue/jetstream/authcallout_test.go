package jetstream_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/testbed"
)

// A lab is a server on TCP with tokens.
type lab struct {
	*jetstream.Server
	tokens *access.Tokens
	ca     *access.Authority
	url    string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	ca, err := access.InitAuthority(t.TempDir(), "lab")
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := access.OpenTokens(filepath.Join(t.TempDir(), "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	conf, err := ca.ServerTLS("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	door := func(token, worker string, from net.Addr) (jetstream.Rights, error) {
		host, _, _ := net.SplitHostPort(from.String())
		tok, err := tokens.Check(context.Background(), token, host)
		if err != nil || tok.Role != access.Worker || !strings.HasPrefix(worker, tok.Name+"-") {
			return jetstream.Rights{}, errors.New("no")
		}
		return jetstream.Rights{Key: tok.Name, Apps: tok.Apps}, nil
	}
	s := serve(t, jetstream.ServerOptions{Listen: "127.0.0.1:0", TLS: conf, Door: door})
	return &lab{s, tokens, ca, "tls://" + s.Addr()}
}

// token makes a token of a worker for some applications, and returns its text.
func (l *lab) token(t testing.TB, name string, apps ...string) string {
	t.Helper()
	secret, err := l.tokens.Add(access.Token{Name: name, Role: access.Worker, Apps: apps})
	if err != nil {
		t.Fatal(err)
	}
	return name + "." + secret
}

func (l *lab) options(token, worker string) jetstream.Options {
	return jetstream.Options{
		URL: l.url, Worker: worker, Class: "9f3a", Token: token,
		TLS: access.Pinned(l.ca.Fingerprint()),
	}
}

// A worker with a token does its work over TLS, and no client gets in without one.
func TestDoor(t *testing.T) {
	l := newLab(t)
	f := &fleet{task: queue.Task{ID: runID(1), App: "x264"}}
	server := dial(t, l.Server)
	answer(t, server, f, l.May)
	token := l.token(t, "rack2", "x264")
	b := connect(t, l.options(token, "rack2-1"))
	if _, err := b.Control().Hello(t.Context(), queue.Worker{
		ID: "rack2-1", Apps: []string{"x264"},
		MachineClass: "9f3a",
	}); err != nil {
		t.Fatal(err)
	}
	if err := server.Carrier().Offer(t.Context(), append(tickets("x264", "9f3a", 1), tickets("x264", "",
		1)...)...); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d := take(t, b.Carrier(), soon, "9f3a", "x264")
		if d == nil {
			t.Fatal("no ticket")
		}
		if _, err := b.Control().Claim(t.Context(), d.Ticket(), "rack2-1"); err != nil {
			t.Error(err)
		}
		if err := errors.Join(d.Renew(t.Context()), d.Done(t.Context())); err != nil {
			t.Error(err)
		}
	}
	depth(t, server.Carrier(), "x264", 0)

	viewer, err := l.tokens.Add(access.Token{Name: "eve", Role: access.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	for what, o := range map[string]jetstream.Options{
		"no token": l.options("", "rack2-1"), "a wrong token": l.options(token+"x", "rack2-1"),
		"another's name": l.options(token, "rack3-1"), "a role that is no worker's": l.options("eve."+viewer, "eve-1"),
		"no name": l.options(token, ""),
	} {
		if _, err := jetstream.Dial(t.Context(), o); assay.ClassOf(err) != assay.ClassUsage ||
			!strings.Contains(err.Error(), "does not accept") || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", what, err)
		}
	}
	other, err := access.InitAuthority(t.TempDir(), "other")
	if err != nil {
		t.Fatal(err)
	}
	o := l.options(token, "rack2-1")
	o.TLS = access.Pinned(other.Fingerprint())
	if _, err := jetstream.Dial(t.Context(), o); err == nil || !strings.Contains(err.Error(),
		"not the server that the token is from") {
		t.Errorf("another authority: %v", err)
	}
	o.URL, o.TLS = strings.Replace(l.url, "tls:", "nats:", 1), nil
	if _, err := jetstream.Dial(t.Context(), o); err == nil {
		t.Error("without TLS")
	}
	if _, err := jetstream.Start(jetstream.ServerOptions{
		Dir:    t.TempDir(),
		Listen: "127.0.0.1:0",
	}); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("listening without TLS and tokens: %v", err)
	}
	if _, err := jetstream.Start(jetstream.ServerOptions{
		Dir: t.TempDir(), Listen: l.Addr(), TLS: &tls.Config{}, Door: func(string, string, net.Addr) (jetstream.Rights,
			error,
		) {
			return jetstream.Rights{}, nil
		},
	}); assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "cannot listen") {
		t.Errorf("a port that is taken: %v", err)
	}
}

// A worker's token is for its own work: everything else is refused, by NATS or by the server.
func TestForbidden(t *testing.T) {
	forbidden(t, soon, (*jetstream.Server).May, func(l *lab, token string, opts ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(l.url, append(opts, nats.Token(token), nats.Secure(access.Pinned(l.ca.Fingerprint())))...)
	})
}

// A client on the socket of the server's user may do everything, and a server that does not look at applications
// lets a worker have any.
func TestForbiddenControl(t *testing.T) {
	testbed.Fails(t, "the door of the server's user", func(t testing.TB) {
		forbidden(t, time.Second, (*jetstream.Server).May, func(l *lab, _ string, opts ...nats.Option) (*nats.Conn, error) {
			sock := filepath.Join(t.TempDir(), "s")
			if err := l.ServeUnix(sock); err != nil {
				return nil, err
			}
			return nats.Connect("nats://unix", append(opts, nats.SetCustomDialer(socket(sock)))...)
		})
	})
	testbed.Fails(t, "applications that nobody looks at", func(t testing.TB) {
		any := func(*jetstream.Server, string, string) bool { return true }
		forbidden(t, soon, any, func(l *lab, token string, opts ...nats.Option) (*nats.Conn, error) {
			return nats.Connect(l.url, append(opts, nats.Token(token), nats.Secure(access.Pinned(l.ca.Fingerprint())))...)
		})
	})
}

// A socket is dialled whatever the address is.
type socket string

func (s socket) Dial(string, string) (net.Conn, error) { return net.Dial("unix", string(s)) }
func (socket) SkipTLSHandshake() bool                  { return true }

// forbidden does all that a worker may not, with a connection of its token. Each act is to be refused within a time.
func forbidden(
	t testing.TB, within time.Duration, may func(s *jetstream.Server, worker, app string) bool,
	connect func(l *lab, token string, opts ...nats.Option) (*nats.Conn, error),
) {
	t.Helper()
	l := newLab(t)
	f := &fleet{}
	server := dial(t, l.Server)
	answer(t, server, f, func(worker, app string) bool { return may(l.Server, worker, app) })
	for _, app := range []string{"x264", "blast"} {
		if err := server.Carrier().Offer(t.Context(), tickets(app, "", 1)...); err != nil {
			t.Fatal(err)
		}
	}
	token := l.token(t, "rack2", "x264")
	l.token(t, "rack3")
	var mu sync.Mutex
	var refused []string
	nc, err := connect(l, token, nats.Name("rack2-1/9f3a"), nats.CustomInboxPrefix("_INBOX.rack2-1"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, err.Error())
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	short := func(f func(ctx context.Context) error) func() error {
		return func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			return f(ctx)
		}
	}
	subscribe := func(subject string) func() error {
		return func() error { _, err := nc.SubscribeSync(subject); return err }
	}
	say := func(subject, body string) func() error {
		return func() error { return nc.Publish(subject, []byte(body)) }
	}
	acts := map[string]func() error{
		"offer a ticket": short(func(ctx context.Context) error {
			_, err := js.Publish(ctx, "assay.v1.jobs.x264.any.evil", []byte(`{"id":"evil","app":"x264"}`))
			return err
		}),
		"delete a stream": short(func(ctx context.Context) error { return js.DeleteStream(ctx, "ASSAY_JOBS") }),
		"make a stream": short(func(ctx context.Context) error {
			_, err := js.CreateStream(ctx, natsjs.StreamConfig{Name: "X", Subjects: []string{"x"}})
			return err
		}),
		"make a consumer": short(func(ctx context.Context) error {
			_, err := js.CreateConsumer(ctx, "ASSAY_JOBS", natsjs.ConsumerConfig{
				Durable:       "x264-any",
				FilterSubject: "assay.v1.jobs.blast.any.*",
			})
			return err
		}),
		"take of another application": short(func(ctx context.Context) error {
			_, err := js.Consumer(ctx, "ASSAY_JOBS", "blast-any")
			return err
		}),
		"take of another class": short(func(ctx context.Context) error {
			_, err := js.Consumer(ctx, "ASSAY_JOBS", "x264-0000")
			return err
		}),
		"read the tickets":         subscribe("assay.v1.jobs.>"),
		"read another's answers":   subscribe("_INBOX.rack3-1.>"),
		"read all":                 subscribe(">"),
		"hear the calls":           subscribe("assay.v1.w.*.*"),
		"hear the calls to itself": subscribe("assay.v1.w.rack2-1.*"),
		"speak as another": say("assay.v1.w.rack3-1.tell",
			`{"id":{"study":"s","trial":1,"attempt":1},"worker":"rack3-1"}`),
		"ask the system":                            say("$SYS.REQ.SERVER.PING", ""),
		"answer for the server":                     say("_INBOX.rack3-1.x.y", `{}`),
		"order others about":                        say("assay.v1.order.rack3-1", ""),
		"leave a result":                            say("assay.v1.results.rack3-1", "{}"),
		"give back a ticket of another application": say("$JS.ACK.ASSAY_JOBS.blast-any.1.1.1.1.0", "+ACK"),
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(refused)
	}
	for what, act := range acts {
		before := count()
		_ = act()
		nc.Flush()
		deadline := time.Now().Add(within)
		for count() == before && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if count() == before {
			t.Fatalf("it may %s", what)
		}
	}
	for _, r := range refused {
		if !strings.Contains(r, "ermissions") {
			t.Errorf("refused by %q", r)
		}
	}
	// The server checks each request on the worker's own subject.
	ask := func(what, body string) string {
		m, err := nc.Request("assay.v1.w.rack2-1."+what, []byte(body), soon)
		if err != nil {
			return err.Error()
		}
		return string(m.Data)
	}
	for body, what := range map[string]string{
		`{"id":{"study":"s","trial":1,"attempt":1},"worker":"rack3-1"}`: "tell",
		`{"id":{"study":"s","trial":1,"attempt":1},"worker":""}`:        "beat",
		`{"ticket":{"id":"t","app":"blast"},"worker":"rack2-1"}`:        "claim",
		`{"ticket":{"id":"t","app":"x264"},"worker":"rack3-1"}`:         "claim",
		`{"id":"rack2-1","apps":["x264","blast"]}`:                      "hello",
		`{"id":"rack2-1","apps":["command"]}`:                           "hello",
		`{"id":"rack3-1"}`:                                              "hello",
		`[]`:                                                            "tell",
		`{}`:                                                            "shutdown",
	} {
		if got := ask(what, body); !strings.Contains(got, `"class":"usage"`) {
			t.Errorf("%s %s: %s", what, body, got)
		}
	}
	if len(f.told)+len(f.workers)+len(f.beats)+len(f.tickets) > 0 {
		t.Errorf("the fleet heard %+v", f)
	}
	depth(t, server.Carrier(), "x264", 1)
	depth(t, server.Carrier(), "blast", 1)
	if got := ask("hello", `{"id":"rack2-1","apps":["x264"]}`); strings.Contains(got, "error") || len(f.workers) != 1 {
		t.Errorf("what it may do is refused too: %s", got)
	}
}

// A token that is revoked ends the connection that it let in, and no other.
func TestRevoke(t *testing.T) {
	t.Parallel() // most of the time it waits
	l := newLab(t)
	answer(t, dial(t, l.Server), &fleet{}, l.May)
	hello := func(b *jetstream.Bus, id string) error {
		_, err := b.Control().Hello(t.Context(), queue.Worker{ID: id})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { l.tokens.Watch(ctx, l.Cut) })
	defer wg.Wait()
	defer cancel()
	a := connect(t, l.options(l.token(t, "a"), "a-1"))
	b := connect(t, l.options(l.token(t, "b"), "b-1"))
	if err := errors.Join(hello(a, "a-1"), hello(b, "b-1")); err != nil {
		t.Fatal(err)
	}
	if err := l.tokens.Revoke("a", "admin"); err != nil {
		t.Fatal(err)
	}
	var err error
	for end := time.Now().Add(2 * soon); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = hello(a, "a-1"); assay.ClassOf(err) == assay.ClassUsage {
			break
		}
	}
	if assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "does not accept the token") {
		t.Errorf("after it was revoked: %v", err)
	}
	if err := hello(b, "b-1"); err != nil {
		t.Errorf("another token: %v", err)
	}
}
