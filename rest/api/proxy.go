package api

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// fromPages are headers that say which page a request is of. Whoever serves the page has judged
// them; the server behind would take the page for somebody else's.
var fromPages = []string{
	"Origin", "Referer", "Cookie", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-User",
}

// Handler returns what passes requests of the API on to the server, as requests of this client,
// and its answers back, streams as they come. Whoever calls it has to know that the request may
// be made.
func (c *Client) Handler() http.Handler {
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
			answer(w, r, problem(c.unreachable(r.Context(), err)))
		},
	}
}

// isAPI reports whether a path is one of the API's.
func isAPI(path string) bool {
	return strings.HasPrefix(path, prefix+"/") || strings.HasPrefix(path, "/openapi.") || path == "/healthz"
}

// IsAPI reports whether a request is for the API, not for a page.
func IsAPI(r *http.Request) bool { return isAPI(r.URL.Path) }
