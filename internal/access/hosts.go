package access

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Hosts are the names that a request may be sent to. A web page whose own name was bound to the address of the server
// sends its requests to another name.
type Hosts struct {
	Names    []string // an IPv6 address without brackets; 0.0.0.0 and :: name no server
	Loopback bool     // each address of the loopback is a name too
}

// Allow reports whether the Host header of a request is one of the names, with any port or none. Case does not matter.
func (h Hosts) Allow(host string) bool {
	name, ok := hostName(host)
	ip, err := netip.ParseAddr(name)
	if !ok || err == nil && ip.IsUnspecified() {
		return false
	}
	return slices.ContainsFunc(h.Names, func(n string) bool { return strings.EqualFold(n, name) }) ||
		h.Loopback && err == nil && ip.IsLoopback()
}

// hostName returns the name in a Host header: NAME, NAME:PORT, [IPv6] or [IPv6]:PORT.
func hostName(host string) (name string, ok bool) {
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", false
	}
	name = host
	if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasSuffix(name, "]") {
		if _, err := strconv.ParseUint(name[i+1:], 10, 16); err != nil {
			return "", false
		}
		name = name[:i]
	}
	inner, opened := strings.CutPrefix(name, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if opened || closed {
		ip, err := netip.ParseAddr(inner)
		return inner, opened && closed && err == nil && ip.Is6() && ip.Zone() == ""
	}
	return name, name != "" && !strings.Contains(name, ":")
}
