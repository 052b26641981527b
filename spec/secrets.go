package spec

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// secrets reads variables whose values are elsewhere. what begins the messages.
func (d *decoder) secrets(what string, n *yaml.Node) map[string]string {
	all := map[string]string{}
	d.pairs(n, what+"secrets", func(key, value *yaml.Node) {
		if key.Value == "" || strings.ContainsAny(key.Value, "=\x00") {
			d.fail(key, "%ssecrets: %q is no name of a variable", what, clip(key.Value))
			return
		}
		t, ok := d.text(value, what+"secret "+clip(key.Value))
		if !ok {
			return
		}
		kind, where, _ := strings.Cut(t, ":")
		switch {
		case kind == "env" && where != "" && !strings.ContainsAny(where, "=\x00"):
		case kind == "file" && where != "" && !strings.Contains(where, "\x00"):
			if !strings.HasPrefix(where, "~/") {
				t = "file:" + d.absolute(value, filepath.FromSlash(where))
			}
		default:
			// What stands there may be the secret itself, so it is not repeated.
			d.fail(value, "%ssecret %s: where it is has to be said: env:VARIABLE or file:PATH", what, clip(key.Value))
			return
		}
		d.mark("secrets."+key.Value, value)
		all[key.Value] = t
	})
	return all
}

// SecretVariables returns the secrets of runs as a job has them.
func (s *Study) SecretVariables() []string { return secretVariables(s.Secrets) }

func secretVariables(all map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}
