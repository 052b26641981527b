package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
	"github.com/assay-run/assay/internal/workbench"
	"github.com/assay-run/assay/run"
)

// This file checks that this machine has the programs and files that the runs of a command need.

// checkHere makes all checks of this machine, before anything runs.
func checkHere(p *Problem) error {
	for _, check := range []func(*Problem) error{
		checkProgram, checkTraces, checkInputs, checkData, checkSetup,
	} {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

// checkProgram returns an error if a secret cannot be read, or the program of some configuration is missing. The
// name of the program may hang on a parameter: each value of each parameter is tried
// beside the default, up to 64 of one parameter. Programs that two parameters name
// together may be left out; a run of one that is missing is a failed trial, and so is a run of one
// that setup, files or prepare should have made.
func checkProgram(p *Problem) error {
	if err := run.CheckSecrets(p.Definition.SecretVariables()); err != nil {
		return usageError(fmt.Errorf("%s%w", p.Definition.At("secrets"), err))
	}
	d := p.Definition
	made := len(d.Setup.Argv)+len(d.Prepare.Argv)+len(d.Files) > 0
	seen := map[string]bool{}
	check := func(c assay.Config) error {
		argv := p.Program.Argv(c)
		if len(argv) == 0 {
			return usagef("the command is empty for %s", p.Space.Text(c))
		}
		argv[0] = assay.InFirstSlot(argv[0])
		if seen[argv[0]] || strings.Contains(argv[0], assay.SetupDir) {
			return nil
		}
		seen[argv[0]] = true
		_, err := run.LookPath(argv[0], p.Definition.Dir)
		if made && errors.Is(err, fs.ErrNotExist) && strings.Contains(argv[0], "/") {
			return nil
		}
		if err != nil {
			return usageError(fmt.Errorf("%s%w", p.Definition.At("command"), err))
		}
		return nil
	}
	return eachValue(p, check)
}

// checkData returns an error if the data set of some configuration is missing, unless the setup makes it. It tries
// the values of [checkProgram].
func checkData(p *Problem) error {
	seen := map[string]bool{}
	return eachValue(p, func(c assay.Config) error {
		dir := p.Program.Data(c)
		if dir == "" || seen[dir] || strings.Contains(dir, assay.SetupDir) {
			return nil
		}
		seen[dir] = true
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usagef("%sno directory %s, the data set for %s", p.Definition.At("workbench.data"), dir, p.Space.Text(c))
		}
		return nil
	})
}

// checkTraces returns an error for a trace that its resource cannot follow, at its place.
func checkTraces(p *Problem) error {
	return eachValue(p, func(c assay.Config) error {
		traces := p.Definition.Workbench.Followed(p.Space, c)
		for _, resource := range slices.Sorted(maps.Keys(traces)) {
			point, err := workbench.CheckTrace(resource, traces[resource])
			if err == nil {
				continue
			}
			i := p.Space.Index(resource)
			name := p.Space.Params[i].Text(c[i])
			path := "workbench.traces." + name
			if point >= 0 {
				path = fmt.Sprintf("%s[%d]", path, point)
			}
			return usagef("%strace %s: %w", p.Definition.At(path), name, err)
		}
		return nil
	})
}

// eachValue calls f with a configuration, the first to be run if that is known, and with those
// that differ from it in one parameter, up to 64 for each.
func eachValue(p *Problem, f func(c assay.Config) error) error {
	base, _ := p.Space.Draw(newRand(0))
	if len(p.First) > 0 {
		base = p.First[0]
	}
	if err := f(base); err != nil {
		return err
	}
	for i, q := range p.Space.Params {
		for l := range min(q.Count(), 64) {
			c := base.Clone()
			c[i] = q.At(l)
			if c = p.Space.Rested(c); p.Space.Contains(c) {
				if err := f(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkSetup returns an error if the program of the setup is missing, or a pattern of its inputs matches nothing. It
// warns if none of the files that it reads is known.
func checkSetup(p *Problem) error {
	c, ok := p.Space.Draw(newRand(0))
	if len(p.First) > 0 {
		c, ok = p.First[0], true
	}
	s := p.Program.Setup(c)
	if s == nil || !ok {
		return nil
	}
	if _, err := run.LookPath(s.Argv[0], p.Definition.Dir); err != nil {
		return usagef("%ssetup: %w", p.Definition.At("setup"), err)
	}
	files, err := builds.Files(recipeOf(p.Definition, s))
	switch {
	case err != nil:
		return usagef("%ssetup: %w", p.Definition.At("setup"), err)
	case len(files) == 0 && p.Definition.Place("setup.inputs") == "":
		p.opts.Warn("setup: no file is known that it reads, so a change of its sources is not seen: name them, " +
			"setup: {command: ..., inputs: [\"src/**\"]}, or inputs: [] if it reads none")
	}
	return nil
}

// checkInputs returns an error if an input or a shared path of the runs is missing.
func checkInputs(p *Problem) error {
	if _, _, err := inputsOf(p.Definition); err != nil {
		return err
	}
	_, err := sharedOf(p.Definition, true)
	return err
}
