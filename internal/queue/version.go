package queue

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay"
)

// skew is how many minor versions a worker may be older or newer than the server.
const skew = 1

// serves returns an error if the versions of a server and a worker are incompatible: their major versions differ, or
// their minor versions by more than skew. A build that is not a release has no number, and is served.
func serves(server, worker string) error {
	major, minor, ok := release(server)
	otherMajor, otherMinor, otherOK := release(worker)
	if !ok || !otherOK || major == otherMajor && max(minor-otherMinor, otherMinor-minor) <= skew {
		return nil
	}
	name := func(v string) string { v, _, _ = strings.Cut(v, " "); return v }
	return assay.WithHint(
		assay.Errorf(assay.ClassUsage, "a worker of version %s is not served by a server of version %s", name(worker),
			name(server)),
		"they may be one minor version apart: install the server's, or the one before or after it")
}

// release returns the numbers of a version such as "v1.4.2" or "v1.4.2 go1.26". A pseudo-version
// without a release before it has none.
func release(version string) (major, minor int, ok bool) {
	n, err := fmt.Sscanf(version, "v%d.%d.", &major, &minor)
	if err != nil || n != 2 || major < 0 || minor < 0 || strings.HasPrefix(version, "v0.0.0-") {
		return 0, 0, false
	}
	return major, minor, true
}
