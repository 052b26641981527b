package setup

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/model"
	"github.com/assay-run/assay/spec"
)

// This file has the studies that come with assay. They help the study of a program that they are about, as an earlier
// study of the user does. A study that ships is of the settings of a program and of its speed. The study of a user has
// some of the settings, under names of its own (shippedlink.go), other ranges, and another metric. So the earlier study
// is not the study that ships, but predictions of a forest of its trials: for configurations of the user's study, with
// all other settings at their defaults.

// shippedFiles are the studies: each was made by scripts/knowledge.sh. A file is never changed, because the searches
// that it has helped could not be resumed: a new measurement gets a new name.
//
//go:embed shipped/*.json
var shippedFiles embed.FS

// shippedPrefix begins the names of studies that ship, for people. Names on record may begin with it, too.
const shippedPrefix = "assay:"

// A shipped is a study that comes with assay.
type shipped struct {
	name     string // with the prefix
	digest   string // of its file
	Workload string `json:"workload"` // for people
	// Programs are the names of commands by which a study is found to be of the program. Builders are the names of
	// compilers: they make the program, so that only the commands before the measured one count.
	Programs []string `json:"programs"`
	Builders []string `json:"builders"`
	// Minimize and Maximize are the metrics that grow and fall with the time that the program takes.
	Minimize []string `json:"minimize"`
	Maximize []string `json:"maximize"`
	// Definition is the study as it was stored, and Trials its finished trials: the texts of the values in the order of
	// its parameters, and then the value of the metric.
	Definition json.RawMessage `json:"definition"`
	Trials     [][]any         `json:"trials"`

	load func() (known, error) // makes the rest, once
}

// A known is what a study that ships has learned.
type known struct {
	rate     bool // the values are maximized
	space    *assay.Space
	defaults assay.Config
	forest   assay.Predictor // of the logarithm of the time
}

