package rest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A link is one HTTP/1.1 connection to a session that is kept alive. net/http's
// client would do, at twice the time of a round trip: it has two goroutines for
// a connection, and a rank wants none.
type link struct {
	network, address string
	token            string
	timeout          time.Duration

	conn net.Conn // nil without a connection
	in   *bufio.Reader
	out  []byte
	body []byte
}

// newLink returns a link to an address that CheckAddress accepts. It does not
// connect.
func newLink(address, token string, timeout time.Duration) (*link, error) {
	network, dial, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	return &link{network: network, address: dial, token: token, timeout: timeout}, nil
}

// post sends a request and returns the body of the response, which is valid until the next call. An unsuccessful
// response is a *refusal; any other error means that the connection is lost.
func (l *link) post(method, name string, body []byte) ([]byte, error) {
	if l.conn == nil {
		c, err := net.DialTimeout(l.network, l.address, l.timeout)
		if err != nil {
			return nil, err
		}
		l.conn, l.in = c, bufio.NewReader(c)
	}
	b, status, err := l.exchange(method, name, body)
	if err != nil {
		l.close()
		return nil, err
	}
	if status/100 != 2 {
		var p problem
		if json.Unmarshal(b, &p) != nil {
			p.Code, p.Detail = "status", strconv.Itoa(status)
		}
		return nil, refuse(status, p.Code, p.Detail)
	}
	return b, nil
}

func (l *link) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

func (l *link) exchange(method, name string, body []byte) (answer []byte, status int, err error) {
	if err := l.conn.SetDeadline(time.Now().Add(l.timeout)); err != nil {
		return nil, 0, err
	}
	b := append(l.out[:0], method...)
	b = append(b, " "+prefix...)
	b = append(b, name...)
	b = append(b, " HTTP/1.1\r\nHost: assay\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	if l.token != "" {
		b = append(b, "\r\nAuthorization: Bearer "...)
		b = append(b, l.token...)
	}
	b = append(b, "\r\n\r\n"...)
	l.out = append(b, body...)
	if _, err := l.conn.Write(l.out); err != nil {
		return nil, 0, err
	}
	return l.read()
}

var errAnswer = errors.New("not an answer of HTTP/1.1 with a length")

// read reads one answer.
func (l *link) read() (body []byte, status int, err error) {
	line, err := l.in.ReadSlice('\n')
	if err != nil {
		return nil, 0, err
	}
	if len(line) < 12 || string(line[:9]) != "HTTP/1.1 " {
		return nil, 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return nil, 0, errAnswer
	}
	length, shut := -1, false
	for {
		if line, err = l.in.ReadSlice('\n'); err != nil {
			return nil, 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		key, value, _ := strings.Cut(text, ":")
		switch {
		case strings.EqualFold(key, "Content-Length"):
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, 0, errAnswer
			}
		case strings.EqualFold(key, "Connection"):
			shut = strings.EqualFold(strings.TrimSpace(value), "close")
		}
	}
	if length < 0 || length > maxAnswer {
		return nil, 0, errAnswer
	}
	if cap(l.body) < length {
		l.body = make([]byte, length)
	}
	l.body = l.body[:length]
	if _, err := io.ReadFull(l.in, l.body); err != nil {
		return nil, 0, err
	}
	if shut {
		l.close()
	}
	return l.body, status, nil
}
