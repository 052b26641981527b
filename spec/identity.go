package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// identity returns the part of the study that must not change when it is
// resumed.
func (s *Study) identity() Study {
	i := *s
	i.Version, i.Searchers, i.file, i.places = Version, 0, "", nil
	i.Name, i.Budget, i.Timeout, i.Parallel = "", Budget{}, 0, 0
	i.Dir = "" // a clone or a project that was moved goes on: the command and the space make the study
	i.Prior.Resolved, i.Placement = nil, Placement{}
	i.Setup.Timeout, i.Setup.Parallel = 0, false
	i.Secrets = nil
	i.Stop.Gain = 0 // when to end, as a budget says
	if i.Objective.Metric == "" {
		i.Objective.Metric = "elapsed"
	}
	if i.Search.Name == "" {
		i.Search.Name = "auto"
	}
	if i.Stop.Rule == "" {
		i.Stop.Rule = "auto"
	}
	if i.Repeat.Runs == 0 && !i.Repeat.Auto {
		i.Repeat.Runs = 1
	}
	if i.Replay != nil {
		r := *i.Replay
		if r.Digest != "" {
			r.File = "" // the content says it all
		}
		i.Replay = &r
	}
	return i
}

// Identity returns a hash of everything that must not change when a study is
// resumed: parameters, configurations, relations, command and its environment,
// setup, hooks, inputs and their content, outputs, objective, limits, metrics, search with its seed and options, stop,
// repeat, and the table. Free to change are name, budget, the gain that ends it, timeout, parallel, the
// secrets, the directory, and where the runs are made.
func (s *Study) Identity() string {
	data, err := json.Marshal(s.identity())
	if err != nil {
		panic("spec: " + err.Error()) // every field can be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Diff says in words how the other study differs from s in what [Study.Identity]
// covers, one line a difference; nil if it does not. s is the stored study.
func (s *Study) Diff(other *Study) []string {
	a, b := s.identity(), other.identity()
	var out []string
	differ := func(what string, was, is any) {
		x, y := show(was), show(is)
		if x != y {
			out = append(out, fmt.Sprintf("%s was %s, now %s", what, x, y))
		}
	}
	out = append(out, diffParams(a.Params, b.Params)...)
	differ("mode", string(a.Mode()), string(b.Mode()))
	differ("command", a.Command, b.Command)
	differ("app", a.App, b.App)
	differ("shell", a.Shell, b.Shell)
	differ("env", a.Env, b.Env)
	differ("setup", a.Setup, b.Setup)
	differ("prepare", a.Prepare, b.Prepare)
	differ("files", a.Files, b.Files)
	differ("verify", a.Verify, b.Verify)
	differ("inputs", a.Inputs, b.Inputs)
	differ("outputs", a.Outputs, b.Outputs)
	differ("shared", a.Shared, b.Shared)
	out = append(out, a.Staged.diff(b.Staged)...)
	differ("warmup", a.Warmup, b.Warmup)
	differ("cleanup", a.Cleanup, b.Cleanup)
	differ("service", a.Service, b.Service)
	differ("where", a.Where, b.Where)
	differ("objective", objectivesText(a.Objectives()), objectivesText(b.Objectives()))
	differ("subject_to", a.SubjectTo, b.SubjectTo)
	differ("metrics", a.Metrics, b.Metrics)
	differ("search", a.Search, b.Search)
	differ("stop", a.Stop, b.Stop)
	differ("repeat", a.Repeat, b.Repeat)
	differ("workbench", a.Workbench, b.Workbench)
	differ("prior", a.Prior, b.Prior)
	differ("level", a.Level, b.Level)
	differ("replay", a.Replay, b.Replay)
	if len(out) == 0 && s.Identity() != other.Identity() {
		out = append(out, fmt.Sprintf("the table had %d configurations, now %d others", len(a.Configs), len(b.Configs)))
	}
	return out
}

func (o Objective) text() string {
	if o.Maximize {
		return "maximize " + o.Metric
	}
	return "minimize " + o.Metric
}

// show returns a piece of a study as short JSON.
func show(v any) string {
	if t, ok := v.(string); ok {
		return t
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	switch t := string(data); t {
	case "null", "{}", "[]", `""`:
		return "nothing"
	default:
		if len(t) > 300 {
			t = strings.ToValidUTF8(t[:300], "") + "..."
		}
		return t
	}
}

func diffParams(a, b []Param) []string {
	var out []string
	index := func(ps []Param, name string) int {
		return slices.IndexFunc(ps, func(p Param) bool { return p.Name == name })
	}
	for _, p := range a {
		i := index(b, p.Name)
		if i < 0 {
			out = append(out, "parameter "+p.Name+" is gone")
			continue
		}
		if x, y := p.text(), b[i].text(); x != y {
			out = append(out, fmt.Sprintf("parameter %s was %s, now %s", p.Name, x, y))
		} else if x, y := show(p), show(b[i]); x != y {
			out = append(out, fmt.Sprintf("parameter %s was %s, now %s", p.Name, x, y))
		}
	}
	for _, p := range b {
		if index(a, p.Name) < 0 {
			out = append(out, "parameter "+p.Name+" is new")
		}
	}
	order := func(ps []Param) string {
		names := make([]string, len(ps))
		for i, p := range ps {
			names[i] = p.Name
		}
		return strings.Join(names, ", ")
	}
	if len(out) == 0 && order(a) != order(b) {
		out = append(out, "the parameters were in the order "+order(a)+", now "+order(b))
	}
	return out
}
