package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// The conditions of a licence decide, in whatever lines they are written.
func TestClassify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n Version 2.0, January 2004": "Apache-2.0",
		"Permission is hereby granted, free\nof charge ... The above copyright notice and this\n" +
			"permission notice": "MIT",
		"Redistribution and use in source and binary forms ... must retain the above copyright notice": "BSD-2-Clause",
		"Redistribution and use in source and binary forms ... must retain the above copyright notice ... " +
			"Neither the name": "BSD-3-Clause",
		"GNU GENERAL PUBLIC LICENSE Version 3":                                            "GPL",
		"GNU LESSER GENERAL PUBLIC LICENSE":                                               "LGPL",
		"GNU AFFERO GENERAL PUBLIC LICENSE":                                               "AGPL",
		"Mozilla Public License Version 2.0 ... or the GNU Affero General Public License": "MPL-2.0",
		"Business Source License 1.1":                                                     "BUSL",
		"Apache License Version 2.0 with Commons Clause":                                  "Commons-Clause",
		"all rights reserved":                                                             "",
		"":                                                                                "",
	} {
		if got := classify(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, l := range []string{"GPL", "LGPL", "AGPL", "MPL-2.0", "BUSL", "SSPL", "EPL", "Commons-Clause", ""} {
		if slices.Contains(allowed(), l) {
			t.Errorf("%q is allowed", l)
		}
	}
}

// A module without a licence, with one that asks for too much, or with one that is not known, fails.
func TestLicences(t *testing.T) {
	for name, c := range map[string]struct{ file, text, fails string }{
		"none":    {"README", "x", "has no licence"},
		"unknown": {"LICENSE", "all rights reserved", "unknown (LICENSE)"},
		"GPL":     {"COPYING.txt", "GNU General Public License", "has the licence GPL"},
		"Apache":  {"license.md", "Apache License, Version 2.0", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := licencesIn(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = licences(&bytes.Buffer{}, "here", []module{{Path: "m", licences: found}}, allowed())
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: got %v, want %q", name, err, c.fails)
		}
	}
}

// atRoot goes to the root of the repository, whose modules are looked at.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
}

// The licences of all that is in the program are allowed, and of all that tests use.
func TestOurLicences(t *testing.T) {
	testbed.Outside(t)
	atRoot(t)
	var out bytes.Buffer
	if err := bill([]string{"licences"}, &out); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "modernc.org/sqlite") || strings.Contains(out.String(), "pgregory.net/rapid") {
		t.Errorf("of the program: %s", out.String())
	}
}

// The bill is valid by the format's own schema, names the program's modules and nothing else, and is the same twice.
func TestSBOM(t *testing.T) {
	testbed.System(t)
	atRoot(t)
	t.Setenv("VERSION", "1.2.3")
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	dir := t.TempDir()
	var bills [2][]byte
	for i := range bills {
		file := filepath.Join(dir, "sbom.json")
		if err := bill([]string{"sbom", file}, nil); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bills[i] = b
	}
	if !bytes.Equal(bills[0], bills[1]) {
		t.Error("two bills of the same sources differ")
	}
	for want, there := range map[string]bool{
		"pkg:golang/modernc.org/sqlite@": true, `"version": "1.2.3"`: true, "2026-01-01T00:00:00Z": true,
		"pgregory.net/rapid": false, "chromedp": false,
	} {
		if strings.Contains(string(bills[0]), want) != there {
			t.Errorf("%q: there should be: %v", want, there)
		}
	}
	python := filepath.Join(os.Getenv("HOME"), ".cache", "assay", "cyclonedx", "bin", "python")
	if cache := os.Getenv("XDG_CACHE_HOME"); cache != "" {
		python = filepath.Join(cache, "assay", "cyclonedx", "bin", "python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skip("SKIPPED, NOT TESTED against the schema: cyclonedx-python-lib is missing (make deps)")
	}
	validate := `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
e = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
if e: sys.exit(str(e)[:2000])`
	if out, err := exec.Command(python, "-c", validate, filepath.Join(dir, "sbom.json")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, bytes.Replace(bills[0], []byte(`"library"`), []byte(`"book"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if exec.Command(python, "-c", validate, bad).Run() == nil {
		t.Error("the control, which is no bill by the schema, passes")
	}
}
