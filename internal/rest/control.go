package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is the largest body of an answer, in bytes.
const maxAnswer = 1 << 20

// splitAddress returns the network and the address to dial of "unix:PATH" or
// "http://HOST:PORT".
func splitAddress(address string) (network, dial string, err error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok && path != "" {
		return "unix", path, nil
	}
	if host, ok := strings.CutPrefix(address, "http://"); ok {
		if _, _, err := net.SplitHostPort(host); err == nil {
			return "tcp", host, nil
		}
	}
	return "", "", fmt.Errorf("address %q is neither unix:PATH nor http://HOST:PORT", address)
}

// CheckAddress returns an error if the address of a session is invalid. It does not connect.
func CheckAddress(address string) error {
	_, _, err := splitAddress(address)
	return err
}

// controlTimeout limits one request to a session.
const controlTimeout = 2 * time.Second

// Control sends "pause", "resume", "restart" or "end" to a session, or asks for its "status", and returns the status as
// a JSON object. The address "" stands for $ASSAY_ONLINE. The token for a TCP address is in the file $ASSAY_TOKEN_FILE.
func Control(address, verb string) ([]byte, error) {
	network, dial, err := splitAddress(cmp.Or(address, os.Getenv("ASSAY_ONLINE")))
	if err != nil {
		return nil, err
	}
	method := http.MethodPost
	if verb == "status" {
		method = http.MethodGet
	}
	r, err := http.NewRequest(method, "http://assay"+prefix+verb, http.NoBody)
	if err != nil {
		return nil, err
	}
	if file := os.Getenv("ASSAY_TOKEN_FILE"); file != "" {
		token, err := ReadToken(file)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	c := http.Client{Timeout: controlTimeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, dial)
		},
	}}
	resp, err := c.Do(r)
	if err != nil {
		return nil, errors.Unwrap(err) // the URL means nothing to the user
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err == nil && resp.StatusCode/100 != 2 {
		var p problem
		if json.Unmarshal(b, &p) != nil {
			p.Code, p.Detail = "status", strconv.Itoa(resp.StatusCode)
		}
		err = refuse(resp.StatusCode, p.Code, p.Detail)
	}
	return b, err
}
