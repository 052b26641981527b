package figures

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/report"
)

// The pictures that are made without a measurement equal the ones of the documentation.
func TestFigures(t *testing.T) {
	const page = "../../lab/notes/cello.md"
	for name, args := range map[string][]string{"luck": {"luck"}, "beside": {"beside", page}} {
		var got bytes.Buffer
		if err := Draw(args, nil, &got); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("../../docs/figures/" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("docs/figures/%s.svg is not what assay-lab figures %s draws", name, strings.Join(args, " "))
		}
	}
}

func TestFiguresRefuse(t *testing.T) {
	for _, c := range []struct{ args, in string }{
		{"", ""},
		{"trials", "{"},
		{"trials", ""},
		{"curve", "["},
		{"answer", "["},
		{"answer", `{"rows":[{"study":"one"}]}`},
		{"beside nowhere.md", ""},
		{"beside figures.go", ""},
		{"pruning nowhere.jsonl nowhere.jsonl", ""},
		{"pruning figures.go figures.go", ""},
		{"costs", ""},
		{"costs nowhere.jsonl", ""},
	} {
		if err := Draw(strings.Fields(c.args), strings.NewReader(c.in), &bytes.Buffer{}); err == nil {
			t.Errorf("figures %s draws %q", c.args, c.in)
		}
	}
}

func TestTrialsAreDrawn(t *testing.T) {
	in := `{"id":1,"state":"done","value":2,"metrics":{"elapsed":2}}
{"id":2,"state":"censored","metrics":{"elapsed":2.5}}
`
	var out bytes.Buffer
	if err := Draw([]string{"trials"}, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ran to its end", "stopped: it takes at least this", "best so far"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}

// The series of a method are the rows of all studies and noises, by budget.
func TestAnswersAreDrawn(t *testing.T) {
	c, err := answer(strings.NewReader(`{"seeds":2,"studies":["a"],"rows":[
{"study":"a","noise":"own","method":"auto","budget_x":5,"regret_p90":{"value":9}},
{"noise":"own","method":"auto","budget_x":5,"regret_p90":{"value":8}},
{"method":"auto","budget_x":5,"regret_p90":{"value":0.5}},
{"method":"tpe","budget_x":5,"regret_p90":{"value":0.7}},
{"method":"auto","budget_x":10,"regret_p90":{"value":0.25}}]}`))
	if err != nil || len(c.Series) != 2 || !slices.Equal(c.XAt, []float64{5, 10}) {
		t.Fatalf("%v, %+v", err, c)
	}
	s := c.Series[0]
	if s.Name != "assay" || !slices.Equal(s.X, []float64{5, 10}) || !slices.Equal(s.Y, []float64{50, 25}) {
		t.Errorf("%+v", s)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trials.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPruningIsDrawn(t *testing.T) {
	earlier := write(t, `{"state":"done","value":1,"config":{"a":1,"b":"x"}}
{"state":"done","value":2,"config":{"a":2,"b":"x"}}
{"state":"done","value":3,"config":{"a":3,"b":"y"}}
{"state":"failed","value":0.1,"config":{"a":3,"b":"y"}}
`)
	now := write(t, `{"state":"done","value":20,"config":{"a":1,"b":"x"}}
{"state":"done","value":10,"config":{"a":2,"b":"x"}}
{"state":"done","value":30,"config":{"a":3,"b":"y"}}
`)
	c, err := pruning(earlier, now)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []report.Series{
		{X: []float64{1, 1}, Y: []float64{2, 1}}, // a=1, b=x
		{X: []float64{3, 3}, Y: []float64{3, 3}}, // a=3, b=y
		{X: []float64{2}, Y: []float64{1}},       // a=2, which the best run now has
	} {
		if got := c.Series[i]; !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) {
			t.Errorf("%s: %v, %v, want %v, %v", got.Name, got.X, got.Y, want.X, want.Y)
		}
	}
}

func TestCostsAreDrawn(t *testing.T) {
	runs := write(t, `{"state":"done","value":4,"config":{"bandwidth":"20Mbit","cpu":0.5}}
{"state":"failed","value":9,"config":{"bandwidth":"20Mbit","cpu":0.5}}
`)
	in := strings.NewReader(`[{"at":{"bandwidth":"20Mbit","cpu":"0.5"},"seconds":3,"low_s":2,"high_s":5}]
[{"at":{"bandwidth":"100Mbit","cpu":"0.5"},"seconds":1,"low_s":0.5,"high_s":2}]`)
	c, err := costs(in, runs)
	if err != nil || len(c.Series) != 2 {
		t.Fatalf("%d series, %v", len(c.Series), err)
	}
	line, dots := c.Series[0], c.Series[1]
	if !slices.Equal(line.X, []float64{20, 100}) || !slices.Equal(line.Y, []float64{3, 1}) ||
		!slices.Equal(line.High, []float64{5, 2}) {
		t.Errorf("the model: %+v", line)
	}
	if !slices.Equal(dots.X, []float64{20}) || !slices.Equal(dots.Y, []float64{4}) {
		t.Errorf("the runs: %+v", dots)
	}
}
