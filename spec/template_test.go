package spec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

var templateParams = []assay.Param{
	{Name: "level", Kind: assay.Integer, Lo: 1, Hi: 19},
	{Name: "psy", Kind: assay.Switch, Levels: []string{"off", "on"}},
	{Name: "mode", Kind: assay.Categorical, Levels: []string{"none", "fast", "{level}", "; rm -rf /", "", "Default"}},
	{Name: "dct", Kind: assay.Switch, Levels: []string{"0", "1"}},
	{Name: "rate", Kind: assay.Real, Lo: 0, Hi: 1},
}

func templateNames() []string {
	var names []string
	for _, p := range templateParams {
		names = append(names, p.Name)
	}
	return names
}

func TestTemplate(t *testing.T) {
	on := assay.Config{3, 1, 1, 1, 0.25}
	off := assay.Config{3, 0, 0, 0, 0}
	tests := []struct {
		text    string
		on, off string // "-" means left out
	}{
		{"plain", "plain", "plain"},
		{"", "", ""},
		{"-{level}", "-3", "-3"},
		{"{level}{level}", "33", "33"},
		{"{{level}}", "{level}", "{level}"},
		{"{{{level}}}", "{3}", "{3}"},
		{"a}}b{{c", "a}b{c", "a}b{c"},
		{"{psy}", "on", "off"},
		{"{psy?--psy}", "--psy", "-"},
		{"{psy?}", "", "-"},
		{"x{psy?--psy}", "x--psy", "x"},
		{"{psy?--psy}{dct?--dct}", "--psy--dct", "-"},
		{"{psy?--level={level}}", "--level=3", "-"},
		{"{mode?--mode={mode}}", "--mode=fast", "-"},
		{"{psy?{{x}}}", "{x}", "-"},
		{"{dct?8x8}", "8x8", "-"},
		{"{level?yes}", "yes", "yes"},
		{"{rate?{rate}}", "0.25", "0"},
		{"é{psy?ü}", "éü", "é"},
	}
	for _, tt := range tests {
		tmpl, err := ParseTemplate(tt.text, templateNames())
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		for _, c := range []struct {
			config assay.Config
			want   string
		}{{on, tt.on}, {off, tt.off}} {
			got, ok := tmpl.Expand(templateParams, c.config)
			if !ok {
				got = "-"
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", tt.text, got, c.want)
			}
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	for text, want := range map[string]struct {
		message string
		column  int
	}{
		"{lvel}":              {`no parameter "lvel" (did you mean {level}?)`, 1},
		"é{nothing}":          {`no parameter "nothing" (write {{ and }} for braces)`, 2},
		"{}":                  {`no parameter ""`, 1},
		"a{level":             {"{ without }", 2},
		"a}":                  {"a single }", 2},
		"{level}}":            {"a single }", 8},
		"{psy?x":              {"without its closing }", 5},
		"{psy?{level":         {"{ without }", 6},
		"{psy?{dct?x}}":       {"a condition within a condition", 6},
		"{le{vel}":            {"{ without }", 1},
		"x{psy?{nope}} {nope": {`no parameter "nope"`, 7},
	} {
		_, err := ParseTemplate(text, templateNames())
		e, ok := errors.AsType[*TemplateError](err)
		if !ok || !strings.Contains(e.Message, want.message) || e.Column != want.column {
			t.Errorf("%s: got %v, want %q at %d", text, err, want.message, want.column)
		}
	}
}

// The hostile values of requirement S5: a value is data.
func TestValueIsData(t *testing.T) {
	values := []string{
		"; touch canary", "$(touch canary)", "`touch canary`", "'", "\"", "\\", "a b", "a\tb", "a\nb", "\r\n", "-rf",
		"--", "{{x}}", "{level}", "{x?y}", "}",
		"{", "%s", "*", "~", "&", "|", ">canary", "#", "!", "é", "\u202e", "\xff", "=", ",", "a=b", "..", "/",
		"$HOME", "${IFS}", "\x01", "\x7f",
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.SampledFrom(values), rapid.String()).Draw(t, "value")
		if strings.ContainsRune(v, 0) {
			return
		}
		params := []Param{{Name: "v", Type: "categorical", Values: []string{v, "other" + v}}}
		s := &Study{
			Command: []string{"prog", "{v}", "--v={v}", "{{v}}"}, Params: params,
			Env: map[string]string{"V": "<{v}>"},
		}
		if _, err := s.Check(); err != nil {
			t.Fatal(err)
		}
		p, err := s.Program()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Argv(assay.Config{0}), []string{"prog", v, "--v=" + v, "{v}"}; !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got, want := p.Env(assay.Config{0}), []string{"V=<" + v + ">"}; !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		s = &Study{Command: []string{"echo $V {v}"}, Shell: true, Params: params}
		if p, err = s.Program(); err != nil {
			t.Fatal(err)
		}
		if got, want := p.Argv(assay.Config{0}), []string{"sh", "-c", "echo $V {v}"}; !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got, want := p.Env(assay.Config{0}), []string{"V=" + v, "v=" + v}; !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
	s := &Study{
		Command: []string{"prog", "{v}"},
		Params:  []Param{{Name: "v", Type: "categorical", Values: []string{"a\x00b"}}},
	}
	if _, err := s.Check(); err == nil || !strings.Contains(err.Error(), "NUL byte") {
		t.Errorf("got %v", err)
	}
}

func TestProgram(t *testing.T) {
	s := parse(t, x264)
	p, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	c := assay.Config{4, 2.5, 0, 0, 2, 1} // psy off
	if got, want := p.Argv(c), []string{
		"x264", "--threads", "4", "--preset=fast", "-q2.5", "-b",
		"64M",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.Env(c), append(p.ParamEnv(c), "OMP_NUM_THREADS=4"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: a study with hooks exports its parameters", got, want)
	}
	if got, want := p.Prepare(c), []string{"rm", "-f", "out-4.mkv"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.Cleanup(c), []string{"sh", "-c", "rm -f *.log"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.Metrics(c)[0].String(), "size:out-4.mkv"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, want := range []string{"fps=stdout:/fps: ([0-9.]+)/", "psnr=json:r.json#/psnr"} {
		if m := p.Metrics(c)[i+1]; m.Name+"="+m.String() != want {
			t.Errorf("got %v of %s, want %s", m, m.Name, want)
		}
	}
	want := []string{
		"THREADS=4", "threads=4", "QUALITY=2.5", "quality=2.5", "PRESET=fast", "preset=fast", "PSY=false", "psy=false",
		"BUFFER_SIZE=64M", "buffer_size=64M", "LEVEL=1", "level=1",
	}
	if got := p.ParamEnv(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { p.Argv(c) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

// A file and a pointer have placeholders each: the text of a value does not
// change where the one ends and the other begins.
func TestMetricPlaceholders(t *testing.T) {
	s, _, err := Parse("study.yaml", []byte(`command: [p, "{d}"]
parameters: {d: {values: [a, "x#/y", "{d}"]}}
metrics:
  whole: {json: out.json}
  both: {json: "{d}.json#/m/{d}"}
  size: "size:{{{d}"
  text: 'stdout:/\{d}(x)/'
  line: 'cmd: echo {d}'
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range []string{"a", "x#/y", "{d}"} {
		all := p.Metrics(assay.Config{float64(i)})
		if len(all) != 5 {
			t.Fatalf("got %v", all)
		}
		if m := all[0]; m.Kind != assay.FromJSON || m.File != "out.json" || m.Pointer != "" {
			t.Errorf("got %+v", m)
		}
		if m := all[1]; m.File != d+".json" || m.Pointer != "/m/"+d {
			t.Errorf("d=%s: got %+v", d, m)
		}
		if all[2].File != "{"+d || all[3].Pattern.String() != `\{d}(x)` || all[4].Command != " echo {d}" {
			t.Errorf("d=%s: got %+v", d, all[2:])
		}
	}
}

func TestShellNames(t *testing.T) {
	for name, want := range map[string]string{
		"path": "would replace the variable PATH", "ld-preload": "would replace the variable LD_PRELOAD",
		"assay_run": "would replace",
	} {
		s := &Study{Command: []string{"run"}, Shell: true, Params: []Param{{Name: name, Type: "int", Min: 1, Max: 2}}}
		if _, err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
		s.Shell, s.Command = false, []string{"run", "{" + name + "}"}
		if _, err := s.Check(); err != nil {
			t.Errorf("%s without a shell: %v", name, err)
		}
	}
	s := &Study{Command: []string{"run"}, Shell: true, Params: []Param{
		{Name: "a-b", Type: "int", Min: 1, Max: 2},
		{Name: "a.b", Type: "int", Min: 1, Max: 2},
	}}
	if _, err := s.Check(); err == nil || !strings.Contains(err.Error(),
		"parameters a-b and a.b are the same variable") {
		t.Errorf("got %v", err)
	}
}
