package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The pictures that are made without a measurement are those of the documentation.
func TestFigures(t *testing.T) {
	const page = "../../docs/results/cello.md"
	for name, args := range map[string][]string{"luck": {"luck"}, "beside": {"beside", page}} {
		var got bytes.Buffer
		if err := draw(args, nil, &got); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("../../docs/figures/" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("docs/figures/%s.svg is not what go run ./internal/figures %s draws", name, strings.Join(args, " "))
		}
	}
}

func TestFiguresRefuse(t *testing.T) {
	for _, c := range []struct{ args, in string }{{"", ""}, {"trials", "{"}, {"trials", ""}, {"curve", "["}, {"beside nowhere.md", ""}, {"beside main.go", ""}} {
		if err := draw(strings.Fields(c.args), strings.NewReader(c.in), &bytes.Buffer{}); err == nil {
			t.Errorf("figures %s draws %q", c.args, c.in)
		}
	}
}

func TestTrialsAreDrawn(t *testing.T) {
	in := `{"id":1,"state":"done","value":2,"metrics":{"elapsed":2}}
{"id":2,"state":"censored","metrics":{"elapsed":2.5}}
`
	var out bytes.Buffer
	if err := draw([]string{"trials"}, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ran to its end", "stopped: it takes at least this", "best so far"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}
