package spec

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/google/go-cmp/cmp"
)

const redis = `
command: [redis-benchmark, -p, "740{slot}", -P, "{pipe}"]
parameters: {io: 1..4, pipe: [1, 16], aof: [on, off]}
service:
  start: [redis-server, --port, "740{slot}", --io-threads, "{io}", "{aof?--appendonly}"]
  ready: {command: [redis-cli, -p, "740{slot}", ping], port: "740{slot}", output: /Ready to accept/, within: 30s}
  stop: redis-cli -p 740$ASSAY_SLOT shutdown
`

// A service is data: its placeholders are replaced, but for the slot, which only the runner knows.
func TestService(t *testing.T) {
	p, err := parse(t, redis).Program()
	if err != nil {
		t.Fatal(err)
	}
	port := "740" + assay.SlotMark
	want := &assay.Service{
		Start: []string{"redis-server", "--port", port, "--io-threads", "3"},
		Ready: assay.Ready{
			Command: []string{"redis-cli", "-p", port, "ping"}, Port: port, Output: "Ready to accept", Within: 30 * time.Second,
		},
		Stop: []string{"sh", "-c", "redis-cli -p 740$ASSAY_SLOT shutdown"},
	}
	if d := cmp.Diff(want, p.Service(assay.Config{3, 0, 0})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if argv := p.Argv(assay.Config{3, 1, 0}); argv[2] != port {
		t.Errorf("the command is %q", argv)
	}
	none, err := parse(t, "command: [p, '{n}', '{slot}']\nparameters: {n: 1..3, slot: [a, b]}").Program()
	if err != nil || none.Service(assay.Config{1, 0}) != nil {
		t.Errorf("a study without a service has one: %v", err)
	}
	if argv := none.Argv(assay.Config{1, 1}); argv[2] != "b" {
		t.Errorf("a parameter of the name slot is %q", argv)
	}
}

// A service that is kept has the same key exactly for configurations that it cannot distinguish.
func TestServiceKey(t *testing.T) {
	for _, tt := range []struct {
		name, start, more string
		uses              []bool // a, b
	}{
		{"arguments", "[s, '{a}']", "", []bool{true, false}},
		{"none", "[s]", "", []bool{false, false}},
		{"a condition", "[s, '{b?-x}']", "", []bool{false, true}},
		{"a line", "s $A", "", []bool{true, false}},
		{"a script", "./s.sh", "", []bool{true, true}},
		{"an interpreter", "[python3, s.py]", "", []bool{true, true}},
		{"an interpreter and an argument", "[python3, s.py, '{b}']", "", []bool{false, true}},
		{"the environment", "[s]", "env: {X: '{b}'}\n", []bool{false, true}},
		{"the setup", "['{setup}/s']", "setup: [cc, '-O{a}']\n", []bool{true, false}},
		{"a file", "[s]", "files: {s.conf: 'x = {b}'}\n", []bool{false, true}},
		{"stop", "[s]", "", []bool{false, true}},
	} {
		text := "command: [c, '{a}', '{b}']\nparameters: {a: [1, 2], b: [1, 2]}\n" + tt.more +
			"service: {restart: changed, start: " +
			tt.start
		if tt.name == "stop" {
			text += ", stop: [x, '{b}']"
		}
		p, err := parse(t, text+"}\n").Program()
		if err != nil {
			t.Fatal(err)
		}
		key := func(a, b float64) string { return p.Service(assay.Config{a, b}).Key }
		for i, other := range []string{key(1, 0), key(0, 1)} {
			if (other != key(0, 0)) != tt.uses[i] {
				t.Errorf("%s: another %c makes another key: %v", tt.name, 'a'+i, other != key(0, 0))
			}
		}
		if key(0, 0) == "" {
			t.Errorf("%s: a service that is kept has no key", tt.name)
		}
	}
	p, err := parse(t, redis).Program()
	if err != nil || p.Service(assay.Config{1, 0, 0}).Key != "" {
		t.Errorf("a service that is started for each run has a key: %v", err)
	}
}

// The key distinguishes services of two studies by their texts alone: texts without a
// parameter count, too.
func TestServiceKeyOfTwoStudies(t *testing.T) {
	const base = "command: [c]\nservice: {restart: changed, start: [s]}\n"
	key := func(text string) string {
		p, err := parse(t, "parameters: {a: [1, 2]}\n"+strings.Replace(text, "[c]", "[c, '{a}']", 1)).Program()
		if err != nil {
			t.Fatal(err)
		}
		return p.Service(assay.Config{0}).Key
	}
	if key(base) != key(strings.Replace(base, "[c]", "[other]", 1)) {
		t.Error("another command makes another service")
	}
	for _, other := range []string{
		strings.Replace(base, "[s]", "[s, -x]", 1),
		strings.Replace(base, "[s]", "[s], stop: [halt]", 1),
		strings.Replace(base, "[s]", "[s], ready: {port: 1}", 1),
		strings.Replace(base, "[s]", "['{setup}/s']", 1) + "setup: [cc, s.c]\n",
		base + "env: {X: y}\n",
		base + "dir: sub\n",
		base + "files: {s.conf: x}\n",
	} {
		if key(base) == key(other) {
			t.Errorf("the same key: %s", other)
		}
	}
	for _, pair := range [][2]string{
		{base + "files: {s.conf: x}\n", base + "files: {s.conf: y}\n"},
		{base + "setup: [cc, s.c]\n", base + "setup: [cc, t.c]\n"},
	} {
		if key(pair[0]) == key(pair[1]) {
			t.Errorf("the same key: %s", pair[1])
		}
	}
}
