package spec

import (
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// An argument of one parameter has the text that the command gets, and names the option whose value ends it.
func TestArguments(t *testing.T) {
	def, _, err := Parse("a.yaml", []byte(`
setup: [cc, "-O{level}", "{fast?-ffast-math}", "{both}={level}"]
prepare: 'cc -O$level "-march=$BOTH" --jobs "$level" ${both}=$level -D"$level" "$level"$HOME ${level:-2} {level} && :'
service: {start: [server, -c, "buffers={buffers}", --threads, "{level}"], ready: {output: x}}
command: [run, "-XX:Ratio={level}", "{level}", "{both}"]
parameters:
  level: {type: ordinal, values: [1, 2, 3]}
  fast: {type: bool}
  buffers: {type: ordinal, values: [8MB, 64MB]}
  both: {type: ordinal, values: [1, 2]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := def.Program()
	if err != nil {
		t.Fatal(err)
	}
	c := assay.Config{2, 1, 1, 0}
	type argument struct{ text, name string }
	for i, want := range [][]argument{
		{{"-O3", "O"}, {"-O3", "O"}, {"--jobs=3", "jobs"}, {"--threads=3", "threads"}, {"-XX:Ratio=3", "Ratio"}, {"3", ""}},
		{{"-ffast-math", ""}},
		{{"buffers=64MB", "buffers"}},
		{{"-march=1", "march"}, {"1", ""}},
	} {
		all := p.Arguments(i)
		if len(all) != len(want) {
			t.Errorf("parameter %d has %d arguments, want %v", i, len(all), want)
			continue
		}
		for k, a := range all {
			if got := (argument{a.Text(c), a.Name(c)}); got != want[k] {
				t.Errorf("parameter %d: %q, want %q", i, got, want[k])
			}
		}
	}
	want := []string{"cc", "cc", "--jobs", "&&", ":", "server", "-c", "--threads", "run"}
	var got []string
	for _, f := range p.Fixed() {
		got = append(got, f.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("fixed %q, want %q", got, want)
	}
	if a := p.Arguments(1)[0]; a.Text(assay.Config{2, 0, 1, 0}) != "" || a.Name(assay.Config{2, 0, 1, 0}) != "" {
		t.Errorf("a switch that is off makes %q", a.Text(assay.Config{2, 0, 1, 0}))
	}
}
