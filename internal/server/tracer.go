package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/assay-run/assay"
)

// Names of spans.
const (
	trialSpan   = "trial"
	queueSpan   = "queue"
	attemptSpan = "attempt"
	runSpan     = "run"
)

// parents are the names of the spans that contain others.
var parents = map[string]string{queueSpan: trialSpan, attemptSpan: trialSpan, runSpan: attemptSpan}

// A span is a part of a trial that has ended. Repeat and Attempt of its ID do not matter for a trial.
type span struct {
	name       string
	id         assay.RunID
	start, end time.Time
	worker     string // "" for a span without one
	failure    string // the reason, "" if it ended well
}

// A tracer sends the spans of trials to a collector of OpenTelemetry, by OTLP over HTTP, in the background. A nil
// tracer sends none. It is off unless OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT names a
// collector.
//
// A trial is one trace. The IDs of trace and spans follow from study, trial and attempt, so server and worker need not
// send them to each other, and a restarted server goes on with the trace:
//
//	trial ── queue     a run waits for a worker
//	      └─ attempt   a worker has the run, as the server sees it
//	         └─ run    the worker makes the run
type tracer struct {
	to       string
	headers  http.Header
	client   *http.Client
	resource *resourcepb.Resource
	spans    chan *tracepb.Span
	stop     chan struct{}
	done     chan struct{}
}

// Limits of the spans that wait for a collector, and of one request.
const (
	mostWaiting = 4096
	mostSent    = 512
	sendEvery   = time.Second
)

// openTracer returns a tracer for a service such as "assay-server", or nil if no collector is named. It is an error of
// class usage if the address of the collector is invalid. The collector is not asked: it may be away.
func openTracer(service, version string) (*tracer, error) {
	to, err := endpoint()
	if err != nil || to == "" {
		return nil, err
	}
	host, _ := os.Hostname()
	about := map[string]string{"host.name": host}
	for name, values := range pairs(os.Getenv("OTEL_RESOURCE_ATTRIBUTES")) {
		about[name] = values
	}
	about["service.name"] = cmp.Or(os.Getenv("OTEL_SERVICE_NAME"), about["service.name"], service)
	about["service.version"] = cmp.Or(about["service.version"], version)
	t := &tracer{
		to: to, headers: http.Header{}, client: &http.Client{Timeout: 10 * time.Second}, resource: &resourcepb.Resource{},
		spans: make(chan *tracepb.Span, mostWaiting), stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	for _, name := range slices.Sorted(maps.Keys(about)) {
		t.resource.Attributes = append(t.resource.Attributes, textOf(name, about[name]))
	}
	list := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	for name, value := range pairs(list) {
		t.headers.Set(name, value)
	}
	t.headers.Set("Content-Type", "application/x-protobuf")
	go t.run()
	return t, nil
}

// send sends a span. It does not block: spans are dropped while the collector is away and too many wait.
func (t *tracer) send(s span) {
	if t == nil {
		return
	}
	trace, id := s.traceID(), s.spanID()
	out := &tracepb.Span{
		TraceId: trace, SpanId: id, Name: s.name, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: uint64(s.start.UnixNano()), EndTimeUnixNano: uint64(s.end.UnixNano()),
		Attributes: []*commonpb.KeyValue{textOf("assay.study", s.id.Study), numberOf("assay.trial", s.id.Trial)},
	}
	if parent := parents[s.name]; parent != "" {
		out.ParentSpanId = span{name: parent, id: s.id}.spanID()
		out.Attributes = append(out.Attributes, numberOf("assay.repeat", int64(s.id.Repeat)),
			numberOf("assay.attempt", int64(s.id.Attempt)))
	}
	if s.worker != "" {
		out.Attributes = append(out.Attributes, textOf("assay.worker", s.worker))
	}
	if s.failure != "" {
		out.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: s.failure}
	}
	select {
	case t.spans <- out:
	default:
	}
}

// close sends the spans that wait, for at most two seconds. Later spans are dropped.
func (t *tracer) close() error {
	if t == nil {
		return nil
	}
	close(t.stop)
	select {
	case <-t.done:
	case <-time.After(2 * time.Second):
	}
	return nil
}

// run sends the waiting spans, once a second or when they are enough for a request.
func (t *tracer) run() {
	defer close(t.done)
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	var waiting []*tracepb.Span
	for {
		select {
		case <-t.stop:
			for len(t.spans) > 0 {
				waiting = append(waiting, <-t.spans)
			}
			t.post(waiting)
			return
		case s := <-t.spans:
			if waiting = append(waiting, s); len(waiting) < mostSent {
				continue
			}
		case <-tick.C:
		}
		t.post(waiting)
		waiting = nil
	}
}

// post sends spans to the collector. They are lost if it does not take them. A request has the format of TracesData.
func (t *tracer) post(spans []*tracepb.Span) {
	if len(spans) == 0 {
		return
	}
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: t.resource, ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: "github.com/assay-run/assay"}, Spans: spans,
		}},
	}}})
	if err != nil {
		return
	}
	r, err := http.NewRequest(http.MethodPost, t.to, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header = t.headers.Clone()
	answer, err := t.client.Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	_ = answer.Body.Close()
}

func textOf(name, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{
		Value: &commonpb.AnyValue_StringValue{StringValue: strings.ToValidUTF8(value, "?")},
	}}
}

func numberOf(name string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

func (s span) traceID() []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", s.id.Study, s.id.Trial))
	return sum[:16]
}

func (s span) spanID() []byte {
	if s.name == trialSpan {
		s.id.Repeat, s.id.Attempt = 0, 0
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s/%d+%d.%d", s.name, s.id.Study, s.id.Trial, s.id.Repeat, s.id.Attempt))
	return sum[:8]
}

// endpoint returns the address for traces by the rules of the OTLP exporter, "" without one.
func endpoint() (string, error) {
	name, to := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if to == "" {
		if name, to = "OTEL_EXPORTER_OTLP_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); to != "" {
			to = strings.TrimSuffix(to, "/") + "/v1/traces"
		}
	}
	if to == "" {
		return "", nil
	}
	if u, err := url.Parse(to); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", assay.Errorf(assay.ClassUsage, "%s: %.100q is not an address such as http://localhost:4318", name, to)
	}
	if p := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL")); p != "" &&
		p != "http/protobuf" {
		return "", assay.Errorf(assay.ClassUsage, "OTEL_EXPORTER_OTLP_PROTOCOL: %.50q is not supported: http/protobuf is", p)
	}
	return to, nil
}

// pairs returns the names and values of a list such as "a=b,c=d".
func pairs(list string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if value, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			out[strings.TrimSpace(name)] = value
		}
	}
	return out
}
