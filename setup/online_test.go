package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/spec"
)

const tiles = "parameters: {x: {type: int, min: 0, max: 5, default: 2}, y: [1, 2, 4]}\nrepeat: {runs: 3, " +
	"estimator: median}\n"

// onlineProblem reads a definition that is tuned on line.
func onlineProblem(t testing.TB, text, searcher string) (*Problem, error) {
	t.Helper()
	def, _, err := spec.Parse("tiles.yaml", []byte(text), func(def *spec.Study) error {
		def.Search.Name = cmp.Or(searcher, def.Search.Name)
		Online(def)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return New(def, Options{})
}

func TestOnlineStudy(t *testing.T) {
	s := memory(t)
	// The command and its metrics do not matter: the program runs already.
	p, err := onlineProblem(t, tiles+"command: [no-such-program]\nmetrics: {m: 'stdout:/(x)/'}\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if def := p.Definition; def.Mode() != spec.ModeOnline || def.Search.Name != OnlineSearcher ||
		def.Command != nil || def.Metrics != nil {
		t.Errorf("the definition is %+v", def)
	}
	session, err := p.Session(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	if session.Name != "tiles" || session.Resumed || session.Samples != 3 || session.Default[0] != 2 ||
		session.Estimator([]float64{1, 2, 9}) != 2 {
		t.Errorf("the session is %+v", session)
	}
	open, err := online.Open(t.Context(), session.Options)
	if err != nil {
		t.Fatal(err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := p.Session(t.Context(), s, "")
	if err != nil || !again.Resumed {
		t.Fatalf("resumed %v: %v", again.Resumed, err)
	}
	defer again.Close()
	// A new epoch searches anew, with a seed of its own, and each epoch is repeatable.
	draws := func(epoch int) string {
		searcher, err := again.Searcher(epoch)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for range 3 {
			ps, err := searcher.Ask(1)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range ps {
				text.WriteString(p.Space.Text(q.Config) + "; ")
			}
		}
		return text.String()
	}
	p.Definition.Search.Name = "random"
	if p.makes, err = readSearcher(p.Definition); err != nil {
		t.Fatal(err)
	}
	p.made = nil
	first, second := draws(0), draws(1)
	if first != draws(0) || second != draws(1) || first == second || !strings.HasPrefix(draws(1), "x=2 y=1") {
		t.Errorf("epochs 0 and 1 propose %q and %q", draws(0), draws(1))
	}
}

// The on-line studies of before there was a mode, with their made-up command, go on.
func TestOnlineStudyOfOldForm(t *testing.T) {
	p, err := onlineProblem(t, tiles, "random")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Encode(p.Definition, "tiles", nil)
	if err != nil {
		t.Fatal(err)
	}
	old := bytes.Replace(stored, []byte(`"online":true`), []byte(`"command":["on-line","{x}","{y}"]`), 1)
	if bytes.Equal(old, stored) || !json.Valid(old) {
		t.Fatalf("no old form of %s", stored)
	}
	s := memory(t)
	if err := s.Create(t.Context(), "tiles", old); err != nil {
		t.Fatal(err)
	}
	session, err := p.Session(t.Context(), s, "")
	if err != nil || !session.Resumed {
		t.Fatalf("%+v, %v", session, err)
	}
	// A command of that name with other arguments is a command.
	def, err := spec.Decode(bytes.Replace(old, []byte(`"{y}"`), []byte(`"{x}"`), 1))
	if err != nil || def.Mode() != spec.ModeCommand {
		t.Errorf("mode %v, %v", def.Mode(), err)
	}
}

func TestOnlineFlaws(t *testing.T) {
	for text, want := range map[string]string{
		tiles + "objective: {maximize: elapsed}\n": "tiles.yaml: on line, the metric of the ranks is minimized",
		tiles + "subject_to: max_rss < 5\n":        "tiles.yaml: on line, the metric of the ranks is minimized",
		"parameters: {x: {type: int, min: 3, max: 3}}\n": "tiles.yaml: nothing to tune: the space has one " +
			"configuration",
		tiles + "place: {on: local}\n": "tiles.yaml:3:13: on line, the ranks of the program make the runs",
		tiles + "search: oracle\n":     `tiles.yaml:3:9: no searcher "oracle"`,
		tiles + "search: {name: pso, particles: none}\n": "tiles.yaml:3:21: search option particles: none is not " +
			"a whole number from 1",
	} {
		_, err := onlineProblem(t, text, "")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// A study that runs a command has no session, and an on-line one is no other study.
	p, err := New(define(t, "tiles.yaml", tiles+"command: ['true', '{x}{y}']\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := memory(t)
	if _, err := p.Session(t.Context(), s, ""); err == nil {
		t.Error("a session of a command")
	}
	if _, err := p.Study(t.Context(), s, ""); err != nil {
		t.Fatal(err)
	}
	on, err := onlineProblem(t, tiles, "auto")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := on.Session(t.Context(), s, ""); assay.ClassOf(err) != assay.ClassConflict ||
		!strings.Contains(err.Error(), "mode was command, now on-line") {
		t.Errorf("a session of the name of a command: %v", err)
	}
}
