package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/assay-run/assay"
)

// Options are the address of NATS and the identity of the client.
type Options struct {
	// URL is "unix:PATH", the socket of a server (see [Server.ServeUnix]), or URLs in the syntax of NATS:
	// "tls://HOST:PORT", "nats://HOST:PORT", several separated by commas.
	URL string
	// Worker and Class are the ID of a worker and its class of machines; "" for a server of studies.
	Worker, Class string
	Token         string      // for a server with a [Door]
	TLS           *tls.Config // nil uses the system's roots, for tls://
	Creds         string      // a file with credentials, for NATS that is elsewhere
	// Lease is the lease of a ticket, on a server of studies; 0 means 30 s.
	Lease time.Duration
	// Replicas is the number of servers of a cluster that store the queue; 0 means 1.
	Replicas int
	Log      *slog.Logger // receives warnings about faults; it may be nil

	in nats.InProcessConnProvider // instead of the URL
}

// external reports whether NATS runs outside of assay.
func (o Options) external() bool {
	return o.in == nil && o.Token == "" && !strings.HasPrefix(o.URL, "unix:")
}

// A Bus is a connection to NATS. It reconnects by itself until it is closed. It is safe for concurrent use.
type Bus struct {
	opts    Options
	nc      *nats.Conn
	js      jetstream.JetStream
	carrier *carrier
	results atomic.Bool // outcomes are collected while no server answers
	closed  chan struct{}
	once    sync.Once

	mu sync.Mutex
	// live is done when the current connection is lost: requests sent through it get no response.
	live context.Context
	lost context.CancelFunc
}

const (
	dialLimit = 5 * time.Second
	callLimit = 10 * time.Second
)

// Dial connects. Its error names the address and a remedy.
func Dial(ctx context.Context, o Options) (*Bus, error) {
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Worker != "" && !token(o.Worker) {
		return nil, assay.Errorf(assay.ClassUsage, "the ID of a worker has letters, digits, - and _ only, unlike %q",
			o.Worker)
	}
	b := &Bus{opts: o, closed: make(chan struct{})}
	b.connected()
	name := "assay"
	if o.Worker != "" {
		name = o.Worker + "/" + classPart(o.Class)
	}
	opts := []nats.Option{
		nats.Name(name), nats.Timeout(dialLimit), nats.MaxReconnects(-1), nats.CustomReconnectDelay(pause),
		nats.ReconnectBufSize(-1), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.ClosedHandler(func(*nats.Conn) { close(b.closed) }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { b.disconnected() }),
		nats.ReconnectHandler(func(*nats.Conn) { b.connected(); b.carrier.forget() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log.Warn("queue: " + err.Error()) }),
	}
	if o.Worker != "" {
		opts = append(opts, nats.CustomInboxPrefix("_INBOX."+o.Worker))
	}
	url := o.URL
	switch path, unix := strings.CutPrefix(o.URL, "unix:"); {
	case o.in != nil:
		opts = append(opts, nats.InProcessServer(o.in))
	case unix:
		url = "nats://unix"
		opts = append(opts, nats.SkipHostLookup()) // the name is a placeholder: no lookup
		opts = append(opts, nats.SetCustomDialer(unixDialer(path)))
	case strings.Contains(url, "tls://") || o.TLS != nil:
		opts = append(opts, nats.Secure(o.TLS))
	}
	if o.Token != "" {
		opts = append(opts, nats.Token(o.Token))
	}
	if o.Creds != "" {
		f, err := os.Open(o.Creds)
		if err != nil {
			if pe, ok := errors.AsType[*fs.PathError](err); ok {
				err = pe.Err
			}
			return nil, assay.Errorf(assay.ClassUsage, "--creds %s: %w", o.Creds, err)
		}
		_ = f.Close() // only a test that it can be opened
		opts = append(opts, nats.UserCredentials(o.Creds))
	}
	b.carrier = newCarrier(b)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, dialError(o, err)
	}
	b.nc = nc
	if b.js, err = jetstream.New(nc); err != nil {
		b.Close()
		return nil, err
	}
	if o.Worker == "" {
		if err := b.checkJetStream(ctx); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// pause returns the time before the next connection attempt: 0.1 to 2.5 s, at random. Together with the workers' own
// delays, a server that comes back has the beats of its runs within 5 s.
func pause(attempts int) time.Duration {
	d := min(200*time.Millisecond<<min(attempts, 6), 2500*time.Millisecond)
	return d/2 + rand.N(d/2)
}

// A unixDialer connects to a socket and ignores the address.
type unixDialer string

func (path unixDialer) Dial(string, string) (net.Conn, error) {
	return net.DialTimeout("unix", string(path), dialLimit)
}

// SkipTLSHandshake has NATS begin without TLS: the socket is this user's own.
func (unixDialer) SkipTLSHandshake() bool { return true }

// Shown returns addresses of NATS without passwords and tokens, which must not appear in messages.
func Shown(urls string) string {
	all := strings.Split(urls, ",")
	for i, u := range all {
		scheme, rest, ok := strings.Cut(strings.TrimSpace(u), "://")
		if !ok {
			scheme, rest = "", scheme
		}
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			rest = rest[at+1:]
		}
		if all[i] = rest; ok {
			all[i] = scheme + "://" + rest
		}
	}
	return strings.Join(all, ",")
}

