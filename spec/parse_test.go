package spec

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-run/assay"
)

const x264 = `
name: x264-azure
command: ["x264", "--threads", "{threads}", "--preset={preset}", "{psy?--psy}", "-q{quality}", "-b", "{buffer-size}"]
dir: media
env: {OMP_NUM_THREADS: "{threads}"}
prepare: [rm, -f, "out-{threads}.mkv"]
cleanup: "rm -f *.log"
warmup: 1
parameters:
  threads: {type: int, min: 1, max: 8}
  quality: {type: real, min: 0.1, max: 10, log: true, default: 1.5}
  preset:  {type: categorical, values: [fast, slow]}
  psy: {type: bool}
  buffer-size: {values: [1M, 4M, 64M], unit: B}
  level: 1..64:step=4
where: ["threads <= 4 || preset == 'fast'", "buffer_size >= 4*1024**2"]
objective: {minimize: elapsed}
subject_to: ["energy <= 300", "out_size < 1e9"]
metrics:
  out_size: {size: "out-{threads}.mkv", unit: B}
  fps: {stdout: 'fps: ([0-9.]+)'}
  psnr: json:r.json#/psnr
search: {name: bayes, seed: 1, candidates: 500, ard: true, kernel: matern, ladder: [1, 2.5, x]}
stop: {rule: predictive, interval: 5s}
repeat: {runs: 3, estimator: min}
budget: {time: 10m, trials: 100, target: 0.5}
timeout: 2d
parallel: 2
`

func parse(t *testing.T, text string) *Study {
	t.Helper()
	s, _, err := Parse("study.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	s, warnings, err := Parse("study.yaml", []byte(x264), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, quality := 0.5, "1.5"
	want := &Study{
		Version: 1,
		Name:    "x264-azure",
		Command: []string{
			"x264", "--threads", "{threads}", "--preset={preset}", "{psy?--psy}", "-q{quality}", "-b",
			"{buffer-size}",
		},
		Env:     map[string]string{"OMP_NUM_THREADS": "{threads}"},
		Prepare: Hook{Argv: []string{"rm", "-f", "out-{threads}.mkv"}},
		Cleanup: Hook{Argv: []string{"rm -f *.log"}, Shell: true},
		Warmup:  1,
		Params: []Param{
			{Name: "threads", Type: "int", Min: 1, Max: 8},
			{Name: "quality", Type: "real", Min: 0.1, Max: 10, Log: true, Default: &quality},
			{Name: "preset", Type: "categorical", Values: []string{"fast", "slow"}},
			{Name: "psy", Type: "bool", Values: []string{"false", "true"}},
			{Name: "buffer-size", Type: "ordinal", Values: []string{"1M", "4M", "64M"}, Unit: "B"},
			{Name: "level", Type: "int", Min: 1, Max: 64, Step: 4},
		},
		Where:     []string{"threads <= 4 || preset == 'fast'", "buffer_size >= 4*1024**2"},
		Objective: Objective{Metric: "elapsed"},
		SubjectTo: []string{"energy <= 300", "out_size < 1e9"},
		Metrics: []Metric{
			{Name: "out_size", Source: "size:out-{threads}.mkv", Unit: "B"},
			{Name: "fps", Source: "stdout:/fps: ([0-9.]+)/"},
			{Name: "psnr", Source: "json:r.json#/psnr"},
		},
		Search: Method{Name: "bayes", Seed: 1, Options: map[string]any{
			"candidates": 500.0, "ard": true,
			"kernel": "matern", "ladder": []any{1.0, 2.5, "x"},
		}},
		Stop:     Stop{Rule: "predictive", Interval: 5 * time.Second},
		Repeat:   Repeat{Runs: 3, Estimator: "min"},
		Budget:   Budget{Time: 10 * time.Minute, Trials: 100, Target: &target},
		Timeout:  48 * time.Hour,
		Parallel: 2,
	}
	want.Dir, _ = filepath.Abs("media")
	if d := cmp.Diff(want, s, cmpopts.IgnoreUnexported(Study{})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	// Nothing names level. The hooks have the parameters exported, so that x264 could read it.
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "parameter level is named nowhere: ") {
		t.Errorf("warnings %q, want one of level", warnings)
	}
	if got, want := s.Place("search.kernel"), "study.yaml:23:60"; got != want {
		t.Errorf("place of an option %q, want %q", got, want)
	}

	space, err := s.Space()
	if err != nil {
		t.Fatal(err)
	}
	if got := space.Dim(); got != 6 {
		t.Errorf("%d dimensions, want 6", got)
	}
	goal, err := s.Goal()
	if err != nil {
		t.Fatal(err)
	}
	if goal.Metric != "elapsed" || !goal.Grows || goal.Unit != "s" || len(goal.Limits) != 2 {
		t.Errorf("goal %+v", goal)
	}
	c, ok, err := s.Default(space)
	if err != nil || !ok || c[1] != 1.5 || !space.Contains(c) {
		t.Errorf("default %v, %v, %v", c, ok, err)
	}
}

// The stored form is read back as the same study, without the file.
func TestStoredForm(t *testing.T) {
	s := parse(t, x264)
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, got, cmpopts.IgnoreUnexported(Study{})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got.Identity() != s.Identity() || got.Diff(s) != nil {
		t.Errorf("another identity: %v", got.Diff(s))
	}
	for _, bad := range []string{``, `{}`, `{"version":2}`, `{"version":1,"nope":2}`, `[`} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("Decode(%s) reports no error", bad)
		}
	}
}

