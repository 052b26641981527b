package spec

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// readSecrets reads variables whose values are kept elsewhere; its first argument begins the messages.
func readSecrets(d *decoder, what string, n *yaml.Node) map[string]string {
	return d.variables(n, what, "secrets", "secret", func(value *yaml.Node, one, text string) (string, bool) {
		kind, where, _ := strings.Cut(text, ":")
		switch {
		case kind == "env" && where != "" && !strings.ContainsAny(where, "=\x00"):
		case kind == "file" && where != "" && !strings.Contains(where, "\x00"):
			if !strings.HasPrefix(where, "~/") {
				text = "file:" + d.absolute(value, "dir", filepath.FromSlash(where))
			}
		default:
			// The text may be the secret itself, so it is not repeated.
			d.fail(value, "%s: its place is needed: env:VARIABLE or file:PATH", one)
			return "", false
		}
		return text, true
	})
}

// SecretVariables returns the secrets of runs as a job has them.
func (s *Study) SecretVariables() []string { return secretVariables(s.Secrets) }

func secretVariables(all map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}
