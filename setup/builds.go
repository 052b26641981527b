package setup

import (
	"fmt"
	"path/filepath"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// Builds returns the cache of the outcomes of setups for the studies of this user: the directory builds beside the
// default store.
func Builds() (*builds.Cache, error) {
	path, err := store.DefaultPath()
	if err != nil {
		return nil, usageError(err)
	}
	return builds.New(filepath.Join(filepath.Dir(path), "builds"), 0), nil
}

// BuildsFact reports the size of the outcomes of setups on disk, and how to remove them.
func BuildsFact() run.Fact {
	f := run.Fact{Name: "builds", Hint: "set XDG_STATE_HOME: a study with a setup needs a place to keep its results"}
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

// recipeOf returns everything that a setup depends on.
func recipeOf(def *spec.Study, s *assay.Setup) builds.Recipe {
	return builds.Recipe{Argv: s.Argv, Env: s.Env, Dir: def.Dir, Inputs: s.Inputs}
}