// Everything may be left out but the command and the parameters.
func TestParseShortForms(t *testing.T) {
	s := parse(t, `
command: [prog, "{a}{b}{c}{d}{e}"]
parameters:
  a: 1..8
  b: [1, 2, 4]
  c: [on, off]
  d: {min: 0.5, max: 2}
  e: gzip,zstd
search: random
stop: none
repeat: auto
budget: 90s
where: a < 4
`)
	want := []Param{
		{Name: "a", Type: "int", Min: 1, Max: 8},
		{Name: "b", Type: "ordinal", Values: []string{"1", "2", "4"}},
		{Name: "c", Type: "bool", Values: []string{"off", "on"}},
		{Name: "d", Type: "real", Min: 0.5, Max: 2},
		{Name: "e", Type: "categorical", Values: []string{"gzip", "zstd"}},
	}
	if d := cmp.Diff(want, s.Params); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if s.Search.Name != "random" || s.Stop.Rule != "none" || !s.Repeat.Auto || s.Budget.Time != 90*time.Second ||
		!slices.Equal(s.Where, []string{"a < 4"}) {
		t.Errorf("got %+v", s)
	}
	if g, err := s.Goal(); err != nil || g.Metric != "elapsed" || !g.Grows {
		t.Errorf("goal %+v, %v", g, err)
	}
}

func TestParseAnchors(t *testing.T) {
	s := parse(t, "command: [p, '{a}{b}']\nparameters:\n  a: &r {type: int, min: 1, max: 3}\n  b: *r\n")
	if want := (Param{Name: "b", Type: "int", Min: 1, Max: 3}); !reflect.DeepEqual(s.Params[1], want) {
		t.Errorf("got %+v, want %+v", s.Params[1], want)
	}
}

// A metric that grows is only one that is minimized.
func TestGrows(t *testing.T) {
	for objective, want := range map[string]bool{
		"minimize: elapsed": true, "maximize: elapsed": false, "minimize: energy": true, "minimize: max_rss": false,
		"minimize: mine": false,
	} {
		s := parse(t, "command: [p, '{a}']\nparameters: {a: 1..3}\nmetrics: {mine: "+
			"'size:x'}\nobjective: {"+objective+"}\n")
		if g, err := s.Goal(); err != nil || g.Grows != want {
			t.Errorf("%s: got %v, %v", objective, g.Grows, err)
		}
	}
}

