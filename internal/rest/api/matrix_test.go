package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// An opened is one request of the OpenAPI document.
type opened struct {
	method, path string
	role         Role
}

// document returns the requests of the document that the server serves.
func document(t *testing.T, r *rig) (all []opened) {
	t.Helper()
	resp := r.do(t, Viewer, http.MethodGet, "/openapi.json", "", nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(resp.body), &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("the document is of OpenAPI %s", doc.OpenAPI)
	}
	for path, methods := range doc.Paths {
		for method, raw := range methods {
			var op struct {
				Role Role `json:"x-role"`
			}
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			all = append(all, opened{method: strings.ToUpper(method), path: path, role: op.Role})
		}
	}
	return all
}

// A reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request with the token of a role; Nobody has none.
func (r *rig) do(t testing.TB, role Role, method, path, body string, header http.Header) reply {
	t.Helper()
	req, err := http.NewRequest(method, r.at.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if role != Nobody {
		req.Header.Set("Authorization", "Bearer secret-"+string(role))
	}
	if h := header.Get("Host"); h != "" {
		req.Host = h
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(b)}
}

// bodies are good bodies of the requests that need one.
var bodies = map[string]string{
	"POST " + prefix + "/studies": `{"name":"new","file":"command: [true, \"{n}\"]\nparameters: {n: 1..3}\n"}`,
	"POST " + prefix + "/check":   `{"file":"command: [true, \"{n}\"]\nparameters: {n: 1..3}\n"}`,

	"POST " + prefix + "/studies/{study}/trials":    `{"configs":[{"n":7}]}`,
	"PATCH " + prefix + "/studies/{study}/state":    `{"state":"pause"}`,
	"PATCH " + prefix + "/studies/{study}/priority": `{"priority":3}`,
	"PATCH " + prefix + "/studies/{study}/budget":   `{"trials":30}`,
	"PATCH " + prefix + "/queue/{study}":            `{"trials":[2],"do":"first"}`,
	"PATCH " + prefix + "/queue/{study}/{trial}":    `{"do":"first"}`,
	"POST " + prefix + "/tokens":                    `{"name":"more","role":"viewer"}`,
	"POST " + prefix + "/plan":                      `{"files":{"w.csv":"id,run_s\na,2\nb,3\n"}}`,
	"POST " + prefix + "/studies/{study}/predict":   `{"at":[{"n":"3"}]}`,
	"POST " + prefix + "/studies/{study}/ask":       `{"n":2}`,
	"POST " + prefix + "/studies/{study}/tell":      `{"results":[{"id":1,"value":2.5}]}`,
	"POST " + prefix + "/studies/{study}/recall":    `{"age_s":0}`,
	"PUT " + blobPath:                               held,
}

// filled replaces the variables of a path by existing things.
func filled(path string) string {
	if path == prefix+"/compare" {
		path += "?s=tuned&s=other"
	}
	external := []string{"/ask", "/tell", "/recall", "/asked"}
	if i := strings.LastIndexByte(path, '/'); slices.Contains(external, path[max(0, i):]) {
		path = strings.Replace(path, "{study}", "asked", 1)
	}
	if strings.Contains(path, "/files") {
		path = strings.Replace(path, "{trial}", "1", 1)
	}
	return strings.NewReplacer("{name}", "a.log", "{hash}", heldHash, "{study}", "tuned", "{trial}", "2",
		"{worker}", "rack", "{token}", "viewer").Replace(path)
}

// Every route has a row, and every row a route.
func TestEveryRouteHasARow(t *testing.T) {
	r := newRig(t)
	all := document(t, r)
	for _, o := range all {
		if row, ok := routeOf(o.method, o.path); !ok || row.Least != o.role {
			t.Errorf("%s %s for %q: the table says %q", o.method, o.path, o.role, row.Least)
		}
	}
	for _, row := range Routes {
		if strings.HasPrefix(row.Path, "/openapi.") || row.Path == "/metrics" {
			continue // the document describes neither itself nor what is no JSON
		}
		if !slices.ContainsFunc(all, func(o opened) bool { return o.method == row.Method && o.path == row.Path }) {
			t.Errorf("%s %s stands in the table and nobody answers it", row.Method, row.Path)
		}
	}
	// A handler of the mux that has no row is not reached.
	r.mux.HandleFunc("GET "+prefix+"/unlisted", func(http.ResponseWriter, *http.Request) {})
	if got := r.do(t, Admin, http.MethodGet, prefix+"/unlisted", "", nil); got.status != http.StatusNotFound {
		t.Errorf("a route without a row is answered: %d %s", got.status, got.body)
	}
}

// The requests and roles of testdata/routes.golden are promised: a row may come, and none may change or go.
func TestRoutesArePromised(t *testing.T) {
	text, err := os.ReadFile("testdata/routes.golden")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		method, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		path, role, _ := strings.Cut(rest, " ")
		if row, ok := routeOf(method, path); !ok || row.Least != Role(role) {
			t.Errorf("%s %s for the role %q: the table has %q", method, path, role, row.Least)
		}
		n++
	}
	if n < 47 {
		t.Errorf("%d requests are promised", n)
	}
}

