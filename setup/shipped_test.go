package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// rated is a study that ships of a made program: its rate is 100 for each MB of buffer, twice that with commit off, and
// does not depend on pace.
func rated(t testing.TB, change func(map[string]any)) *shipped {
	t.Helper()
	of := map[string]any{
		"workload": "a test", "programs": []string{"daemon"}, "builders": []string{"maker"},
		"minimize": []string{"elapsed"}, "maximize": []string{"rate"},
		"definition": json.RawMessage(`{"version": 1, "command": ["load"], "parameters": [
			{"name": "buffer_size", "type": "int", "min": 64, "max": 4096, "log": true, "default": "128", "unit": "8kB"},
			{"name": "commit", "type": "categorical", "values": ["on", "off"], "default": "on"},
			{"name": "pace", "type": "ordinal", "values": ["1", "10", "100"], "default": "10"}],
			"objective": {"metric": "rate", "maximize": true},
			"metrics": [{"name": "rate", "source": "stdout:/([0-9.]+)/"}]}`),
	}
	var rows [][]any
	for _, buffer := range []int{64, 128, 256, 512, 1024, 2048, 4096} {
		for i, commit := range []string{"on", "off"} {
			for _, pace := range []string{"1", "10", "100"} {
				rows = append(rows, []any{fmt.Sprint(buffer), commit, pace, float64(buffer) / 128 * 100 * float64(1+i)})
			}
		}
	}
	of["trials"] = rows
	if change != nil {
		change(of)
	}
	data, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	s, err := readShipped("rated-1", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tuned returns the problem of a study file of a program.
func tuned(t testing.TB, text string) *Problem {
	t.Helper()
	def, _, err := spec.Parse("tuned.yaml", []byte("check: 0\n"+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(def, Options{Runner: daemon{}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A daemon is the made program as users run it.
type daemon struct{}

func (daemon) Run(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	metrics := map[string]float64{"elapsed": 1, "max_rss": float64(job.ID.Trial)}
	return assay.Measurement{Elapsed: time.Second, Metrics: metrics}, nil
}

const tunedText = `
command: [daemon, '--buffer={buffer-size}', '--commit={commit}', '--pace={pace}', '--own={own}']
parameters:
  own: {type: int, min: 1, max: 9, default: 4}
  pace: {type: ordinal, values: [1, 10, 100], default: 100}
  commit: {type: categorical, values: ["off", "on"], default: "on"}
  buffer-size: {type: ordinal, values: [1MB, 8MB, 64MB], default: 1MB}
objective: {minimize: elapsed}
`

// The earlier study of a study that ships has the parameters, the values and the metric of the user's: amounts in other
// units, levels in another order. Its best configuration differs from the default by the parameters that matter.
func TestShippedStudy(t *testing.T) {
	p := tuned(t, tunedText)
	s := rated(t, nil)
	if !s.about(p.Definition, p.Goal) {
		t.Fatal("it is not about its program")
	}
	study, ok, err := s.study(p)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := prune.Match(p.Space, p.Goal, study); err != nil {
		t.Fatal(err)
	}
	best, _ := assay.Best(study.Trials)
	// 64MB is beyond the range of the study, whose 4096 buffers have 32 MB.
	if got, want := p.Space.Text(best.Config), "own=4 pace=100 commit=off buffer-size=64MB"; got != want {
		t.Errorf("best %s, want %s", got, want)
	}
	at := func(texts string) float64 {
		i := slices.IndexFunc(study.Trials, func(t assay.Trial) bool { return p.Space.Text(t.Config) == texts })
		if i < 0 {
			t.Fatalf("no trial %s", texts)
		}
		return study.Trials[i].Value
	}
	first := at("own=4 pace=100 commit=on buffer-size=1MB")
	if r := first / at("own=4 pace=100 commit=off buffer-size=1MB"); !(math.Abs(math.Log(r/2)) < 0.3) {
		t.Errorf("commit=off is %g times as fast, want 2", r)
	}
	if r := first / at("own=4 pace=100 commit=on buffer-size=8MB"); !(math.Abs(math.Log(r/8)) < 0.5) {
		t.Errorf("8MB is %g times as fast, want 8", r)
	}
	// The same of a rate, which is maximized.
	p = tuned(t, strings.Replace(tunedText, "minimize: elapsed", "maximize: rate", 1)+
		"metrics: {rate: 'stdout:/([0-9]+)/'}\n")
	if study, ok, err = s.study(p); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if best, _ = assay.Best(study.Trials); !(best.Value < -1000) || !strings.Contains(p.Space.Text(best.Config), "64MB") {
		t.Errorf("best %s: %g", p.Space.Text(best.Config), best.Value)
	}
}

// A parameter whose default the study that ships has not tried stays at it, and of two parameters that write one
// setting the first is helped.
func TestShippedLeavesOut(t *testing.T) {
	s := rated(t, nil)
	for _, tt := range []struct{ own, commit, want string }{
		{
			"{type: int, min: 1, max: 9, default: 4}", `{values: ["off", local], default: local}`,
			"own=4 pace=100 commit=local buffer-size=64MB",
		},
		{
			`{values: ["off", "on"], default: "on"}`, `{values: ["off", "on"], default: "on"}`,
			"own=off pace=100 commit=on buffer-size=64MB",
		},
	} {
		p := tuned(t, `
command: [daemon, '--buffer={buffer-size}', '--commit={own}', '--commit={commit}', '--pace={pace}']
parameters:
  own: `+tt.own+`
  pace: {type: ordinal, values: [1, 10, 100], default: 100}
  commit: `+tt.commit+`
  buffer-size: {type: ordinal, values: [1MB, 8MB, 64MB], default: 1MB}
`)
		study, ok, err := s.study(p)
		if err != nil || !ok {
			t.Errorf("%s: %v, %v", tt.want, ok, err)
			continue
		}
		if best, _ := assay.Best(study.Trials); p.Space.Text(best.Config) != tt.want {
			t.Errorf("best %s, want %s", p.Space.Text(best.Config), tt.want)
		}
	}
}

// A study that ships helps its program alone, for metrics of its speed, and only with parameters that matter.
func TestShippedHelpsItsProgram(t *testing.T) {
	s := rated(t, nil)
	for _, tt := range []struct {
		name, old, now string
		about, ok      bool
	}{
		{"as it is", "daemon", "/usr/sbin/daemon", true, true},
		{"another program", "daemon", "demon", false, false},
		{"a service", "command: [daemon,", "service: {start: [daemon]}\ncommand: [load,", true, true},
		{"a shell line", "command: [daemon,", "setup: 'cd x && daemon --init'\ncommand: [load,", true, true},
		{"a version", "command: [daemon,", "command: [daemon-12.1,", true, true},
		{"a compiler", "command: [daemon,", "setup: [maker, x]\ncommand: [load,", true, true},
		{"the time of a compiler", "command: [daemon,", "command: [maker,", false, false},
		{"memory", "minimize: elapsed", "minimize: max_rss", false, false},
		{"the wrong way", "minimize: elapsed", "maximize: elapsed", false, false},
		{"two objectives", "{minimize: elapsed}", "{minimize: [elapsed, max_rss]}", false, false},
		{"no parameter of it", "", "", true, false},
		{"no parameter that matters", "", "", true, false},
	} {
		text := strings.ReplaceAll(tunedText, tt.old, tt.now)
		switch tt.name {
		case "no parameter of it":
			text = "command: [daemon, '{own}']\nparameters: {own: 1..9}\n"
		case "no parameter that matters":
			text = "command: [daemon, '{pace}']\nparameters: {pace: {values: [1, 10, 100]}}\n"
		}
		p := tuned(t, text)
		if got := s.about(p.Definition, p.Goal); got != tt.about {
			t.Errorf("%s: about is %v", tt.name, got)
		}
		if !tt.about {
			continue
		}
		if _, ok, err := s.study(p); ok != tt.ok || err != nil {
			t.Errorf("%s: %v, %v", tt.name, ok, err)
		}
	}
}

// Numbers are compared in base units, or as they are if one side has no unit. Texts are compared as they are.
func TestLinks(t *testing.T) {
	number := func(unit string) assay.Param {
		return assay.Param{Kind: assay.Integer, Lo: 0, Hi: 1 << 20, Unit: unit}
	}
	levels := func(unit string, texts ...string) assay.Param {
		return assay.Param{Kind: assay.Ordinal, Levels: texts, Unit: unit}
	}
	words := func(texts ...string) assay.Param { return assay.Param{Kind: assay.Categorical, Levels: texts} }
	for _, tt := range []struct {
		from, to assay.Param
		x        string
		want     string // "" without a link, "?" for a value that was not tried
	}{
		{number("8kB"), number("MB"), "256", "2"},
		{levels("", "8MB", "64MB"), number("8kB"), "64MB", "8192"},
		{number("kB"), levels("", "1MB", "16MB", "64MB"), "20000", "16MB"},
		{levels("", "100ms", "1s"), number("ms"), "1s", "1000"},
		{number("us"), number(""), "500", "500"},
		{number("us"), levels("", "0", "100", "1000"), "500", "1000"},
		{levels("", "8MB", "64MB"), number(""), "64MB", ""},
		{number("MB"), number("kB"), "1048576", "1048576"}, // beyond the range
		{words("on", "off"), words("off", "on"), "off", "off"},
		{words("on", "off", "local"), words("off", "on"), "local", "?"},
		{words("on", "off"), number(""), "on", ""},
		{number(""), words("on", "off"), "1", ""},
	} {
		tt.from.Name, tt.to.Name = "a-b", "a_b"
		from, err := assay.NewSpace([]assay.Param{tt.from})
		if err != nil {
			t.Fatal(err)
		}
		to, err := assay.NewSpace([]assay.Param{tt.to})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range (known{space: to}).links(from, nil, nil) {
			x, err := tt.from.Parse(tt.x)
			if err != nil {
				t.Fatal(err)
			}
			if y, ok := l.coordinate(x); !ok {
				got = "?"
			} else {
				got = tt.to.Text(y)
			}
		}
		if got != tt.want {
			t.Errorf("%s of %+v in %+v is %q, want %q", tt.x, tt.from, tt.to, got, tt.want)
		}
	}
}

// A parameter is the setting whose value it writes on a command line, whatever its name. Where it writes nothing, the
// setting is at its default.
func TestLinksByArgument(t *testing.T) {
	settings, err := assay.NewSpace([]assay.Param{
		{Name: "O", Kind: assay.Categorical, Levels: []string{"-O1", "-O2", "-O3"}},
		{Name: "ffast_math", Kind: assay.Categorical, Levels: []string{"-fno-fast-math", "-ffast-math"}},
		{Name: "gc", Kind: assay.Categorical, Levels: []string{"-XX:+UseG1GC", "-XX:+UseSerialGC"}},
		{Name: "Xmx", Kind: assay.Ordinal, Levels: []string{"128m", "512m"}},
		{Name: "NewRatio", Kind: assay.Integer, Lo: 1, Hi: 8},
		{Name: "size", Kind: assay.Ordinal, Levels: []string{"-2", "-1"}},
		{Name: "append", Kind: assay.Categorical, Levels: []string{"no", "yes"}},
		{Name: "io_threads", Kind: assay.Integer, Lo: 1, Hi: 8},
		{Name: "param_max_inline", Kind: assay.Integer, Lo: 1, Hi: 90},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := known{space: settings, defaults: assay.Config{1, 0, 0, 1, 2, 0, 0, 1, 15}}
	for _, tt := range []struct{ args, values, x, want string }{
		{`"-{a}"`, "[O2, O3, Os]", "O3", "O=-O3"},
		{`"-{a}"`, "[O2, O3, Os]", "Os", "O=?"},
		{`"{a}"`, "[-O2, -O3]", "-O3", "O=-O3"},
		{`"{a?-ffast-math}"`, `["off", "on"]`, "on", "ffast_math=-ffast-math"},
		{`"{a?-ffast-math}"`, `["off", "on"]`, "off", "ffast_math=-fno-fast-math"},
		{`"-XX:+Use{a}GC"`, "[Serial, Parallel, G1]", "Serial", "gc=-XX:+UseSerialGC"},
		{`"-Xms{a}", "-Xmx{a}"`, "[120m, 480m]", "480m", "Xmx=512m"},
		{`"-XX:NewRatio={a}"`, "[1, 2, 4]", "4", "NewRatio=4"},
		{`--io-threads, "{a}"`, "[1, 4]", "4", "io_threads=4"},
		{`"--param=max-inline={a}"`, "[5, 30]", "30", "param_max_inline=30"},
		{`"{a?-O3}{a?-g}"`, `["off", "on"]`, "on", ""},
		{`"-O{a}{b}"`, "[2, 3]", "3", ""},
		{`"{a}"`, "[-2, -1]", "-1", ""},
		{`"{a}"`, `["no", "yes"]`, "yes", ""},
		{`"{a}"`, "[2, 3]", "3", ""},
	} {
		def, _, err := spec.Parse("a.yaml", []byte("command: [run, "+tt.args+"]\nparameters:\n"+
			"  a: {type: categorical, values: "+tt.values+"}\n  b: [1, 2]\nenv: {B: '{b}'}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(def, Options{Runner: daemon{}})
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.Space.Params[0].Parse(tt.x)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, l := range k.links(p.Space, p.Program, assay.Config{0, 0}) {
			y, ok := l.coordinate(x)
			q := settings.Params[l.theirs]
			if got += q.Name + "="; !ok {
				got += "?"
			} else if got += q.Text(y); l.ours == 0 {
				if back, ok := l.back(y); !ok || back != x {
					t.Errorf("%s: %s is %v, %v in return, want %v", tt.args, got, back, ok, x)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s of %s is %q, want %q", tt.x, tt.args, got, tt.want)
		}
	}
}

// A setting that the user's commands fix has this value, and not its default.
func TestShippedGiven(t *testing.T) {
	settings, err := assay.NewSpace([]assay.Param{
		{Name: "O", Kind: assay.Categorical, Levels: []string{"-O1", "-O2", "-O3"}},
		{Name: "appendonly", Kind: assay.Categorical, Levels: []string{"no", "yes"}},
		{Name: "shared_buffers", Kind: assay.Integer, Lo: 16, Hi: 1 << 20, Unit: "8kB"},
		{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := known{space: settings, defaults: assay.Config{1, 0, 128, 2}}
	for _, tt := range []struct{ setup, command, want string }{
		{"[cc, x.c]", "[run, '{a}']", "O=-O2 appendonly=no shared_buffers=128 threads=2"},
		{"[cc, -O3, x.c]", "[run, '{a}', --appendonly, yes]", "O=-O3 appendonly=yes shared_buffers=128 threads=2"},
		{
			"'cc -O1 x.c'", "[run, -c, shared_buffers=8MB, '--threads={a}', --threads=junk]",
			"O=-O1 appendonly=no shared_buffers=1024 threads=2",
		},
		{"[cc, -Os, x.c]", "[run, '-XX:threads=4', '{a}']", "O=-O2 appendonly=no shared_buffers=128 threads=4"},
	} {
		p := tuned(t, "setup: "+tt.setup+"\ncommand: "+tt.command+"\nparameters: {a: 1..9}\n")
		if got := settings.Text(k.given(p.Program)); got != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.setup, tt.command, got, tt.want)
		}
	}
	// A buffer that helps with commit off alone helps a program whose command has it off.
	s := rated(t, func(of map[string]any) {
		for _, row := range of["trials"].([][]any) {
			if row[1] == "on" {
				row[3] = 100
			}
		}
	})
	for commit, want := range map[string]bool{"on": false, "off": true} {
		p := tuned(t, "command: [daemon, --commit, '"+commit+"', '--buffer_size={b}']\n"+
			"parameters: {b: {type: ordinal, values: [1MB, 8MB], default: 1MB}}\n")
		if _, ok, err := s.study(p); ok != want || err != nil {
			t.Errorf("with commit %s it helps: %v, %v", commit, ok, err)
		}
	}
}

// ships has the program carry studies until the test ends.
func ships(t *testing.T, all ...*shipped) {
	t.Helper()
	was := shippedStudies
	shippedStudies = func() ([]*shipped, error) { return all, nil }
	t.Cleanup(func() { shippedStudies = was })
}

// A study of a known program begins with its default and with the best that is known, is resumed with the same search,
// and not by a program that lacks the study. prior: none begins without.
func TestShippedHelp(t *testing.T) {
	ships(t, rated(t, nil))
	st := InMemory(store.NewMem())
	second := func(p *Problem) string {
		sd, err := p.Study(t.Context(), st, p.Name())
		if err != nil {
			t.Fatal(err)
		}
		defer sd.Close()
		if _, err := sd.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var last string
		for row, err := range st.Trials(t.Context(), sd.Name, 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			last = p.Space.Text(row.Trial.Config)
		}
		return last
	}
	p := tuned(t, "name: one\nbudget: {trials: 2}\n"+tunedText)
	if got, want := second(p), "own=4 pace=100 commit=off buffer-size=64MB"; got != want {
		t.Errorf("the second run is %s, want %s", got, want)
	}
	if first, err := p.Preview(2); err != nil || p.Space.Text(first[1]) != "own=4 pace=100 commit=off buffer-size=64MB" {
		t.Errorf("the preview is %v, %v", first, err)
	}
	def, err := st.Definition(t.Context(), "one")
	if err != nil || len(def.Prior.Resolved) != 1 || def.Prior.Resolved[0].Name != "assay:rated-1" {
		t.Errorf("helped by %+v, %v", def.Prior.Resolved, err)
	}
	// The word none does not make it another study.
	if got := second(tuned(t, "name: one\nprior: none\nbudget: {trials: 2}\n"+tunedText)); !strings.Contains(got, "64MB") {
		t.Errorf("resumed with none, the last run is %s", got)
	}
	if got := second(tuned(t, "name: two\nprior: none\nbudget: {trials: 2}\n"+tunedText)); strings.Contains(got, "64MB") {
		t.Errorf("without a study, the second run is %s", got)
	}
	ships(t, rated(t, func(of map[string]any) { of["workload"] = "another" }))
	if _, err := tuned(t, "name: one\n"+tunedText).Study(t.Context(), st, "one"); err == nil ||
		!strings.Contains(err.Error(), "assay:rated-1, which this version of assay does not have") {
		t.Errorf("resumed by a program without the study: %v", err)
	}
}

// A study of the user may have a name like the ones of studies that ship.
func TestShippedName(t *testing.T) {
	ships(t, rated(t, nil))
	st := memory(t)
	text := "budget: {trials: 4}\n" + strings.Replace(tunedText, "minimize: elapsed", "minimize: max_rss", 1)
	for _, tt := range []struct{ name, prior string }{{"assay:mine", "none"}, {"next", "[assay:mine]"}} {
		p := tuned(t, "name: "+tt.name+"\nprior: "+tt.prior+"\n"+text)
		sd, err := p.Study(t.Context(), st, p.Name())
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if _, err := sd.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if err := sd.Close(); err != nil {
			t.Error(err)
		}
	}
	if def, err := st.Definition(t.Context(), "next"); err != nil || len(def.Prior.Resolved) != 1 {
		t.Errorf("helped by %+v, %v", def.Prior.Resolved, err)
	}
}

// The studies that ship can be read, have at most 2 MB together, and belong to a study file of scripts/knowledge.
func TestShippedFiles(t *testing.T) {
	all, err := shippedStudies()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(shippedFiles, "shipped/*")
	if err != nil || len(files) != len(all) || len(all) < 2 {
		t.Fatalf("%d studies of %d files, %v", len(all), len(files), err)
	}
	size := 0
	for i, s := range all {
		b, err := shippedFiles.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		size += len(b)
		k, err := s.load()
		if err != nil {
			t.Error(err)
			continue
		}
		name := s.name[len(shippedPrefix):strings.LastIndex(s.name, "-")]
		def, _, err := spec.Load(filepath.Join("..", "scripts", "knowledge", name+".yaml"), nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if space, err := def.Space(); err != nil || !reflect.DeepEqual(space.Params, k.space.Params) {
			t.Errorf("%s has other parameters than its study file, %v", s.name, err)
		}
		programs, metrics := append(s.Programs, s.Builders...), append(s.Minimize, s.Maximize...)
		if len(s.Trials) < 50 || s.Workload == "" || len(programs) == 0 || len(metrics) == 0 {
			t.Errorf("%s: %d trials of %q, %q, %q", path.Base(files[i]), len(s.Trials), s.Workload, programs, metrics)
		}
	}
	if size > 2<<20 {
		t.Errorf("%d bytes", size)
	}
}