// shippedStudies reads the studies that ship, by their names.
var shippedStudies = sync.OnceValues(func() ([]*shipped, error) {
	files, err := fs.Glob(shippedFiles, "shipped/*.json")
	if err != nil {
		return nil, err
	}
	var all []*shipped
	for _, file := range files {
		data, err := shippedFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := readShipped(strings.TrimSuffix(path.Base(file), ".json"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, s)
	}
	return all, nil
})

// readShipped reads a study that ships.
func readShipped(name string, data []byte) (*shipped, error) {
	sum := sha256.Sum256(data)
	s := &shipped{name: shippedPrefix + name, digest: hex.EncodeToString(sum[:8])}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	s.load = sync.OnceValues(s.learn)
	return s, nil
}

// learn reads the definition and the trials, and fits the forest.
func (s *shipped) learn() (k known, err error) {
	def, err := spec.Decode(s.Definition)
	if err != nil {
		return k, fmt.Errorf("%s: %w", s.name, err)
	}
	if k.space, err = def.Space(); err != nil {
		return k, fmt.Errorf("%s: %w", s.name, err)
	}
	for _, p := range def.Params {
		if p.Default == nil {
			return k, fmt.Errorf("%s: parameter %s has no default", s.name, p.Name)
		}
	}
	if k.defaults, _, err = def.Default(k.space); err != nil {
		return k, fmt.Errorf("%s: %w", s.name, err)
	}
	k.rate = def.Objective.Maximize
	var d assay.Data
	for i, row := range s.Trials {
		c, y, err := k.trial(row)
		if err != nil {
			return k, fmt.Errorf("%s, trial %d: %w", s.name, i+1, err)
		}
		d.X, d.Y = append(d.X, k.space.Encode(c)), append(d.Y, math.Log(y))
	}
	k.forest, err = model.Forest{MinLeaf: 2, Seed: 1}.Fit(d)
	return k, err
}

// trial reads a row of Trials: a configuration, and the time or the reciprocal of a rate.
func (k known) trial(row []any) (assay.Config, float64, error) {
	if len(row) != len(k.space.Params)+1 {
		return nil, 0, fmt.Errorf("%d values for %d parameters", len(row), len(k.space.Params))
	}
	c := make(assay.Config, len(k.space.Params))
	for i, p := range k.space.Params {
		var err error
		if c[i], err = p.Parse(fmt.Sprint(row[i])); err != nil {
			return nil, 0, err
		}
	}
	y, ok := row[len(c)].(float64)
	if !ok || !(y > 0) {
		return nil, 0, fmt.Errorf("the value %v is not above 0", row[len(c)])
	}
	if k.rate {
		y = 1 / y
	}
	return c, y, nil
}

// about reports whether a study runs the program and minimizes the time that it takes.
func (s *shipped) about(def *spec.Study, goal assay.Goal) bool {
	metrics := s.Minimize
	if goal.Maximize {
		metrics = s.Maximize
	}
	if goal.Several() || goal.Level != nil || !slices.Contains(metrics, goal.Metric) {
		return false
	}
	before := [][]string{def.Setup.Argv, def.Prepare.Argv}
	commands := append(slices.Clone(before), def.Command)
	if def.Service != nil {
		commands = append(commands, def.Service.Start.Argv)
	}
	return runsAny(commands, s.Programs) || runsAny(before, s.Builders)
}

// runsAny reports whether commands run one of the programs, which may have a version, such as gcc-12.
func runsAny(commands [][]string, programs []string) bool {
	for _, argv := range commands {
		for _, arg := range argv {
			for word := range strings.FieldsSeq(arg) {
				if slices.Contains(programs, versionSuffix.ReplaceAllString(filepath.Base(word), "")) {
					return true
				}
			}
		}
	}
	return false
}

var versionSuffix = regexp.MustCompile(`-[0-9][0-9.]*$`)

// leastGain is the least gain that counts, as a logarithm: of one parameter, and of all over the default. Trees differ
// by less where the runs do not.
const leastGain = 0.05

// study returns the earlier study that s is for a study of its program: predictions for configurations of the space.
// ok is false if it has none of the parameters, or predicts no gain over the default.
//
// The best is the end of a path from the default. Each step changes the one parameter whose change is predicted to gain
// most, so that parameters of no effect stay as they are. The others are the trials on the way, and drawn ones. None of
// them is predicted to be better than the end of the path.
func (s *shipped) study(p *Problem) (study prune.Study, ok bool, err error) {
	space, goal := p.Space, p.Goal
	k, err := s.load()
	if err != nil {
		return study, false, err
	}
	k.defaults = k.given(p.Program)
	c, links := k.begin(p)
	if len(links) == 0 {
		return study, false, nil
	}
	study = prune.Study{Name: s.name, Params: space.Params, Goal: goal}
	add := func(c assay.Config) (y float64, ok bool) {
		if c = space.Rested(c); !space.Contains(c) {
			return 0, false
		}
		own := slices.Clone(k.defaults)
		for _, l := range links {
			if own[l.theirs], ok = l.coordinate(c[l.ours]); !ok {
				return 0, false
			}
		}
		y = k.forest.Predict(k.space.Encode(own)).Mean
		t := assay.Trial{State: assay.Done, Value: math.Exp(y)}
		if goal.Maximize {
			t.Value = -math.Exp(-y)
		}
		t.Config = c
		study.Trials = append(study.Trials, t)
		return y, true
	}
	least, ok := add(c)
	if !ok {
		return study, false, nil
	}
	first, end := least, 0
	for range links {
		best, to := least-leastGain, assay.Config(nil)
		for _, l := range links {
			for _, x := range valuesOf(space.Params[l.ours]) {
				next := slices.Clone(c)
				next[l.ours] = x
				if y, ok := add(next); ok && y < best {
					best, to, end = y, next, len(study.Trials)-1
				}
			}
		}
		if to == nil {
			break
		}
		c, least = to, best
	}
	if first-least < leastGain {
		return study, false, nil
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range drawnShipped {
		if c, ok := space.Draw(rng); ok {
			add(c)
		}
	}
	trials := study.Trials
	trials[0], trials[end] = trials[end], trials[0] // of equal trials the first is the best
	for i := range trials {
		trials[i].ID, trials[i].Value = int64(i+1), max(trials[i].Value, trials[0].Value)
	}
	return study, true, nil
}

// drawnShipped is the number of drawn configurations of the earlier study that a study that ships is.
const drawnShipped = 200

// valuesOf returns the values of a parameter to try: all levels, or a grid of nine.
func valuesOf(p assay.Param) []float64 {
	xs := p.Values(16)
	if xs != nil {
		return xs
	}
	for i := range 9 {
		xs = append(xs, p.FromUnit(float64(i)/8))
	}
	return slices.Compact(xs)
}

// shippedHelp reports whether studies that ship may help the study if no study on record does.
func (p *Problem) shippedHelp() bool {
	prior := p.Definition.Prior
	return !prior.None && len(prior.Studies) == 0 && prior.Rule != publishedRule && !p.opts.Alone &&
		p.Definition.Mode() == spec.ModeCommand
}

// Known returns the studies that come with assay and help a study which no study on record helps.
func (p *Problem) Known() (found []spec.PriorStudy, err error) {
	if !p.shippedHelp() {
		return nil, nil
	}
	all, err := shippedStudies()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if !s.about(p.Definition, p.Goal) {
			continue
		}
		if _, ok, err := s.study(p); err != nil {
			return nil, err
		} else if ok {
			found = append(found, spec.PriorStudy{Name: s.name, Trials: len(s.Trials), Digest: s.digest, Ships: true})
		}
	}
	return found, nil
}

// shippedNotes returns a note for the user about studies that ship and help.
func shippedNotes(helpers []spec.PriorStudy) []string {
	var names []string
	for _, h := range helpers {
		names = append(names, h.Name)
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("study %s, which comes with assay, helps (--prior none leaves it out)", names[0])}
	}
	return []string{fmt.Sprintf("%d studies that come with assay help: %s (--prior none leaves them out)", len(names),
		strings.Join(names, ", "))}
}

// shippedSearcher returns the searcher of a study that studies which ship help. They prune nothing, and take part only
// while they rank the trials as the study does.
func (p *Problem) shippedSearcher(helpers []spec.PriorStudy) (assay.Searcher, error) {
	all, err := shippedStudies()
	if err != nil {
		return nil, err
	}
	var studies []prune.Study
	for _, h := range helpers {
		i := slices.IndexFunc(all, func(s *shipped) bool { return s.name == h.Name && s.digest == h.Digest })
		if i < 0 {
			return nil, usagef("the search of this study was helped by %s, which this version of assay does not have: "+
				"it cannot be resumed", h.Name)
		}
		study, ok, err := all[i].study(p)
		if err != nil {
			return nil, err
		}
		if ok {
			studies = append(studies, study)
		}
	}
	if len(studies) == 0 {
		return p.searcher(nil)
	}
	k := prune.NewKnowledge(p.Space, p.Goal, studies)
	return p.searcher(func(inner assay.Searcher) (assay.Searcher, error) {
		return prune.NewTransfer(inner, k, prune.TransferOptions{Seed: p.Definition.Search.Seed, Judged: true}), nil
	})
}