// TestMatrix sends every method to every path of the document, and to one that is in none, as
// every role: nothing is done, or shown, that the role may not.
func TestMatrix(t *testing.T) {
	paths := map[string]map[string]Role{
		"/api/v1/unlisted": {}, "/unlisted": {}, "/": {}, "/openapi-3.0.json": {},
		"/openapi.json": {"GET": Viewer}, "/openapi.yaml": {"GET": Viewer}, "/metrics": {"GET": Viewer},
	}
	for _, o := range document(t, newRig(t)) {
		if paths[o.path] == nil {
			paths[o.path] = map[string]Role{}
		}
		paths[o.path][o.method] = o.role
	}
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"}
	roles := []Role{Nobody, Machine, Viewer, Operator, Author, Admin}
	n := 0
	short := func(o *Options) { o.Stream = 1 } // a stream of events ends at once
	r := newRig(t, short)
	fresh := r.state(t)
	for path, has := range paths {
		for _, method := range methods {
			for _, role := range roles {
				n++
				if r.state(t) != fresh {
					r.at.Close()
					r = newRig(t, short)
				}
				before := r.state(t)
				least, listed := has[method]
				if method == http.MethodHead {
					least, listed = has[http.MethodGet], has[http.MethodGet] != ""
				}
				got := r.do(t, role, method, filled(path), bodies[method+" "+path], nil)
				want := wanted(path, has, least, listed, role)
				if !slices.Contains(want, got.status) {
					t.Errorf("%s %s as %s: %d, want one of %d: %s", method, path, role, got.status, want, got.body)
				}
				if got.status/100 != 2 && before != r.state(t) {
					t.Errorf("%s %s as %s: refused with %d, and something changed", method, path, role, got.status)
				}
				if (method == http.MethodGet || method == http.MethodHead) && before != r.state(t) {
					t.Errorf("%s %s as %s changed something", method, path, role)
				}
				if got.status/100 != 2 && method != http.MethodHead && got.header.Get("Content-Type") != problemType {
					t.Errorf("%s %s as %s: the refusal is %q", method, path, role, got.header.Get("Content-Type"))
				}
				for k, v := range headers {
					if got.header.Get(k) != v {
						t.Errorf("%s %s as %s: %s is %q", method, path, role, k, got.header.Get(k))
					}
				}
			}
		}
	}
	t.Logf("%d requests", n)
}

// wanted returns the statuses that may be answered: one unless the request succeeds.
func wanted(path string, has map[string]Role, least Role, listed bool, role Role) []int {
	switch {
	case listed && least == Nobody:
		return []int{200}
	case role == Nobody:
		return []int{401}
	case !listed && len(has) == 0:
		return []int{404}
	case !listed:
		return []int{405}
	case path == blobPath && least == AuthorOrWorker && role == Machine:
		return []int{200, 403} // a worker has the inputs of its runs, and puts what is on record: see TestWorkersBlobs
	case !may(role, least) || path == prefix+"/studies" && least == Operator && !may(role, Author): // it has a command
		return []int{403}
	case strings.HasSuffix(path, "/explain") || strings.HasSuffix(path, "/noise"):
		return []int{409} // of a study with so few trials there is nothing to say
	}
	return []int{200, 204}
}

// state is all that a request could change.
func (r *rig) state(t testing.TB) string {
	t.Helper()
	infos, err := r.host.Infos(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := r.keys.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := ""
	for _, i := range infos {
		s += fmt.Sprint(i.Study, i.Events, i.State, ";")
	}
	return fmt.Sprint(s, len(tokens), len(r.fleet.orders))
}
