package setup

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// Builds returns what keeps the outcome of setups for the studies of this user: the directory builds
// beside the default store.
func Builds() (*builds.Cache, error) {
	path, err := store.DefaultPath()
	if err != nil {
		return nil, usageError(err)
	}
	return builds.New(filepath.Join(filepath.Dir(path), "builds"), 0), nil
}

// BuildsFact says how much the outcome of setups takes on disk, and how it is removed.
func BuildsFact() run.Fact {
	f := run.Fact{Name: "builds", Hint: "set XDG_STATE_HOME: a study with a setup needs a place to keep what it makes"}
	cache, err := Builds()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	all, err := cache.List()
	if err != nil {
		f.Detail, f.Hint = err.Error(), ""
		return f
	}
	var bytes int64
	for _, b := range all {
		bytes += b.Bytes
	}
	f.Available, f.Hint = true, "assay study builds --clear removes them"
	f.Detail = fmt.Sprintf("%d of %s, at most %s, in %s", len(all), report.Metric(float64(bytes), "B"),
		report.Metric(float64(cache.Limit()), "B"), cache.Dir())
	if len(all) == 0 {
		f.Hint = ""
	}
	return f
}

// Folder returns the folder that a setup of a study has made on this machine, "" if it was not made.
func Folder(def *spec.Study, s *assay.Setup) string {
	cache, err := Builds()
	if err != nil {
		return ""
	}
	key, err := cache.Key(recipeOf(def, s))
	if err != nil {
		return ""
	}
	folder, _ := cache.Find(key)
	return folder
}

// SetupFolder implements [result.Folders].
func (*Store) SetupFolder(def *spec.Study, s *assay.Setup) string { return Folder(def, s) }

func recipeOf(def *spec.Study, s *assay.Setup) builds.Recipe {
	return builds.Recipe{Argv: s.Argv, Env: s.Env, Dir: def.Dir, Inputs: s.Inputs}
}

// recipe returns what the setup of a configuration depends on.
func (p *Problem) recipe(s *assay.Setup) builds.Recipe {
	return recipeOf(p.Definition, s)
}

// checkSetup returns an error if the program of the setup is missing, or a pattern of its inputs fits
// nothing. It warns if nothing is known of the files that it reads.
func (p *Problem) checkSetup() error {
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
	files, err := builds.Files(p.recipe(s))
	switch {
	case err != nil:
		return usagef("%ssetup: %w", p.Definition.At("setup"), err)
	case len(files) == 0:
		p.opts.Warn("setup: no file is known that it reads, so a change of its sources is not seen: name them, " +
			"setup: {command: ..., inputs: [\"src/**\"]}")
	}
	return nil
}

// Argv returns the command of a configuration, for people and for those who run it without a
// study: with the folder of its setup as far as that was made, else with {setup}.
func (p *Problem) Argv(c assay.Config) []string { return p.withFolder(c, p.Program.Argv(c)) }

// withFolder replaces what stands for the folder of the setup, and for the slot.
func (p *Problem) withFolder(c assay.Config, texts []string) []string {
	folder := "{setup}"
	if s := p.Program.Setup(c); s != nil {
		folder = cmp.Or(Folder(p.Definition, s), folder)
	}
	out := slices.Clone(texts)
	for i, t := range out {
		out[i] = strings.ReplaceAll(assay.InFirstSlot(t), assay.SetupDir, folder)
	}
	return out
}
