package access

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// A Role is the set of permissions of a token.
type Role string

// The roles. Each of the first four includes those before it; a worker has none of their permissions.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
	Author   Role = "author"
	Admin    Role = "admin"
	Worker   Role = "worker"
)

// Roles returns all roles.
func Roles() []Role { return []Role{Viewer, Operator, Author, Admin, Worker} }

var ladder = []Role{Viewer, Operator, Author, Admin}

// Includes reports whether r has the permissions of the role needed.
func (r Role) Includes(needed Role) bool {
	if r == Worker || needed == Worker {
		return r == needed
	}
	have, need := slices.Index(ladder, r), slices.Index(ladder, needed)
	return have >= 0 && need >= 0 && have >= need
}

// A Token is the stored part of a token.
type Token struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Scope are beginnings of names of studies that it is for; empty is all.
	Scope []string `json:"scope,omitempty"`
	// Apps are the applications that a worker may have work of; empty is all.
	Apps    []string  `json:"apps,omitempty"`
	SHA256  string    `json:"sha256"` // of the secret, in hexadecimal
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
	By      string    `json:"by,omitempty"` // the token that made it
}

// Ended returns why a token is not valid at a time, "revoked" or "expired", or "" if it is valid.
func (t Token) Ended(now time.Time) string {
	switch {
	case !t.Revoked.IsZero() && !t.Revoked.After(now):
		return "revoked"
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return "expired"
	}
	return ""
}

// May reports whether the token permits an action that needs a role, on a study. An action with study "" concerns the
// server as a whole; a token with a scope permits such an action only if it needs no more than [Viewer].
func (t Token) May(needed Role, study string) bool {
	if !t.Role.Includes(needed) {
		return false
	}
	if len(t.Scope) == 0 {
		return true
	}
	if study == "" {
		return needed == Viewer
	}
	return slices.ContainsFunc(t.Scope, func(prefix string) bool { return strings.HasPrefix(study, prefix) })
}

// check returns an error if a new token is invalid.
func (t Token) check(now time.Time) error {
	switch {
	case !validName(t.Name):
		return usagef("a token is called by 1 to 40 letters, digits, - and _, not %q", t.Name)
	case !slices.Contains(Roles(), t.Role):
		return usagef("no role %q (there are viewer, operator, author, admin and worker)", t.Role)
	case t.Role == Worker && len(t.Scope) > 0:
		return usagef("a worker is limited to applications, not to studies")
	case t.Role != Worker && len(t.Apps) > 0:
		return usagef("only a worker is limited to applications; the role %s is limited to studies", t.Role)
	case slices.Contains(t.Scope, "") || slices.Contains(t.Apps, ""):
		return usagef("an empty name limits nothing")
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return usagef("the token would have expired already")
	}
	for _, app := range t.Apps {
		if strings.Trim(app, nameBytes) != "" {
			return usagef("no application can be called %q: letters, digits, - and _ only", app)
		}
	}
	return nil
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

func validName(s string) bool { return s != "" && len(s) <= 40 && strings.Trim(s, nameBytes) == "" }

func usagef(format string, args ...any) error {
	return assay.WithClass(assay.ClassUsage, fmt.Errorf(format, args...))
}
