package spec

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

// change is a change of one field of a study, and whether a study
// may be resumed with it.
type change struct {
	make func(s *Study)
	free bool
}

// changes has one change for each field of a Study whose type is not plain, and for some others.
var changes = map[string]change{
	"Version":   {func(s *Study) { s.Version++ }, true}, // always the present one
	"Name":      {func(s *Study) { s.Name = "other" }, true},
	"Command":   {func(s *Study) { s.Command = append(slices.Clone(s.Command), "-v") }, false},
	"Shell":     {func(s *Study) { s.Shell = !s.Shell }, false},
	"Env":       {func(s *Study) { s.Env = map[string]string{"A": "2"} }, false},
	"Dir":       {func(s *Study) { s.Dir = "/elsewhere" }, true},
	"Setup":     {func(s *Study) { s.Setup = Setup{Hook: Hook{Argv: []string{"make"}}} }, false},
	"Prepare":   {func(s *Study) { s.Prepare.Argv = []string{"sync"} }, false},
	"Files":     {func(s *Study) { s.Files = []File{{"f", "x"}} }, false},
	"Verify":    {func(s *Study) { s.Verify.Argv = []string{"cmp"} }, false},
	"Inputs":    {func(s *Study) { s.Inputs = []string{"in"} }, false},
	"Outputs":   {func(s *Study) { s.Outputs = []string{"*.log"} }, false},
	"Shared":    {func(s *Study) { s.Shared = []string{"/data"} }, false},
	"Staged":    {func(s *Study) { s.Staged = &Staged{Shared: []assay.Shared{{Path: "/data", Size: 1}}} }, false},
	"Secrets":   {func(s *Study) { s.Secrets = map[string]string{"K": "env:K"} }, true},
	"Warmup":    {func(s *Study) { s.Warmup++ }, false},
	"Cleanup":   {func(s *Study) { s.Cleanup.Shell = !s.Cleanup.Shell }, false},
	"Service":   {func(s *Study) { s.Service = &Service{Restart: "changed"} }, false},
	"App":       {func(s *Study) { s.App = "x264" }, false},
	"Params":    {func(s *Study) { s.Params = s.Params[1:] }, false},
	"Where":     {func(s *Study) { s.Where = append(slices.Clone(s.Where), "threads < 8") }, false},
	"Objective": {func(s *Study) { s.Objective.Maximize = !s.Objective.Maximize }, false},
	"Others":    {func(s *Study) { s.Others = append(s.Others, Objective{Metric: "energy"}) }, false},
	"SubjectTo": {func(s *Study) { s.SubjectTo = nil }, false},
	"Level":     {func(s *Study) { s.Level = Level{"threads", "8"} }, false},
	"Metrics":   {func(s *Study) { s.Metrics = s.Metrics[1:] }, false},
	"Searchers": {func(s *Study) { s.Searchers++ }, true},
	"Search":    {func(s *Study) { s.Search.Seed++ }, false},
	"Stop":      {func(s *Study) { s.Stop.Interval++ }, false},
	"Repeat":    {func(s *Study) { s.Repeat.Runs++ }, false},
	"Pairs":     {func(s *Study) { s.Pairs.Runs++ }, true},
	"Prior":     {func(s *Study) { s.Prior.Auto = !s.Prior.Auto }, false},
	"Budget":    {func(s *Study) { s.Budget.Trials++ }, true},
	"Timeout":   {func(s *Study) { s.Timeout += time.Second }, true},
	"Parallel":  {func(s *Study) { s.Parallel++ }, true},
	"Workbench": {func(s *Study) { s.Workbench = &Workbench{Passive: true} }, false},
	"Placement": {func(s *Study) { s.Placement.On = "elsewhere" }, true},
	"Online":    {func(s *Study) { s.Online = !s.Online }, false},
	"Asked":     {func(s *Study) { s.Asked = !s.Asked }, false},
	"Replay":    {func(s *Study) { s.Replay = &Replay{File: "t.csv"} }, false},
	"Configs":   {func(s *Study) { s.Configs = []assay.Config{{1}} }, false},
}

// Each field of a study is part of its identity, or is free to change: a new one has to
// declare which. Diff finds a difference if and only if the identities differ.
func TestIdentityCoversEveryField(t *testing.T) {
	typ := reflect.TypeFor[Study]()
	for i := range typ.NumField() {
		if f := typ.Field(i); f.IsExported() && changes[f.Name].make == nil {
			changes[f.Name] = changeOf(t, f)
		}
	}
	for name, c := range changes {
		base, other := parse(t, x264), parse(t, x264)
		c.make(other)
		if same := base.Identity() == other.Identity(); same != c.free {
			t.Errorf("%s: the same identity: %v, want %v", name, same, c.free)
		}
		if d := base.Diff(other); (len(d) == 0) != c.free {
			t.Errorf("%s: differs in %q", name, d)
		} else if len(d) > 0 && strings.HasPrefix(d[0], "the table had") != (name == "Configs") {
			t.Errorf("%s: %q names something else", name, d) // the text of Diff if it finds nothing
		}
	}
}

