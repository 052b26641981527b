package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/store"
)

// ClientOptions are the address of a server and the credentials for it.
type ClientOptions struct {
	Address string // unix:PATH, or https://HOST:PORT
	Token   string // not needed by the owner of a socket
	// CA is the SHA-256 of the certificate that the server's must be signed by, in
	// hexadecimal; with "" the system's authorities are asked.
	CA string
	// Timeout limits one request, except streams; 0 means 30 s.
	Timeout time.Duration
	// Transport carries the requests in place of a connection to Address, which is then only used in messages.
	Transport http.RoundTripper
}

// A Client speaks to a server. It is safe for concurrent use.
type Client struct {
	address string // as shown in messages
	base    string
	token   string
	http    *http.Client
	stream  *http.Client // without a limit of time
}

// DefaultAddress returns the address of this user's server, on a socket in its directory; see [DefaultDir].
func DefaultAddress() (string, error) {
	dir, err := DefaultDir()
	return "unix:" + filepath.Join(dir, SocketName), err
}

// SocketName is the name of the socket in the directory of a server.
const SocketName = "assay.sock"

// DefaultDir returns the directory of this user's server: next to the default store.
func DefaultDir() (string, error) {
	path, err := store.DefaultPath()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(path), "server"), nil
}

// Open returns the client of the server at an address, "" for the one of this user on its
// socket. The token is in a file, unless that is "".
func Open(address, tokenFile string) (*Client, error) {
	o := ClientOptions{Address: address}
	if address == "" {
		var err error
		if o.Address, err = DefaultAddress(); err != nil {
			return nil, err
		}
	}
	if tokenFile != "" {
		c, err := access.ReadCredential(tokenFile)
		if err != nil {
			return nil, err
		}
		if o.Token, o.CA = c.Bearer(), c.CA; c.Kind != "user" {
			return nil, assay.Errorf(assay.ClassUsage, "%s is the token of a worker: a command needs one of a person", tokenFile)
		}
	}
	return NewClient(o)
}

// NewClient returns the client of a server. It does not connect. An error is of the class
// usage.
func NewClient(o ClientOptions) (*Client, error) {
	t := &http.Transport{
		MaxIdleConnsPerHost: 4, IdleConnTimeout: idleTimeout, TLSHandshakeTimeout: 10 * time.Second,
		ExpectContinueTimeout: 15 * time.Second, // a busy server can refuse the body before it is sent
	}
	c := &Client{address: o.Address, token: o.Token}
	carry := http.RoundTripper(t)
	switch {
	case o.Transport != nil:
		c.base, carry = "http://assay", o.Transport
	case strings.HasPrefix(o.Address, "unix:"):
		path := strings.TrimPrefix(o.Address, "unix:")
		if !filepath.IsAbs(path) {
			return nil, assay.Errorf(assay.ClassUsage, "%s: the path of a socket is absolute, unix:/PATH", o.Address)
		}
		c.base = "http://assay"
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	case strings.HasPrefix(o.Address, "https://"):
		u, err := url.Parse(o.Address)
		if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
			return nil, assay.Errorf(assay.ClassUsage, "%s: not the address of a server, https://HOST:PORT", o.Address)
		}
		if o.Token == "" {
			return nil, assay.Errorf(assay.ClassUsage, "%s: a token is needed (--token-file)", o.Address)
		}
		c.base = "https://" + u.Host
		if t.TLSClientConfig = (&tls.Config{MinVersion: tls.VersionTLS13}); o.CA != "" {
			t.TLSClientConfig = access.Pinned(o.CA)
		}
	default:
		return nil, assay.Errorf(assay.ClassUsage,
			"%s: not the address of a server: unix:/PATH or https://HOST:PORT", o.Address)
	}
	if o.Timeout <= 0 {
		o.Timeout = answerTimeout
	}
	c.http = &http.Client{Transport: carry, Timeout: o.Timeout, CheckRedirect: stay}
	c.stream = &http.Client{Transport: carry, CheckRedirect: stay}
	return c, nil
}

// stay follows no redirection: a token goes to the server that it is for.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Address returns the address of the server.
func (c *Client) Address() string { return c.address }

// Close ends the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// refused returns the error in a response.
func refused(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	p := &Problem{}
	if err != nil || json.Unmarshal(b, p) != nil || p.Detail == "" {
		p = refuse(resp.StatusCode, "the server answers %s", resp.Status)
	}
	return p.asError()
}

// unreachable returns the error of a request that the server at an address did not answer.
func unreachable(ctx context.Context, address string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	cause := err
	if u, ok := errors.AsType[*url.Error](err); ok {
		cause = u.Err
	}
	absent := errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
	if o, ok := errors.AsType[*net.OpError](cause); ok && absent {
		cause = o.Err
		if s, ok := errors.AsType[*os.SyscallError](cause); ok {
			cause = s.Err
		}
	}
	out := assay.Errorf(assay.ClassUnavailable, "no server answers at %s: %w", address, cause)
	if absent && strings.HasPrefix(address, "unix:") {
		return assay.WithHint(out, "assay server starts one")
	}
	return out
}
