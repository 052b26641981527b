package main

// This file lists the components of the program: `bill licences` fails if a module has a licence that
// is not allowed, `bill sbom FILE` writes a bill of materials in CycloneDX 1.6. VERSION and
// SOURCE_DATE_EPOCH are taken from the environment, so that the same sources give the same bytes.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func bill(args []string, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "licences":
		program, err := linked("./cmd/assay")
		if err != nil {
			return err
		}
		all, err := linked("./...", "-test")
		if err != nil {
			return err
		}
		return errors.Join(licences(out, "in the program", program, allowed()),
			licences(io.Discard, "in tests", all, forTests()))
	case len(args) == 2 && args[0] == "sbom":
		modules, err := linked("./cmd/assay")
		if err != nil {
			return err
		}
		b, err := sbom(modules, os.Getenv("VERSION"), os.Getenv("SOURCE_DATE_EPOCH"))
		if err != nil {
			return err
		}
		return os.WriteFile(args[1], b, 0o644) //nolint:gosec // it is for all to read
	}
	return errors.New("usage: bill licences | bill sbom FILE")
}

// A module is one that packages are taken from.
type module struct {
	Path, Version, Dir string
	Sum                string   // of its content, as go.sum has it
	Requires           []string // paths of other modules of the list, from which its packages import
	licences           []string // SPDX identifiers
}

// arches are the architectures that the program is built for.
func arches() []string { return []string{"amd64", "arm64"} }

// linked returns the modules of the packages that pattern needs, less our own, by path. It includes
// modules that only one architecture needs.
func linked(pattern string, flags ...string) ([]module, error) {
	byPath := map[string]*module{}
	ofPackage := map[string]string{}
	imports := map[string][]string{}
	for _, arch := range arches() {
		args := append(append([]string{"list", "-deps"}, flags...), "-json=ImportPath,Module,Imports", pattern)
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		cmd.Stderr = os.Stderr
		b, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for d := json.NewDecoder(bytes.NewReader(b)); ; {
			var p struct {
				ImportPath string
				Imports    []string
				Module     *struct {
					Path, Version, Dir, Sum string
					Main                    bool
					Replace                 *struct{ Path string }
				}
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			if p.Module.Replace != nil {
				return nil, fmt.Errorf("%s is replaced by %s: the bill must name the distributed module", p.Module.Path,
					p.Module.Replace.Path)
			}
			ofPackage[p.ImportPath] = p.Module.Path
			imports[p.Module.Path] = append(imports[p.Module.Path], p.Imports...)
			byPath[p.Module.Path] = &module{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir, Sum: p.Module.Sum}
		}
	}
	var list []module
	for path, m := range byPath {
		for _, i := range imports[path] {
			if other := ofPackage[i]; other != "" && other != path {
				m.Requires = append(m.Requires, other)
			}
		}
		slices.Sort(m.Requires)
		m.Requires = slices.Compact(m.Requires)
		var err error
		if m.licences, err = licencesIn(m.Dir); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		list = append(list, *m)
	}
	if len(list) == 0 {
		return nil, errors.New("no modules: is this the root of the repository?")
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// licences lists the modules with their licences. It fails if one has another than is allowed, or none.
func licences(out io.Writer, where string, modules []module, allowed []string) error {
	var bad []string
	for _, m := range modules {
		fmt.Fprintf(out, "%-60s %-28s %s\n", m.Path, m.Version, strings.Join(m.licences, " "))
		if len(m.licences) == 0 {
			bad = append(bad, m.Path+" has no licence that is known")
		}
		for _, l := range m.licences {
			if !slices.Contains(allowed, l) {
				bad = append(bad, m.Path+" has the licence "+l)
			}
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s: %s; allowed are %s", where, strings.Join(bad, ", "), strings.Join(allowed, ", "))
	}
	fmt.Fprintf(out, "%d modules %s, their licences allowed\n", len(modules), where)
	return nil
}

// licencesIn returns the licences of the files in the root of a module, sorted.
func licencesIn(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := strings.ToUpper(e.Name()); e.IsDir() || slices.Contains(passedOver(), e.Name()) || !slices.ContainsFunc(
			[]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if l := classify(string(b)); l != "" {
			found = append(found, l)
		} else {
			found = append(found, "unknown ("+e.Name()+")")
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
