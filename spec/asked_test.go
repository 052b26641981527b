package spec

import (
	"encoding/json"
	"slices"
	"testing"
)

func asAsked(t *testing.T, text string) (*Study, error) {
	t.Helper()
	s, _, err := Parse("f.yaml", []byte(text), func(s *Study) error {
		if !s.SetAsked() {
			t.Errorf("%s: not an external study", text)
		}
		return nil
	})
	return s, err
}

func TestAsked(t *testing.T) {
	for text, want := range map[string][]string{
		"parameters: {a: 1..3}\n": {"value"},
		"parameters: {a: 1..3}\nobjective: {maximize: acc}\nsubject_to: size <= 3\n":              {"acc"},
		"parameters: {a: 1..3}\nmetrics: [size, loss]\nobjective: {minimize: loss}\n":             {"loss", "size"},
		"parameters: {a: 1..3}\nmetrics: {loss: {unit: s}, n: {}}\nobjective: {minimize: loss}\n": {"loss", "n"},
		"parameters: {a: 1..3}\nobjective: {minimize: elapsed}\nstop: none\nrepeat: 2\n":          {"elapsed"},
	} {
		s, err := asAsked(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.metricNames(); s.Mode() != ModeAsked || !slices.Equal(got, want) {
			t.Errorf("%s: mode %v, metrics %v, want %v", text, s.Mode(), got, want)
		}
		if g, err := s.Goal(); err != nil || g.Grows {
			t.Errorf("%s: goal %+v, %v: nobody looks at the runs", text, g, err)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(data)
		if err != nil || back.Identity() != s.Identity() || back.Mode() != ModeAsked {
			t.Errorf("%s: read back as %+v, %v", text, back, err)
		}
		if file, ok := s.YAML(); !ok {
			t.Errorf("%s: written as %s", text, file)
		}
	}
}

func TestAskedFlaws(t *testing.T) {
	const body = "parameters: {a: 1..3}\nobjective: {minimize: loss}\n"
	for text, want := range map[string]string{
		"prepare: rm x\n":    "f.yaml:3:10: prepare: an external study does not have it: its clients make the runs",
		"parallel: 3\n":      "f.yaml:3:11: parallel: an external study does not have it: its clients make the runs",
		"stop: predictive\n": "f.yaml:3:7: stop: an external study does not have it: its clients make the runs",
		"budget: 3m\n": "f.yaml:3:9: budget: time: an external study has no time budget: " +
			"give trials or a target",
		"metrics: {size: 'size:f'}\n": "f.yaml:3:18: metric size: the client reports it: no source, " +
			"poll or grows",
		"metrics: [size, size]\n":                 "f.yaml:3:17: metric size: it is declared twice",
		"metrics: [size]\nsubject_to: sice < 2\n": "f.yaml:4:13: subject_to 1: unknown metric sice (did you mean size?)",
	} {
		_, err := asAsked(t, body+text)
		if err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		"command: [p, '{a}']\n" + body, "app: x\n" + body, "command: []\n" + body,
		"replay: {file: t.csv, parameters: [a], metrics: {loss: l}}\n",
	} {
		_, _, _ = Parse("f.yaml", []byte(text), func(s *Study) error {
			if s.SetAsked() {
				t.Errorf("%s: it has a command", text)
			}
			return nil
		})
	}
}
