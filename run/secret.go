package run

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
)

// mostSecret is how long the value of a secret may be: an argument or a variable of the environment is not longer.
const mostSecret = 128 << 10

// resolve returns variables, "NAME=value", for secrets that a job names by where they are. Its errors name the place
// and never the value.
func resolve(secrets []string) (env []string, err error) {
	for _, s := range secrets {
		name, from, _ := strings.Cut(s, "=")
		kind, where, ok := strings.Cut(from, ":")
		if name == "" || !ok || where == "" {
			return nil, assay.Errorf(assay.ClassUsage, "secret %s is neither env:VARIABLE nor file:PATH", name)
		}
		var value string
		switch kind {
		case "env":
			if value, ok = os.LookupEnv(where); !ok {
				return nil, assay.Errorf(assay.ClassUsage, "secret %s: the variable %s is not set", name, where)
			}
		case "file":
			if value, err = secretFile(where); err != nil {
				return nil, assay.Errorf(assay.ClassUsage, "secret %s: %v", name, err) // %w would mean that the program is missing
			}
		default:
			return nil, assay.Errorf(assay.ClassUsage, "secret %s: %s: is neither env: nor file:", name, kind)
		}
		if strings.IndexByte(value, 0) >= 0 {
			return nil, assay.Errorf(assay.ClassUsage, "secret %s has a NUL byte", name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// CheckSecrets returns an error if a secret cannot be read on this machine now.
func CheckSecrets(secrets []string) error {
	_, err := resolve(secrets)
	return err
}

// secretFile returns the content of a file, without the end of its last line. ~ is the home directory.
func secretFile(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	if err == nil && len(b) > mostSecret {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is longer than a variable can be")}
	}
	if err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))), nil
}