// dialError returns the error of a failed connection.
func dialError(o Options, err error) error {
	where := Shown(o.URL)
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		if o.external() {
			return assay.WithHint(assay.Errorf(assay.ClassUsage, "%s does not accept these credentials", where),
				"--creds FILE names others")
		}
		return assay.WithHint(assay.Errorf(assay.ClassUsage, "%s does not accept the token", where),
			"assay token ls, on the server, lists the tokens and when they end")
	case errors.Is(err, nats.ErrSecureConnRequired):
		return assay.Errorf(assay.ClassUsage, "%s takes connections with TLS only: write tls://", where)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return assay.Errorf(assay.ClassUsage, "%s has no TLS", where)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return assay.Errorf(assay.ClassUsage, "%s: %w", where, e)
	}
	return assay.WithHint(assay.Errorf(assay.ClassUnavailable, "no server at %s: %w", where, err),
		"is it started? assay server --listen HOST:PORT")
}

// checkJetStream returns an error if NATS has no JetStream for us.
func (b *Bus) checkJetStream(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	_, err := b.js.AccountInfo(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return assay.WithHint(assay.Errorf(assay.ClassUsage, "NATS at %s has no JetStream, in which work is queued",
			Shown(b.opts.URL)),
			"start it with nats-server -js, or enable JetStream for the account")
	}
	return assay.Errorf(assay.ClassUnavailable, "NATS at %s: %w", Shown(b.opts.URL), err)
}

// Close ends the connection, and all that waits on it.
func (b *Bus) Close() {
	b.once.Do(func() {
		b.carrier.close()
		b.nc.Close()
		<-b.closed
	})
}

func (b *Bus) connected() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live, b.lost = context.WithCancel(context.Background())
}

func (b *Bus) disconnected() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost()
}

// within returns a context for one call. It also ends when the connection is lost, because no response can arrive then.
func (b *Bus) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	b.mu.Lock()
	stop := context.AfterFunc(b.live, cancel)
	b.mu.Unlock()
	return ctx, func() { stop(); cancel() }
}

// request makes a call, and returns the server's reply.
func (b *Bus) request(ctx context.Context, subject string, body []byte) (reply, error) {
	if err := b.down(); err != nil {
		return reply{}, err
	}
	ctx, cancel := b.within(ctx)
	defer cancel()
	m, err := b.nc.RequestWithContext(ctx, subject, body)
	if err != nil {
		if e := b.down(); e != nil {
			return reply{}, e
		}
		return reply{}, unavailable(err)
	}
	return decodeReply(m.Data)
}

// down returns an error if there is no connection now. If reconnecting is pointless because of a bad token, the error
// is of class usage.
func (b *Bus) down() error {
	switch {
	case b.nc.IsConnected():
		return nil
	case !b.nc.IsClosed():
		return assay.Errorf(assay.ClassUnavailable, "no connection to the server")
	}
	if err := b.nc.LastError(); errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked) {
		return dialError(b.opts, err)
	}
	return assay.Errorf(assay.ClassUnavailable, "the connection to the server is closed")
}

// unavailable returns an error of NATS as one after which the call should be made again.
func unavailable(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return assay.Errorf(assay.ClassUnavailable, "no server answers")
	}
	return assay.WithClass(assay.ClassUnavailable, fmt.Errorf("the server does not answer: %w", err))
}
