package api

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
)

// A Token describes an access token without its secret.
type Token struct {
	Name    string     `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]*$"`
	Role    Role       `json:"role" enum:"worker,viewer,operator,author,admin"`
	Studies []string   `json:"studies,omitempty" maxItems:"100" nullable:"false" doc:"prefixes of studies; default all"`
	Apps    []string   `json:"apps,omitempty" maxItems:"100" nullable:"false" doc:"applications of a worker; default all"`
	Expires *time.Time `json:"expires,omitempty"`
}

// A Me describes the caller.
type Me struct {
	Name    string   `json:"name"`
	Role    Role     `json:"role" enum:"viewer,operator,author,admin"`
	Studies []string `json:"studies,omitempty" nullable:"false" doc:"prefixes of their studies; all by default"`
}

// A NewToken is a token to make.
type NewToken struct {
	Name    string   `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]*$"`
	Role    Role     `json:"role" enum:"worker,viewer,operator,author,admin"`
	Studies []string `json:"studies,omitempty" maxItems:"100" nullable:"false" doc:"prefixes of studies; default all"`
	Apps    []string `json:"apps,omitempty" maxItems:"100" nullable:"false" doc:"applications of a worker; default all"`
	Lasts   Int      `json:"lasts_s,omitempty" minimum:"1" maximum:"3153600000" doc:"for ever by default"`
}

type healthOut struct {
	Body struct {
		OK bool `json:"ok"`
	}
}

// adminRoutes answer requests for the server itself: its health, tokens and audit.
type adminRoutes struct{ *Server }

func (s adminRoutes) getHealth(context.Context, *struct{}) (*healthOut, error) {
	out := &healthOut{}
	out.Body.OK = true
	return out, nil
}

func (s adminRoutes) getMe(ctx context.Context, _ *struct{}) (*plain[Me], error) {
	who := whoOf(ctx)
	return &plain[Me]{Me{who.Name, who.Role, who.Scope}}, nil
}

func (s adminRoutes) getServer(context.Context, *struct{}) (*plain[About], error) {
	return &plain[About]{s.o.About}, nil
}

type tokensOut struct {
	Body struct {
		Tokens []Token `json:"tokens" nullable:"false"`
	}
}

func (s adminRoutes) getTokens(ctx context.Context, _ *struct{}) (*tokensOut, error) {
	k, err := s.keys()
	if err != nil {
		return nil, err
	}
	all, err := k.Tokens(ctx)
	out := &tokensOut{}
	out.Body.Tokens = append([]Token{}, all...)
	return out, err
}

type addIn struct {
	Written
	Body NewToken
}

func (s adminRoutes) postToken(ctx context.Context, in *addIn) (*plain[Secret], error) {
	k, err := s.keys()
	if err != nil {
		return nil, err
	}
	t := Token{Name: in.Body.Name, Role: in.Body.Role, Studies: in.Body.Studies, Apps: in.Body.Apps}
	if in.Body.Lasts > 0 {
		end := s.o.Now().Add(time.Duration(in.Body.Lasts) * time.Second).UTC().Truncate(time.Second)
		t.Expires = &end
	}
	secret, err := k.Add(ctx, t, whoOf(ctx).Name)
	return &plain[Secret]{Secret{t, secret}}, err
}

type endIn struct {
	Written
	Token string `path:"token" minLength:"1" maxLength:"64" doc:"its name"`
}

func (s adminRoutes) deleteToken(ctx context.Context, in *endIn) (*struct{}, error) {
	k, err := s.keys()
	if err != nil {
		return nil, err
	}
	return nil, k.Revoke(ctx, in.Token, whoOf(ctx).Name)
}

// A Decision records an authorization, or gives a permission that can be requested.
type Decision = access.Decision

type auditIn struct {
	Limit int `query:"limit" minimum:"1" maximum:"100000" default:"1000" doc:"show the last limit entries"`
}

type auditOut struct {
	Body struct {
		Entries []Decision `json:"entries" nullable:"false"`
	}
}

func (s adminRoutes) getAudit(_ context.Context, in *auditIn) (*auditOut, error) {
	o := &auditOut{}
	o.Body.Entries = []Decision{}
	if s.o.Audit == nil {
		return o, nil
	}
	all, err := s.o.Audit(in.Limit)
	o.Body.Entries = append(o.Body.Entries, all...)
	return o, err
}

// A Secret is a new token with its secret, which is shown once.
type Secret struct {
	Token  Token  `json:"token"`
	Secret string `json:"secret" doc:"shown only once: keep it in a file that only its user can read"`
}

// keys returns the tokens of a server that has them.
func (s adminRoutes) keys() (Keys, error) {
	if s.o.Keys == nil {
		return nil, assay.Errorf(assay.ClassUsage, "this server has no tokens")
	}
	return s.o.Keys, nil
}

// Me returns the name and the role of the client.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return body(call(ctx, c, adminRoutes.getMe, &struct{}{}))
}

// Server returns the version, the store and the addresses of the server.
func (c *Client) Server(ctx context.Context) (About, error) {
	return body(call(ctx, c, adminRoutes.getServer, &struct{}{}))
}

// Tokens returns the tokens without their secrets.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	out, err := call(ctx, c, adminRoutes.getTokens, &struct{}{})
	if err != nil {
		return nil, err
	}
	return out.Body.Tokens, nil
}

// AddToken creates a token.
func (c *Client) AddToken(ctx context.Context, t NewToken) (Secret, error) {
	return body(call(ctx, c, adminRoutes.postToken, &addIn{Body: t}))
}

// Revoke ends a token.
func (c *Client) Revoke(ctx context.Context, name string) error {
	_, err := call(ctx, c, adminRoutes.deleteToken, &endIn{Token: name})
	return err
}

// Audit returns the last entries of the audit, the earliest first.
func (c *Client) Audit(ctx context.Context, limit int) ([]Decision, error) {
	out, err := call(ctx, c, adminRoutes.getAudit, &auditIn{limit})
	if err != nil {
		return nil, err
	}
	return out.Body.Entries, nil
}
