package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/assay-run/assay/internal/testbed"
)

// A collector keeps the spans that it receives.
type collector struct {
	sync.Mutex
	spans []*tracepb.Span
}

// ServeHTTP takes an export over HTTP.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var data tracepb.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &data)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Tenant") != "lab one" {
		http.Error(w, "not an export", http.StatusBadRequest)
		return
	}
	c.Lock()
	defer c.Unlock()
	for _, rs := range data.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
}

// await returns the spans of a trial, by name, once there are all of these names.
func (c *collector) await(t *testing.T, trial int64, names ...string) map[string]*tracepb.Span {
	t.Helper()
	for range 300 {
		found := map[string]*tracepb.Span{}
		c.Lock()
		for _, s := range c.spans {
			for _, a := range s.Attributes {
				if a.Key == "assay.trial" && a.Value.GetIntValue() == trial {
					found[s.Name] = s
				}
			}
		}
		c.Unlock()
		all := true
		for _, name := range names {
			all = all && found[name] != nil
		}
		if all {
			return found
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("no spans %v of trial %d within 30 s", names, trial)
	return nil
}

// A collector has all spans of a trial whose server was killed during the run, in one trace.
func TestTraces(t *testing.T) {
	testbed.Outside(t)
	t.Setenv("ASSAY_TEST_LEASE", "10s")
	c := &collector{}
	s := httptest.NewServer(c)
	defer s.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "tenant=lab%20one")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, client, kill := start(t, dir, 0)
	process(t, dir, "w")
	flag := filepath.Join(dir, "flag")
	lab{client, dir}.submit(t, "nap",
		trivial("sh, -c, 'until [ -e \"$0\" ]; do sleep 0.1; done', '"+flag+"', '{n}'", 1, 1, 1)+"check: none\n")
	c.await(t, 1, "queue")
	kill()
	start(t, dir, 1)
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := c.await(t, 1, "trial", "queue", "attempt", "run")
	for name, parent := range map[string]string{"queue": "trial", "attempt": "trial", "run": "attempt"} {
		s, up := found[name], found[parent]
		if string(s.TraceId) != string(up.TraceId) || string(s.ParentSpanId) != string(up.SpanId) {
			t.Errorf("%s is not a part of %s", name, parent)
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", name)
		}
	}
}
