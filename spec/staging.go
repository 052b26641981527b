package spec

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// Limits of the files that a study names: the list goes with each job to a worker, in one message.
const (
	maxInputs    = 200
	maxShared    = 100
	maxPatterns  = 100
	maxInputText = 24 << 10 // bytes of the names of all inputs
)

// A Staged lists the inputs and the shared paths of a study at the time it was given to a server: the files that
// matched the patterns, by their content.
type Staged struct {
	Inputs []assay.Input  `json:"inputs,omitempty"`
	Shared []assay.Shared `json:"shared,omitempty"`
}

// staging checks inputs, outputs and shared paths.
func (c *checker) staging() {
	s := c.study
	list := func(key string, texts []string, most int, flaw func(string) string) {
		if len(texts) > most {
			c.add(key, "", key, 0, "at most %d, not %d", most, len(texts))
		}
		seen := map[string]bool{}
		for i, t := range texts {
			at := fmt.Sprintf("%s[%d]", key, i)
			if f := flaw(t); f != "" {
				c.add(at, t, key, 0, "%q: %s", clip(t), f)
			} else if seen[t] {
				c.add(at, t, key, 0, "%q is there twice", clip(t))
			}
			seen[t] = true
		}
	}
	list("inputs", s.Inputs, maxPatterns, func(t string) string {
		if strings.HasPrefix(t, "/") {
			return "an input is below the directory of the study (shared: is for a path that is the same on all machines)"
		}
		return files.PatternFlaw(strings.TrimSuffix(t, "/"))
	})
	list("outputs", s.Outputs, maxPatterns, files.PatternFlaw)
	list("shared", s.Shared, maxShared, func(t string) string {
		switch {
		case !path.IsAbs(t):
			return "it is no absolute path (inputs: is for files below the directory of the study)"
		case filepath.Clean(t) != strings.TrimSuffix(t, "/") && t != "/":
			return "it is written in another way than " + filepath.Clean(t)
		case strings.ContainsRune(t, 0):
			return "it has a NUL byte"
		}
		return ""
	})
	if s.Staged != nil {
		if f := s.Staged.flaw(s); f != "" {
			c.add("", "", "staged", 0, "%s", f)
		}
	}
}

// flaw returns the flaw of the staged files of a study, or "": they may come from an untrusted client.
func (g *Staged) flaw(s *Study) string {
	names, seen := 0, map[string]bool{}
	for _, in := range g.Inputs {
		names += len(in.Name)
		switch f := files.NameFlaw(in.Name); {
		case f != "":
			return fmt.Sprintf("input %q: %s", clip(in.Name), f)
		case !files.Is(in.SHA256) || in.Size < 0:
			return fmt.Sprintf("input %q has no SHA-256 or no size", clip(in.Name))
		case seen[in.Name]:
			return fmt.Sprintf("input %q is there twice", clip(in.Name))
		}
		seen[in.Name] = true
	}
	for name := range seen { // a file and a directory of one name
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return fmt.Sprintf("input %q is a file, and the directory of input %q", clip(dir), clip(name))
			}
		}
	}
	switch {
	case len(g.Inputs) > maxInputs || names > maxInputText:
		return fmt.Sprintf("%d inputs with names of %s in all: there may be %d, with names of %s (one archive "+
			"that prepare unpacks, or shared: for files on all machines)",
			len(g.Inputs), files.Bytes(int64(names)), maxInputs, files.Bytes(maxInputText))
	case (len(g.Inputs) > 0) != (len(s.Inputs) > 0):
		return "the inputs are not those that the study names"
	case len(g.Shared) != len(s.Shared):
		return "the shared paths are not those that the study names"
	}
	for i, at := range g.Shared {
		if at.Path != s.Shared[i] {
			return "the shared paths are not those that the study names"
		}
	}
	return ""
}

// diff describes how the staged files of another study differ, one line a file.
func (g *Staged) diff(other *Staged) (out []string) {
	switch {
	case g == nil && other == nil:
		return nil
	case g == nil:
		return []string{"inputs and shared paths were read on this machine, now they were given to a server"}
	case other == nil:
		return []string{"inputs and shared paths were given to a server, now they are read on this machine"}
	}
	short := func(in assay.Input) string { return "sha256 " + in.SHA256[:min(12, len(in.SHA256))] + "..." }
	now := map[string]assay.Input{}
	for _, in := range other.Inputs {
		now[in.Name] = in
	}
	for _, in := range g.Inputs {
		is, ok := now[in.Name]
		delete(now, in.Name)
		switch {
		case !ok:
			out = append(out, "input "+in.Name+" is gone")
		case is.SHA256 != in.SHA256:
			out = append(out, fmt.Sprintf("input %s was %s, now %s", in.Name, short(in), short(is)))
		case is.Exec != in.Exec:
			out = append(out, fmt.Sprintf("input %s was executable: %v, now %v", in.Name, in.Exec, is.Exec))
		}
	}
	for _, in := range other.Inputs {
		if _, ok := now[in.Name]; ok {
			out = append(out, "input "+in.Name+" is new")
		}
	}
	for i := range min(len(g.Shared), len(other.Shared)) {
		if a, b := g.Shared[i], other.Shared[i]; a.Path == b.Path && a.Size != b.Size {
			out = append(out, fmt.Sprintf("shared path %s had %d bytes, now %d", a.Path, a.Size, b.Size))
		}
	}
	return out
}

// Stage returns the inputs and the shared paths as a job has them, nil if they were not staged.
func (g *Staged) Stage() (inputs []assay.Input, shared []assay.Shared) {
	if g == nil {
		return nil, nil
	}
	return g.Inputs, g.Shared
}
