package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
)

// An inProcess carries requests of a client to a handler in this process, with the session of the context.
type inProcess struct{ to http.Handler }

// sessionKey is the key of the session in a context.
type sessionKey struct{}

// as makes requests of a context use the session.
func as(ctx context.Context, s *session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// RoundTrip implements [http.RoundTripper]. The answer is whole when it returns.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	s, ok := r.Context().Value(sessionKey{}).(*session)
	if r = r.Clone(r.Context()); ok {
		s.authorize(r.Header)
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
	a := &whole{header: http.Header{}}
	p.to.ServeHTTP(a, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a.WriteHeader(http.StatusOK)
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()), Request: r,
	}, nil
}

// A whole is an answer that is kept.
type whole struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *whole) Header() http.Header { return a.header }
func (a *whole) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *whole) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

func mustURL(path string) *url.URL { return &url.URL{Path: path} }