// Flags are applied before the study is checked as a whole.
func TestEdit(t *testing.T) {
	file := "command: [p, '{a}', '{b}']\nparameters: {a: 1..3}\n"
	if _, _, err := Parse("s.yaml", []byte(file), nil); err == nil {
		t.Error("the file alone has no flaw")
	}
	s, _, err := Parse("s.yaml", []byte(file), func(s *Study) error {
		b, err := ParamSpec("b=1..4")
		s.Params = append(s.Params, b)
		return err
	})
	if err != nil || len(s.Params) != 2 {
		t.Errorf("got %v, %v", s, err)
	}
	stop := errors.New("stop")
	if _, _, err := Parse("s.yaml", []byte(file), func(*Study) error { return stop }); err != stop {
		t.Errorf("got %v, want the error of edit", err)
	}
	_, _, err = Parse("s.yaml", []byte(file), func(s *Study) error {
		s.Command = []string{"p", "{a}", "{c}"}
		return nil
	})
	if err == nil || strings.Contains(err.Error(), "s.yaml:1") {
		t.Errorf("got %v, want an error that does not point into the file", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(path, []byte("command: [p, '{a}']\nparameters: {a: 1..3}\ndir: sub\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, err := Load(path, nil)
	if err != nil || s.Dir != filepath.Join(dir, "sub") {
		t.Errorf("got %v, %v", s, err)
	}
	_, _, err = Load(filepath.Join(dir, "nope.yaml"), nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nope.yaml: no such file") {
		t.Errorf("got %v", err)
	}
	if _, _, err := Load(dir, nil); err == nil || !strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("got %v", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(big, nil); err == nil || !strings.Contains(err.Error(),
		"1024 MiB: a study file has at most 16 MiB") {
		t.Errorf("got %v", err)
	}
	if _, _, err := Load("/dev/zero", nil); err == nil || !strings.Contains(err.Error(), "at most 16 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestIdentity(t *testing.T) {
	base := parse(t, x264)
	free := map[string]string{
		"name: x264-azure": "name: other", "time: 10m": "time: 20m", "trials: 100": "trials: 50",
		"timeout: 2d": "timeout: 1d",
		"parallel: 2": "parallel: 4", "target: 0.5": "target: 0.25",
	}
	for old, now := range free {
		s := parse(t, strings.Replace(x264, old, now, 1))
		if s.Identity() != base.Identity() || base.Diff(s) != nil {
			t.Errorf("%s: another identity: %v", now, base.Diff(s))
		}
	}
	fixed := map[string][3]string{
		"min: 1, max: 8":          {"min: 1, max: 9", "parameter threads was int 1..8, now int 1..9"},
		"default: 1.5":            {"default: 2", "parameter quality was"},
		"seed: 1":                 {"seed: 2", "search was"},
		"candidates: 500":         {"candidates: 400", "search was"},
		"minimize: elapsed":       {"maximize: fps", "objective was minimize elapsed, now maximize fps"},
		"energy <= 300":           {"energy <= 30", "subject_to was"},
		"rule: predictive":        {"rule: static", "stop was"},
		"runs: 3":                 {"runs: 4", "repeat was"},
		"threads <= 4":            {"threads <= 5", "where was"},
		"--threads":               {"--thread", "command was"},
		"warmup: 1":               {"warmup: 2", "warmup was 1, now 2"},
		"  level: 1..64:step=4\n": {"", "parameter level is gone"},
		"rm -f *.log":             {"rm -f *.txt", "cleanup was"},
	}
	for old, now := range fixed {
		s := parse(t, strings.Replace(x264, old, now[0], 1))
		if s.Identity() == base.Identity() {
			t.Errorf("%s: the same identity", now[0])
		}
		if d := base.Diff(s); len(d) != 1 || !strings.HasPrefix(d[0], now[1]) {
			t.Errorf("%s: differs in %q, want one that begins with %q", now[0], d, now[1])
		}
	}
}

const replayed = `
replay:
  file: data.csv
  where: {machine: azure, frames: 128, release: 10.0}
  parameters: [threads, preset]
  metrics: {elapsed: [t1, t2], energy: e}
  unit_scale: {elapsed: 0.001}
  ok: {column: status, equals: correct}
parameters:
  threads: {type: int, unit: cores}
where: ["threads <= 2 || preset == 'fast'"]
objective: {minimize: energy}
`

func TestReplay(t *testing.T) {
	s := parse(t, replayed)
	want := &Replay{
		File: "data.csv", Where: map[string]string{"machine": "azure", "frames": "128", "release": "10.0"},
		Parameters: []string{"threads", "preset"},
		Metrics:    map[string][]string{"elapsed": {"t1", "t2"}, "energy": {"e"}},
		UnitScale:  map[string]float64{"elapsed": 0.001},
		OKColumn:   "status", OKEquals: "correct",
	}
	if d := cmp.Diff(want, s.Replay); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := s.Space(); err == nil {
		t.Error("a space without the table")
	}
	params := []assay.Param{
		{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 4},
		{Name: "preset", Kind: assay.Categorical, Levels: []string{"slow", "fast"}},
	}
	configs := []assay.Config{{1, 0}, {2, 0}, {4, 0}, {4, 1}}
	if err := s.Resolve(params, configs, "abc"); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	space, err := stored.Space()
	if err != nil || space.Size().N != 3 || !space.Listed() {
		t.Errorf("space of %v, %v; want the 3 rows that satisfy the relation", space, err)
	}
	if stored.Params[0].Unit != "cores" {
		t.Errorf("lost the unit: %+v", stored.Params[0])
	}
	if g, err := stored.Goal(); err != nil || !g.Grows || g.Unit != "J" {
		t.Errorf("goal %+v, %v", g, err)
	}
	changed := parse(t, replayed)
	if err := changed.Resolve(params, configs[:3], "abd"); err != nil {
		t.Fatal(err)
	}
	if d := stored.Diff(changed); len(d) != 1 || !strings.HasPrefix(d[0], "replay was") {
		t.Errorf("differs in %q", d)
	}

	bad := parse(t, strings.Replace(replayed, "preset == 'fast'", "preste == 'fast'", 1))
	err = bad.Resolve(params, configs, "abc")
	if err == nil || !strings.HasPrefix(err.Error(),
		"study.yaml:11:26: where 1: unknown name preste (did you mean preset?)") {
		t.Errorf("got %v", err)
	}
}
