package jetstream_test

import (
	"testing"

	"github.com/assay-run/assay/internal/queue/jetstream"
)

// An address is shown without its secrets.
func TestShown(t *testing.T) {
	for url, want := range map[string]string{
		"nats://user:pass@a:1":             "nats://a:1",
		"nats://token@a:1,tls://u:p@x@b:2": "nats://a:1,tls://b:2",
		"u:p@a:1":                          "a:1",
		"unix:/run/assay/fleet.sock":       "unix:/run/assay/fleet.sock",
		"":                                 "",
	} {
		if got := jetstream.Shown(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
