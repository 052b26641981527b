package api

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// fromPages are headers that identify the page of a request. The server of the page has checked them; the server behind
// the proxy would take the page for a foreign one.
var fromPages = []string{
	"Origin", "Referer", "Cookie", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-User",
}

// Proxy returns a handler that forwards API requests to the server of a client, with its credentials, and streams the
// responses back. The caller must make sure that each request is authorized.
func Proxy(c *Client) http.Handler {
	to, err := url.Parse(c.base)
	if err != nil {
		panic(err) // NewClient has made it
	}
	return &httputil.ReverseProxy{
		Transport:     c.stream.Transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = to.Host
			for _, h := range fromPages {
				r.Out.Header.Del(h)
			}
			r.Out.Header.Del("Authorization")
			if c.token != "" {
				r.Out.Header.Set("Authorization", "Bearer "+c.token)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			for k, v := range headers {
				w.Header().Set(k, v)
			}
			answer(w, r, problem(unreachable(r.Context(), c.address, err)))
		},
	}
}

// isAPI reports whether a path is one of the API's.
func isAPI(path string) bool {
	return strings.HasPrefix(path, prefix+"/") || strings.HasPrefix(path, "/openapi.") ||
		path == "/healthz" || path == "/metrics"
}

// IsAPI reports whether a request is for the API, not for a page.
func IsAPI(r *http.Request) bool { return isAPI(r.URL.Path) }
