package server

import (
	"strings"
	"testing"
)

func TestOpenTracer(t *testing.T) {
	for _, tt := range []struct{ name, value, err string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "OTEL_EXPORTER_OTLP_ENDPOINT: "},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://here/v1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
		t.Setenv(tt.name, tt.value)
		tracer, err := openTracer("s", "v")
		text := ""
		if err != nil {
			text = err.Error()
		}
		if tracer != nil || !strings.HasPrefix(text, tt.err) || tt.err == "" && err != nil {
			t.Errorf("%s=%s: %v, %v", tt.name, tt.value, tracer, err)
		}
		tracer.send(span{}) // nil sends none
		if err := tracer.close(); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := openTracer("s", "v"); err == nil {
		t.Error("gRPC is taken for HTTP")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	if to, err := endpoint(); to != "http://localhost:4318/v1/traces" || err != nil {
		t.Errorf("%s, %v", to, err)
	}
}
