package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/worker"
)

// File names in the directory of a server that accepts remote clients.
const (
	tokensFile = "tokens.json"
	authority  = "ca"
	namesFile  = "names"       // of the server, one a line
	adminFile  = "admin.token" // made by Init
)

// keys are the tokens of a server, its authority and its names.
type keys struct {
	tokens *access.Tokens
	ca     *access.Authority
	known  []string
	tls    *tls.Config
}

// access opens the tokens of the server, if it has any. One that listens needs them.
func (s *server) access(ctx context.Context) error {
	dir := filepath.Join(s.o.Dir, authority)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if len(s.o.Listen) > 0 {
			return assay.WithHint(assay.Errorf(assay.ClassUsage,
				"--listen %s: over TCP a server answers by TLS alone, and those who have a token: it has neither", s.o.Listen[0]),
				"assay server init --data "+s.o.Dir+" makes them")
		}
		return nil
	}
	ca, err := access.OpenAuthority(dir)
	if err != nil {
		return err
	}
	k := &keys{ca: ca}
	if k.tokens, err = access.OpenTokens(filepath.Join(s.o.Dir, tokensFile)); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(s.o.Dir, namesFile))
	if err != nil {
		return err
	}
	k.known = strings.Fields(string(b))
	for _, l := range s.o.Listen {
		if host, _, err := net.SplitHostPort(l); err == nil && host != "" && !slices.Contains(k.known, host) {
			k.known = append(k.known, host)
		}
	}
	if k.tls, err = ca.ServerTLS(k.known...); err != nil {
		return err
	}
	s.keys = k
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		k.tokens.Watch(watching, func(name string) {
			if s.queue != nil {
				s.queue.Cut(name)
			}
			if f := s.fleet; f != nil {
				f.ShutOut(func(id string) bool { return worker.IDHasPrefix(id, name) })
			}
		})
	}()
	s.end(func() error { stop(); <-watched; return nil })
	return nil
}

// listen listens where the server is to be reached by others.
func (s *server) listen(ctx context.Context) (all []net.Listener, err error) {
	for _, at := range s.o.Listen {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", at)
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "--listen %s: %w", at, err)
		}
		s.end(func() error { _ = l.Close(); return nil }) // it is closed already where it was served
		c := s.keys.tls.Clone()
		c.NextProtos = []string{"h2", "http/1.1"}
		all = append(all, tls.NewListener(l, c))
	}
	return all, nil
}

// door lets workers in.
func (k *keys) door(token, id string, from net.Addr) (jetstream.Rights, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	t, err := k.tokens.Check(ctx, token, place(from.String()))
	if err != nil {
		return jetstream.Rights{}, err
	}
	if t.Role != access.Worker || !worker.IDHasPrefix(id, t.Name) {
		return jetstream.Rights{}, access.ErrDenied
	}
	return jetstream.Rights{Key: t.Name, Apps: t.Apps}, nil
}

// place returns the address of a client without its port.
func place(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// Who implements [api.Keys].
func (k *keys) Who(ctx context.Context, token, from string) (api.Who, error) {
	t, err := k.tokens.Check(ctx, token, place(from))
	return api.Who{Name: t.Name, Role: t.Role, Scope: t.Scope}, err
}

// Tokens implements [api.Keys].
func (k *keys) Tokens(context.Context) ([]api.Token, error) {
	all, err := k.tokens.List()
	var out []api.Token
	for _, t := range all {
		if t.Ended(time.Now()) != "" {
			continue
		}
		o := api.Token{Name: t.Name, Role: t.Role, Studies: t.Scope, Apps: t.Apps}
		if !t.Expires.IsZero() {
			o.Expires = &t.Expires
		}
		out = append(out, o)
	}
	return out, err
}

// Add implements [api.Keys].
func (k *keys) Add(_ context.Context, t api.Token, by string) (string, error) {
	tok := access.Token{Name: t.Name, Role: t.Role, Scope: t.Studies, Apps: t.Apps, By: by}
	if t.Expires != nil {
		tok.Expires = *t.Expires
	}
	secret, err := k.tokens.Add(tok)
	if err != nil {
		return "", err
	}
	return credential(tok, secret, k.ca).String(), nil
}

// credential is the text of a token.
func credential(t access.Token, secret string, ca *access.Authority) access.Credential {
	kind := "user"
	if t.Role == access.Worker {
		kind = "worker"
	}
	return access.Credential{Kind: kind, Name: t.Name, Secret: secret, CA: ca.Fingerprint()}
}

// Revoke implements [api.Keys].
func (k *keys) Revoke(_ context.Context, name, by string) error { return k.tokens.Revoke(name, by) }

// A Made is the result of [Init].
type Made struct {
	Dir       string   `json:"dir"`
	CA        string   `json:"ca_sha256"`
	Names     []string `json:"names"`
	TokenFile string   `json:"token_file"`
}

// Init makes the credentials of a server for remote clients: an authority of its own, and a token of the role admin.
// names are the names by which clients know the server; the default is the name of this machine. It is an error of
// class conflict if the server has them already.
func Init(dir string, names []string) (m Made, err error) {
	if dir == "" {
		if dir, err = api.DefaultDir(); err != nil {
			return m, err
		}
	}
	if m.Dir, err = filepath.Abs(dir); err != nil {
		return m, err
	}
	if len(names) == 0 {
		host, err := os.Hostname()
		if err != nil {
			return m, err
		}
		names = []string{host}
	}
	for _, n := range names {
		if n == "" || strings.ContainsAny(n, " \t\r\n/:*") && net.ParseIP(n) == nil {
			return m, assay.Errorf(assay.ClassUsage, "--name %q: neither the name of a machine nor an address", n)
		}
	}
	if err := os.MkdirAll(m.Dir, 0o700); err != nil {
		return m, err
	}
	ca, err := access.InitAuthority(filepath.Join(m.Dir, authority), "assay "+names[0])
	if err != nil {
		return m, err
	}
	m.Names, m.CA, m.TokenFile = names, ca.Fingerprint(), filepath.Join(m.Dir, adminFile)
	if err := os.WriteFile(filepath.Join(m.Dir, namesFile), []byte(strings.Join(names, "\n")+"\n"), 0o600); err != nil {
		return m, err
	}
	tokens, err := access.OpenTokens(filepath.Join(m.Dir, tokensFile))
	if err != nil {
		return m, err
	}
	admin := access.Token{Name: "admin", Role: access.Admin, By: "init"}
	secret, err := tokens.Add(admin)
	if err != nil {
		return m, err
	}
	return m, os.WriteFile(m.TokenFile, []byte(credential(admin, secret, ca).String()+"\n"), 0o600)
}
