package config

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorkbench(t *testing.T) {
	s, warnings, err := Parse("dir/s.yaml", []byte(`
command: [blastn, -db, /db/x]
workbench: {data: db, mount: /db}
parameters:
  cpu: [0.25, 0.5, 1]
  memory: 64M,1G
  rtt: [0ms, 18ms]
  bandwidth: [20Mbit, 100Mbit]
  disk: {type: real, min: 1e6, max: 1e8, log: true}
`), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if abs, _ := filepath.Abs("dir/db"); s.Workbench.Data != abs || s.Workbench.Mount != "/db" {
		t.Errorf("workbench is %+v", *s.Workbench)
	}
	space, err := s.Space()
	if err != nil {
		t.Fatal(err)
	}
	c, err := space.Parse(map[string]string{
		"cpu": "0.5", "memory": "1G", "rtt": "18ms", "bandwidth": "20Mbit",
		"disk": "2e6",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"cpu": 0.5, "memory": 1 << 30, "rtt": 0.018, "bandwidth": 2e7, "disk": 2e6}
	if got := s.Resources(space, c); !maps.Equal(got, want) {
		t.Errorf("Resources = %v, want %v", got, want)
	}
	if s.Workbench = nil; s.Resources(space, c) != nil {
		t.Error("a study without a workbench has resources")
	}
}

func TestWorkbenchFlaws(t *testing.T) {
	const head = "command: [p]\n"
	for text, want := range map[string]string{
		"workbench: {}\nparameters: {cpu: [slow, fast]}\n": "parameter cpu: a resource " +
			"of the workbench is a number",
		"workbench: {}\nparameters: {rtt: [1ms, 2ms]}\n":                                   "rtt needs data",
		"workbench: {mount: /x}\nparameters: {cpu: [1, 2]}\n":                              "mount needs data",
		"workbench: {date: x}\nparameters: {cpu: [1, 2]}\n":                                "did you mean data?",
		"workbench: {data: x}\nparameters: {level: 1..3}\nenv: {L: '{level}'}\n":           "",
		"workbench: {data: x}\nparameters: {disk: [1M, 20M]}\n":                            "",
		"workbench: {passive: true, data: x}\nparameters: {cpu: [1, 2]}\n":                 "a passive one has no data",
		"workbench: {passive: true}\nparameters: {cpu: [slow, fast]}\nenv: {C: '{cpu}'}\n": "",
		"workbench: 5\nparameters: {cpu: [1, 2]}\n":                                        "a mapping",
		"workbench: {}\nparameters: {memory: {values: [1M, big], type: ordinal}}\n": `"big" is no number; ` +
			`write it like 512M`,
	} {
		_, _, err := Parse("s.yaml", []byte(head+text), nil)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
