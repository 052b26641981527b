package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/assay-run/assay"
)

// call sends an input to the route of a handler, and returns the output, as the method does in
// the process of the server: the row of the method is all that a client knows of the route.
func call[G group, I, O any](ctx context.Context, c *Client, do handler[G, I, O], in *I) (*O, error) {
	resp, err := send(ctx, c, c.http, do, in)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out := new(O)
	body := reflect.ValueOf(out).Elem().FieldByName("Body")
	if !body.IsValid() {
		return out, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(body.Addr().Interface()); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, assay.Errorf(assay.ClassUnavailable, "the answer of %s broke off: %w", c.address, err)
	}
	return out, nil
}

// A plain is an output that is a body alone.
type plain[T any] struct{ Body T }

// A tagged is an output with the number of the last event of a study.
type tagged[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

func (r *plain[T]) content() T  { return r.Body }
func (t *tagged[T]) content() T { return t.Body }

// body returns the response body of a call.
func body[T any](out interface{ content() T }, err error) (body T, _ error) {
	if err == nil {
		body = out.content()
	}
	return body, err
}

// send is call, and returns the response before its body is read. edit, which may be nil, changes the request.
func send[G group, I, O any](
	ctx context.Context, c *Client, h *http.Client, do handler[G, I, O], in *I, edit ...func(*http.Request),
) (*http.Response, error) {
	r, err := request(ctx, c, routeTo(do), in)
	if err != nil {
		return nil, err
	}
	for _, e := range edit {
		e(r)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := h.Do(r)
	if err != nil {
		return nil, unreachable(ctx, c.address, err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refused(resp)
}

// request returns the request of a route with an input.
func request(ctx context.Context, c *Client, to Route, in any) (*http.Request, error) {
	p := parts{path: to.Path, query: url.Values{}, header: http.Header{}}
	p.add(reflect.ValueOf(in).Elem())
	if len(p.query) > 0 {
		p.path += "?" + p.query.Encode()
	}
	var body io.Reader
	if p.body != nil {
		b, err := json.Marshal(p.body)
		if err != nil {
			return nil, err
		}
		if int64(len(b)) > to.most {
			return nil, assay.Errorf(assay.ClassUsage, "a request has at most %d bytes, not %d", to.most, len(b))
		}
		body = bytes.NewReader(b)
		p.header.Set("Content-Type", "application/json")
	}
	r, err := http.NewRequestWithContext(ctx, to.Method, c.base+p.path, body)
	if err != nil {
		return nil, err
	}
	if p.written && p.header.Get("Idempotency-Key") == "" {
		p.header.Set("Idempotency-Key", rand.Text())
	}
	r.Header = p.header
	return r, nil
}

// parts are the parts of a request that an input fills.
type parts struct {
	path    string
	query   url.Values
	header  http.Header
	body    any
	written bool // the request takes an Idempotency-Key
}

// add fills in the fields of an input as the server reads them: by the tags path, query and header, and
// the field Body. A field of a query or a header that is zero is left out.
func (p *parts) add(in reflect.Value) {
	for i := range in.NumField() {
		f, v := in.Type().Field(i), in.Field(i)
		p.written = p.written || f.Type == reflect.TypeFor[Written]()
		if f.Anonymous {
			p.add(v)
			continue
		}
		if f.Name == "Body" {
			p.body = v.Interface()
			continue
		}
		if name := f.Tag.Get("path"); name != "" {
			p.path = strings.Replace(p.path, "{"+name+"}", url.PathEscape(fmt.Sprint(v)), 1)
		}
		if v.IsZero() {
			continue
		}
		if name := f.Tag.Get("header"); name != "" {
			p.header.Set(name, fmt.Sprint(v))
		}
		if name, _, _ := strings.Cut(f.Tag.Get("query"), ","); name != "" {
			p.query[name] = texts(v, f.Tag.Get("query") != name)
		}
	}
}

// texts returns a value of a query: of a list each element by itself if each, or all with commas.
func texts(v reflect.Value, each bool) []string {
	if v.Kind() != reflect.Slice {
		return []string{fmt.Sprint(v)}
	}
	all := make([]string, v.Len())
	for i := range all {
		all[i] = fmt.Sprint(v.Index(i))
	}
	if each {
		return all
	}
	return []string{strings.Join(all, ",")}
}
