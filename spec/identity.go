package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// identity returns the part of a study that must not change when it is resumed.
func identity(i Study) Study {
	i.Version, i.Searchers, i.file, i.places = Version, 0, "", nil
	i.Prior.Resolved, i.Prior.None = nil, false
	for k := range allKeys {
		if v, ok := allKeys[k].value(&i); ok && allKeys[k].Free { // no free key is below a pointer, which i shares with s
			v.SetZero()
		}
	}
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
			r.File = "" // the content identifies it
		}
		i.Replay = &r
	}
	return i
}

// Identity returns a hash of everything that must not change when a study is
// resumed: all but the keys that are declared free, such as the name, the budget and where the runs are made.
func (s *Study) Identity() string {
	data, err := json.Marshal(identity(*s))
	if err != nil {
		panic("spec: " + err.Error()) // every field can be encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Diff describes the differences of the other study from s within the scope of [Study.Identity], one line each; nil
// if the two are the same study. s is the stored study.
func (s *Study) Diff(other *Study) []string {
	a, b := identity(*s), identity(*other)
	var out []string
	out = append(out, differ("mode", string(a.Mode()), string(b.Mode()))...)
	for _, k := range keysIn("") {
		if k.Free || k.field == nil {
			continue
		}
		if k.differs != nil {
			out = append(out, k.differs(&a, &b)...)
			continue
		}
		was, _ := k.value(&a)
		is, _ := k.value(&b)
		out = append(out, differ(k.Path, was.Interface(), is.Interface())...)
	}
	if len(out) == 0 && s.Identity() != other.Identity() {
		out = append(out, fmt.Sprintf("the table had %d configurations, now %d others", len(a.Configs), len(b.Configs)))
	}
	return out
}

// differ describes the difference of two values of a key: no line or one.
func differ(what string, was, is any) []string {
	x, y := show(was), show(is)
	if x == y {
		return nil
	}
	return []string{fmt.Sprintf("%s was %s, now %s", what, x, y)}
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
