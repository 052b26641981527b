package store

import (
	"regexp"
	"strings"
)

// secretKey finds the values of a URL's query that are secrets.
var secretKey = regexp.MustCompile(`(?i)([a-z_]*(?:password|secret|token)[a-z_]*=)[^&#\s]*`)

// MaskAddress returns the address of a store without its secrets, for messages: in a URL, the password before the
// host and the passwords among its parameters. A part that may be a secret is masked.
func MaskAddress(at string) string {
	scheme, rest, is := strings.Cut(at, "://")
	if !is {
		return secretKey.ReplaceAllString(at, "${1}***")
	}
	// A password that was not escaped may hold any sign, an @ too: the last one ends it.
	if end := strings.LastIndex(rest, "@"); end >= 0 {
		if user, _, has := strings.Cut(rest[:end], ":"); has {
			rest = user + ":***" + rest[end:]
		}
	}
	return scheme + "://" + secretKey.ReplaceAllString(rest, "${1}***")
}
