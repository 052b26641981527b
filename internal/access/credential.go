package access

import (
	"errors"
	"os"
	"strings"

	"github.com/assay-run/assay"
)

// A Credential is the text of a token, as its holder keeps it in a file:
//
//	assay-worker-v1.NAME.SECRET.CA
//	assay-user-v1.NAME.SECRET.CA
//
// CA is the fingerprint of the server's authority, and is missing if the server has none.
type Credential struct {
	Kind   string // "worker" or "user"
	Name   string
	Secret string
	CA     string // SHA-256 in hexadecimal, or ""
}

// String returns the text. It is a secret.
func (c Credential) String() string {
	s := "assay-" + c.Kind + "-v1." + c.Bearer()
	if c.CA != "" {
		s += "." + c.CA
	}
	return s
}

// Bearer returns the bearer token that is sent to the server: see [Tokens.Check].
func (c Credential) Bearer() string { return c.Name + "." + c.Secret }

// ParseCredential reads the text of a token. The error does not repeat it.
func ParseCredential(text string) (Credential, error) {
	f := strings.Split(strings.TrimSpace(text), ".")
	bad := func(why string) (Credential, error) {
		return Credential{}, assay.WithHint(usagef("this is no token: %s", why),
			"a token is one line, assay-worker-v1.NAME.SECRET.CA, that assay token add has printed")
	}
	if len(f) != 3 && len(f) != 4 {
		return bad("it has not 3 or 4 parts with dots between them")
	}
	c := Credential{Name: f[1], Secret: f[2]}
	switch f[0] {
	case "assay-worker-v1":
		c.Kind = "worker"
	case "assay-user-v1":
		c.Kind = "user"
	default:
		return bad("it begins with neither assay-worker-v1 nor assay-user-v1")
	}
	if len(f) == 4 {
		c.CA = strings.ToLower(f[3])
	}
	switch {
	case !validName(c.Name):
		return bad("its name is invalid")
	case len(c.Secret) != secretLen || strings.Trim(c.Secret, nameBytes) != "":
		return bad("its secret is cut off")
	case c.CA != "" && (len(c.CA) != 64 || strings.Trim(c.CA, "0123456789abcdef") != ""):
		return bad("the fingerprint at its end is cut off")
	}
	return c, nil
}

// ReadCredential reads the file of a token, which only its owner may be able to read.
func ReadCredential(path string) (Credential, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return Credential{}, usagef("%s: there is no such file", path)
		}
		return Credential{}, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Credential{}, assay.WithHint(
			usagef("%s can be read by other users (mode %04o): it is a secret", path, info.Mode().Perm()), "chmod 600 "+path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Credential{}, err
	}
	c, err := ParseCredential(string(b))
	if err != nil {
		return c, assay.WithHint(usagef("%s: %w", path, err), assay.HintOf(err))
	}
	return c, nil
}
