package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/view"
)

// ClientOptions are where a server is, and what it takes to get in.
type ClientOptions struct {
	Address string // unix:PATH, or https://HOST:PORT
	Token   string // not needed by the owner of a socket
	// CA is the SHA-256 of the certificate that the server's must be signed by, in
	// hexadecimal; with "" the system's authorities are asked.
	CA string
	// Timeout is that of one request, streams aside; 0 means 30 s.
	Timeout time.Duration
	// Transport carries the requests in place of a connection to Address, which is then only
	// what people are told.
	Transport http.RoundTripper
}

// A Client speaks to a server. It is safe for concurrent use.
type Client struct {
	address string // for people
	base    string
	token   string
	http    *http.Client
	stream  *http.Client // without a limit of time
}

// DefaultAddress returns that of a server of this user, on a socket in its directory; see
// [DefaultDir].
func DefaultAddress() (string, error) {
	dir, err := DefaultDir()
	return "unix:" + filepath.Join(dir, SocketName), err
}

// SocketName is the name of the socket in the directory of a server.
const SocketName = "assay.sock"

// DefaultDir returns where a server of this user keeps what it has: beside the default store.
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
		ExpectContinueTimeout: 15 * time.Second, // a busy server need not be sent what it refuses
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

// Address returns where the server is.
func (c *Client) Address() string { return c.address }

// Close ends the connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request sends a request and returns the answer, of which the status is one of success.
func (c *Client) request(
	ctx context.Context, h *http.Client, method, path string, in any, header http.Header,
) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		if most := (Route{Path: prefix + path}).most(); int64(len(b)) > most {
			return nil, assay.Errorf(assay.ClassUsage, "a request has at most %d bytes, not %d", most, len(b))
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+prefix+path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		r.Header[k] = v
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if method != http.MethodGet && method != http.MethodHead {
		r.Header.Set("Idempotency-Key", rand.Text())
	}
	return c.do(ctx, h, r)
}

// do sends a request that is ready.
func (c *Client) do(ctx context.Context, h *http.Client, r *http.Request) (*http.Response, error) {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := h.Do(r)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refused(resp)
}

// refused returns the error that an answer says.
func refused(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	p := &Problem{}
	if err != nil || json.Unmarshal(b, p) != nil || p.Detail == "" {
		p = refuse(resp.StatusCode, "the server answers %s", resp.Status)
	}
	return p.asError()
}

// unreachable returns the error of a request that was not answered.
func (c *Client) unreachable(ctx context.Context, err error) error {
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
	out := assay.Errorf(assay.ClassUnavailable, "no server answers at %s: %w", c.address, cause)
	if absent && strings.HasPrefix(c.address, "unix:") {
		return assay.WithHint(out, "assay server starts one")
	}
	return out
}

// call sends a request and reads the answer into out, if it is not nil.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	resp, err := c.request(ctx, c.http, method, path, in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return assay.Errorf(assay.ClassUnavailable, "the answer of %s broke off: %w", c.address, err)
	}
	return nil
}

// of returns the path of a study.
func of(study, rest string) string { return "/studies/" + url.PathEscape(study) + rest }

// Studies returns the studies that the client may see, by their names.
func (c *Client) Studies(ctx context.Context) ([]Study, error) {
	var all []Study
	q := url.Values{"limit": {"1000"}}
	for {
		var page struct {
			Studies []Study
			Next    string
		}
		if err := c.call(ctx, http.MethodGet, "/studies", q, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Studies...)
		if page.Next == "" {
			return all, nil
		}
		q.Set("after", page.Next)
	}
}

// Study returns a study with its definition.
func (c *Client) Study(ctx context.Context, study string) (d Detail, err error) {
	err = c.call(ctx, http.MethodGet, of(study, ""), nil, nil, &d)
	return d, err
}

// Trial returns all there is of one trial.
func (c *Client) Trial(ctx context.Context, study string, id int64) (d TrialDetail, err error) {
	err = c.call(ctx, http.MethodGet, of(study, "/trials/"+strconv.FormatInt(id, 10)), nil, nil, &d)
	return d, err
}

// Brief is Study without what takes reading all trials: Saved is 0.
func (c *Client) Brief(ctx context.Context, study string) (d Detail, err error) {
	err = c.call(ctx, http.MethodGet, of(study, ""), url.Values{"brief": {"true"}}, nil, &d)
	return d, err
}

// Answer returns what a study has come to so far.
func (c *Client) Answer(ctx context.Context, study string) (a Answer, err error) {
	err = c.call(ctx, http.MethodGet, of(study, "/answer"), nil, nil, &a)
	return a, err
}

