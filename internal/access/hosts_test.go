package access

import "testing"

func TestHosts(t *testing.T) {
	server := Hosts{Names: []string{"localhost", "127.0.0.1", "::1", "Lab.example.org", "0.0.0.0", "::"}}
	machine := Hosts{Names: []string{"assay", "localhost"}, Loopback: true}
	for _, c := range []struct {
		host            string
		server, machine bool
	}{
		{"localhost", true, true},
		{"localhost:8080", true, true},
		{"LOCALHOST:1", true, true},
		{"127.0.0.1:7700", true, true},
		{"[::1]", true, true},
		{"[::1]:7700", true, true},
		{"lab.EXAMPLE.org:7700", true, false},
		{"assay", false, true},
		{"127.8.0.1:80", false, true}, // the loopback has 2^24 addresses
		{"[::ffff:127.0.0.1]:80", false, true},

		{"", false, false},
		{":80", false, false},
		{"evil.example", false, false},
		{"evil.example:80", false, false},
		{"localhost.evil.example", false, false},
		{"127.0.0.1.evil.example", false, false},
		{"localhost@evil.example", false, false},
		{"localhost.", false, false},
		{"localhost:", false, false},
		{"localhost:+1", false, false},
		{"localhost:http", false, false},
		{"localhost:70000", false, false},
		{"localhost:80:80", false, false},
		{" localhost", false, false},
		{"[localhost", false, false},
		{"localhost]", false, false},
		{"[localhost]", false, false},
		{"[127.0.0.1]", false, false},
		{"::1", false, false}, // an IPv6 address has brackets
		{"::1]", false, false},
		{"[::1", false, false},
		{"[[::1]]", false, false},
		{"[::1]]:80", false, false},
		{"[::1]80", false, false},
		{"[::1%lo]", false, false},
		{"[::2]:80", false, false},
		{"0.0.0.0", false, false},
		{"[::]:80", false, false},
		{"loc\u0430lhost", false, false},
		{"localho\u017ft", false, false}, // a letter that folds to s
		{"10.0.0.5", false, false},
		{"127.1", false, false},
		{"2130706433", false, false},
		{"0x7f000001", false, false},
		{"localhost%00", false, false},
	} {
		if got := server.Allow(c.host); got != c.server {
			t.Errorf("a server: %q: %v", c.host, got)
		}
		if got := machine.Allow(c.host); got != c.machine {
			t.Errorf("a machine: %q: %v", c.host, got)
		}
	}
	if (Hosts{}).Allow("localhost") {
		t.Error("no names: localhost is allowed")
	}
}