// changeOf returns a change of a field of a plain type, which a study that goes on may have if its key is free.
func changeOf(t *testing.T, f reflect.StructField) change {
	t.Helper()
	of := func(s *Study) reflect.Value { return reflect.ValueOf(s).Elem().FieldByIndex(f.Index) }
	free := false
	for _, k := range keysIn("") {
		if s := (&Study{}); k.field != nil && reflect.ValueOf(k.field(s)).Pointer() == of(s).Addr().Pointer() {
			free = k.Free
		}
	}
	return change{func(s *Study) {
		switch v := of(s); {
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		case v.CanFloat():
			v.SetFloat(v.Float() + 1)
		case v.Kind() == reflect.String:
			v.SetString(v.String() + "x")
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		default:
			t.Fatalf("no change of field %s", f.Name)
		}
	}, free}
}

// Diff is empty if and only if the identity is the same, however a study is changed, in
// both directions. A study that is stored and read back keeps its identity.
func TestIdentityProperty(t *testing.T) {
	base := parse(t, x264)
	var names []string
	for name := range changes {
		if name != "Version" { // a stored study of another one is not read
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *Study {
			s := *base
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, label) {
				changes[name].make(&s)
			}
			return &s
		}
		a, b := draw("a"), draw("b")
		same := a.Identity() == b.Identity()
		if forth, back := a.Diff(b), b.Diff(a); (len(forth) == 0) != same || (len(back) == 0) != same {
			t.Fatalf("the same identity: %v, differs in %q and %q", same, forth, back)
		}
		spec, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := Decode(spec)
		if err != nil {
			t.Fatal(err)
		}
		if stored.Identity() != a.Identity() {
			t.Fatalf("read back, it differs in %q", a.Diff(stored))
		}
		if d := cmp.Diff(a, stored, cmpopts.IgnoreUnexported(Study{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
	})
}

func TestDecodeFlaws(t *testing.T) {
	for spec, want := range map[string]string{
		"":                              "cannot be read",
		"{}":                            "has version 0, this program reads version 1",
		`{"version": 2}`:                "has version 2",
		`{"version": 1, "serach": "x"}`: `unknown field "serach"`,
		`{"version": 1, "name": 5}`:     "cannot be read",
	} {
		if _, err := Decode([]byte(spec)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", spec, err, want)
		}
	}
}

func TestModes(t *testing.T) {
	command := parse(t, x264)
	online := parse(t, x264)
	online.SetOnline()
	table := &Study{Replay: &Replay{File: "t.csv"}}
	for want, s := range map[Mode]*Study{ModeCommand: command, ModeOnline: online, ModeTable: table} {
		if got := s.Mode(); got != want {
			t.Errorf("mode %s, want %s", got, want)
		}
	}
	if online.Command != nil || online.Env != nil || online.Metrics != nil || len(online.Prepare.Argv) > 0 ||
		len(online.Cleanup.Argv) > 0 {
		t.Errorf("on line, what runs a command is left: %+v", online)
	}
	if len(online.Params) != len(command.Params) || online.Search.Name != command.Search.Name {
		t.Error("on line, parameters or search are gone")
	}
	// Before there was a mode, such a study was stored as a command of this form.
	old := `{"version": 1, "command": ["on-line", "{a}"], "parameters": [{"name": "a", "type": "int", "min": 1, "max": 3}],
		"objective": {"metric": ""}}`
	s, err := Decode([]byte(old))
	if err != nil || s.Mode() != ModeOnline || s.Command != nil {
		t.Errorf("got %+v, %v, want a study on line", s, err)
	}
	if s, err = Decode([]byte(strings.Replace(old, "{a}", "{b}", 1))); err != nil || s.Mode() != ModeCommand {
		t.Errorf("got %+v, %v, want a command", s, err)
	}
}

// Place names where a piece was written, At begins a message with it.
func TestPlaces(t *testing.T) {
	s := parse(t, "command: [p, '{a}']\nparameters: {a: 1..3}\nsearch: {name: bayes, window: 3}\nwhere: [a < 3]\n")
	for path, want := range map[string]string{
		"search.name": "study.yaml:3:16", "search.window": "study.yaml:3:23", "where[0]": "study.yaml:4:9",
		"parameters.a": "study.yaml:2:14", "command": "study.yaml:1:10", "stop.rule": "",
	} {
		at := want
		if at != "" {
			at += ": "
		}
		if got := s.Place(path); got != want || s.At(path) != at {
			t.Errorf("%s was written at %q (%q), want %q", path, got, s.At(path), want)
		}
	}
	if got := s.File(); got != "study.yaml" {
		t.Errorf("file %q", got)
	}
}

func TestCheckMetric(t *testing.T) {
	for _, name := range []string{"elapsed", "max_rss", "energy", "involuntary_switches"} {
		if err := new(Study).CheckMetric(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"elapsd": "did you mean elapsed?", "q": "known: elapsed, user"} {
		if err := new(Study).CheckMetric(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}