// Trials returns at most limit trials behind the ID after, in order of their IDs, and the ID behind
// which there are more, 0 if there are none.
func (c *Client) Trials(ctx context.Context, study string, after int64, limit int) ([]view.Trial, int64, error) {
	q := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(limit)}}
	var out Trials
	err := c.call(ctx, http.MethodGet, of(study, "/trials"), q, nil, &out)
	return out.Rows, out.Next, err
}

// Me returns who the server takes the client for.
func (c *Client) Me(ctx context.Context) (m Me, err error) {
	err = c.call(ctx, http.MethodGet, "/me", nil, nil, &m)
	return m, err
}

// Submit makes a study, or goes on with the same one.
func (c *Client) Submit(ctx context.Context, s Submission) (d Detail, err error) {
	err = c.call(ctx, http.MethodPost, "/studies", nil, s, &d)
	return d, err
}

// Check says what a submission would be, and makes nothing. An error of a study file begins with its
// place.
func (c *Client) Check(ctx context.Context, s Submission) (out Checked, err error) {
	err = c.call(ctx, http.MethodPost, "/check", nil, s, &out)
	return out, err
}

// SetState has a study run, pause or stop.
func (c *Client) SetState(ctx context.Context, study, state, reason string) (s Study, err error) {
	in := map[string]string{"state": state}
	if reason != "" {
		in["reason"] = reason
	}
	err = c.call(ctx, http.MethodPatch, of(study, "/state"), nil, in, &s)
	return s, err
}

// SetPriority says which study goes first.
func (c *Client) SetPriority(ctx context.Context, study string, priority int) (s Study, err error) {
	err = c.call(ctx, http.MethodPatch, of(study, "/priority"), nil, map[string]int{"priority": priority}, &s)
	return s, err
}

// Give has configurations run: the values of all parameters by their names.
func (c *Client) Give(ctx context.Context, study string, configs []map[string]any) (s Study, err error) {
	err = c.call(ctx, http.MethodPost, of(study, "/trials"), nil, map[string]any{"configs": configs}, &s)
	return s, err
}

// Move has trials run first, discards them, or undoes that.
func (c *Client) Move(ctx context.Context, study string, trials []int64, do Change) (s Study, err error) {
	in := map[string]any{"trials": trials, "do": do.Do}
	if do.Reason != "" {
		in["reason"] = do.Reason
	}
	err = c.call(ctx, http.MethodPatch, "/queue/"+url.PathEscape(study), nil, in, &s)
	return s, err
}

// Queue returns what waits and what runs, and how many there are.
func (c *Client) Queue(ctx context.Context, study string, limit int) ([]Entry, int, error) {
	out, err := c.Queued(ctx, study, limit)
	return out.Entries, out.Total, err
}

// Queued is Queue with what can be restored.
func (c *Client) Queued(ctx context.Context, study string, limit int) (out Queue, err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if study != "" {
		q.Set("study", study)
	}
	err = c.call(ctx, http.MethodGet, "/queue", q, nil, &out)
	return out, err
}

// Workers returns the machines of the server.
func (c *Client) Workers(ctx context.Context) ([]Worker, error) {
	var out struct{ Workers []Worker }
	err := c.call(ctx, http.MethodGet, "/workers", nil, nil, &out)
	return out.Workers, err
}

// Order has a worker drain, evict what runs, or resume.
func (c *Client) Order(ctx context.Context, worker, verb string) ([]Worker, error) {
	var out Workers
	err := c.call(ctx, http.MethodPost, "/workers/"+url.PathEscape(worker)+"/"+verb, nil, nil, &out)
	return out.Workers, err
}

// Tokens returns the tokens without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	var out struct{ Tokens []Token }
	err := c.call(ctx, http.MethodGet, "/tokens", nil, nil, &out)
	return out.Tokens, err
}

// AddToken makes a token.
func (c *Client) AddToken(ctx context.Context, t NewToken) (s Secret, err error) {
	err = c.call(ctx, http.MethodPost, "/tokens", nil, t, &s)
	return s, err
}

// Revoke ends a token.
func (c *Client) Revoke(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, "/tokens/"+url.PathEscape(name), nil, nil, nil)
}

// Audit returns the last entries of the audit, the earliest first.
func (c *Client) Audit(ctx context.Context, limit int) ([]Decision, error) {
	var out struct{ Entries []Decision }
	err := c.call(ctx, http.MethodGet, "/audit?limit="+strconv.Itoa(limit), nil, nil, &out)
	return out.Entries, err
}

// Server returns what the server is.
func (c *Client) Server(ctx context.Context) (a About, err error) {
	err = c.call(ctx, http.MethodGet, "/server", nil, nil, &a)
	if err != nil {
		return a, fmt.Errorf("%w", err)
	}
	return a, nil
}
