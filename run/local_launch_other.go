//go:build !amd64

package run

// launcher returns nil: programs are started directly.
func launcher() []byte { return nil }
