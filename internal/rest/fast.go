package rest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The requests of ranks are many, small and alike, and net/http takes longer to read one than the session to answer it.
// So connections are first read here: requests in plain form (POST to a known route, the headers in plainHeaders, a
// length) are answered at once. At the first other request, the connection goes to net/http with all unread bytes, and
// stays there: net/http handles odd, large, chunked or hostile requests.

// plainHeaders are the headers that a request in plain form may have. The value
// of those that are false does not matter.
var plainHeaders = map[string]bool{
	"host": true, "content-length": true, "authorization": true, "content-type": false, "accept": false,
	"accept-encoding": false, "user-agent": false,
}

const (
	plainSize   = 8 << 10          // largest request in plain form
	requestTime = 10 * time.Second // from its first byte to its last
)

// A plainRequest is a request in plain form.
type plainRequest struct {
	route         route
	host          string
	authorization string
	body          []byte // in the reader's buffer
	size          int    // of the whole request
}

// A handedOver connection replays the bytes already read from it.
type handedOver struct {
	net.Conn
	in *bufio.Reader
	k  *conn
}

// Read implements [net.Conn].
func (h *handedOver) Read(b []byte) (int, error) { return h.in.Read(b) }

// A relay is a listener for connections that serveConn passes on.
type relay struct {
	conns chan net.Conn
	done  chan struct{}
	addr  net.Addr
}

// Accept implements [net.Listener].
func (r *relay) Accept() (net.Conn, error) {
	select {
	case c := <-r.conns:
		return c, nil
	case <-r.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (r *relay) Close() error { return nil }

// Addr implements [net.Listener].
func (r *relay) Addr() net.Addr { return r.addr }

// serveConn answers the requests of one connection until it ends or is passed to net/http.
func (o *Online) serveConn(c net.Conn, to *relay) {
	k := &conn{known: sync.OnceFunc(func() { o.unproven.forget(c) })}
	in := bufio.NewReaderSize(c, plainSize)
	var out []byte
	for {
		q, plain, err := o.readPlain(c, in)
		if err != nil {
			c.Close()
			k.known()
			o.gone(k)
			return
		}
		if !plain || o.guard.check(q.host, q.authorization, false) != nil {
			select {
			case to.conns <- &handedOver{c, in, k}:
			case <-to.done:
				c.Close()
			}
			return
		}
		k.known()
		body, err := q.route(k, q.body)
		out = appendAnswer(out[:0], body, err)
		if _, err := in.Discard(q.size); err != nil {
			panic("rest: a request that was read is not there")
		}
		if _, err := c.Write(out); err != nil {
			c.Close()
			o.gone(k)
			return
		}
	}
}

// readPlain waits for the next request. plain is false if it is not in plain form; then it was not consumed from in. An
// error means that the connection has ended, or took too long over a request.
func (o *Online) readPlain(c net.Conn, in *bufio.Reader) (q plainRequest, plain bool, err error) {
	if _, err := in.Peek(1); err != nil {
		return q, false, err
	}
	for timed := false; ; timed = true {
		b, _ := in.Peek(in.Buffered())
		q, more, plain := o.parsePlain(b)
		if !more {
			if timed {
				err = c.SetReadDeadline(time.Time{})
			}
			return q, plain, err
		}
		if !timed {
			if err := c.SetReadDeadline(time.Now().Add(requestTime)); err != nil {
				return q, false, err
			}
		}
		if _, err := in.Peek(len(b) + 1); errors.Is(err, bufio.ErrBufferFull) {
			return q, false, c.SetReadDeadline(time.Time{})
		} else if err != nil {
			return q, false, err
		}
	}
}

// parsePlain reads a request at the start of b. more is true if it needs more bytes to decide.
func (o *Online) parsePlain(b []byte) (q plainRequest, more, plain bool) {
	const method = "POST " + prefix
	if n := min(len(b), len(method)); string(b[:n]) != method[:n] {
		return q, false, false
	}
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		return q, true, false
	}
	head := b[len(method):end]
	line, head, _ := bytes.Cut(head, []byte("\r\n"))
	name, ok := bytes.CutSuffix(line, []byte(" HTTP/1.1"))
	if q.route = o.posts[string(name)]; !ok || q.route == nil {
		return q, false, false
	}
	length := -1
	for len(head) > 0 {
		line, head, _ = bytes.Cut(head, []byte("\r\n"))
		key, value, ok := bytes.Cut(line, []byte(":"))
		matters, known := plainHeaders[string(bytes.ToLower(key))]
		if !ok || !known {
			return q, false, false
		}
		if !matters {
			continue
		}
		value = bytes.TrimSpace(value)
		switch {
		case len(key) == len("host") && q.host == "":
			q.host = string(value)
		case len(key) == len("authorization") && len(value) > 0 && q.authorization == "":
			q.authorization = string(value)
		case len(key) == len("content-length") && length < 0:
			n, err := strconv.ParseUint(string(value), 10, 31)
			if err != nil || n > plainSize {
				return q, false, false
			}
			length = int(n)
		default: // twice
			return q, false, false
		}
	}
	if length < 0 || q.host == "" {
		return q, false, false
	}
	q.size = end + 4 + length
	if len(b) < q.size {
		return q, true, false
	}
	q.body = b[end+4 : q.size]
	return q, false, true
}

// appendAnswer appends a response, or the refusal for err.
func appendAnswer(b, body []byte, err error) []byte {
	status, kind := http.StatusOK, jsonType[0]
	if err != nil {
		status, kind, body = asRefusal(err).answer()
	}
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\nContent-Type: "...)
	b = append(b, kind...)
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

// answer returns the parts of the answer that a refusal is.
func (r *refusal) answer() (status int, kind string, body []byte) {
	body, err := json.Marshal(problem{r.status, r.code, r.detail})
	if err != nil {
		panic("rest: " + err.Error()) // a struct of an int and strings
	}
	return r.status, problemType[0], append(body, '\n')
}

// quickReport reads a report in the form that our clients write, without
// reflection. ok is false for any other, which decode has to judge.
func quickReport(body []byte) (q reportRequest, ok bool) {
	rest, ok := strings.CutPrefix(string(body), `{"instance":"`)
	if !ok {
		return q, false
	}
	q.Instance, rest, ok = strings.Cut(rest, `","turn":`)
	if !ok || !plainText(q.Instance) {
		return q, false
	}
	turn, rest, ok := strings.Cut(rest, `,"seconds":`)
	number, ok2 := strings.CutSuffix(rest, "}")
	if !ok || !ok2 || !json.Valid([]byte(turn)) || !json.Valid([]byte(number)) {
		return q, false
	}
	var err, err2 error
	var seconds float64
	q.Turn, err = strconv.ParseInt(turn, 10, 64)
	seconds, err2 = strconv.ParseFloat(number, 64)
	q.Seconds = &seconds
	return q, err == nil && err2 == nil
}

// quickMember is quickReport for the requests that hold an instance only.
func quickMember(body []byte) (instance string, ok bool) {
	rest, ok := strings.CutPrefix(string(body), `{"instance":"`)
	instance, ok2 := strings.CutSuffix(rest, `"}`)
	return instance, ok && ok2 && plainText(instance)
}

// plainText reports whether a JSON text needs no unquoting.
func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
}
