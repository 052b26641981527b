package spec

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
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
	if got := s.Workbench.Resources(space, c); !maps.Equal(got, want) {
		t.Errorf("Resources = %v, want %v", got, want)
	}
	if s.Workbench = nil; s.Workbench.Resources(space, c) != nil {
		t.Error("a study without a workbench has resources")
	}
}

// A data set of each level, and one that the setup makes: where it is hangs on the parameters.
func TestDataVaries(t *testing.T) {
	for data, want := range map[string]string{
		"sets/{size}":   "/s/sets/2M",
		"{setup}/in":    assay.SetupDir + "/in",
		"{{x}}/{size}":  "/s/{x}/2M",
		"/a/{size}/{n}": "/a/2M/3",
		"sets/{{x}}":    "",
	} {
		s, _, err := Parse("/s/s.yaml", []byte(`
command: [cat, /db/in]
setup: {command: [make, "N={n}", "{size}", "{setup}/in"]}
workbench: {data: "`+data+`", mount: /db}
parameters: {size: [1M, 2M], n: 1..4}
`), nil)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		p, err := s.Program()
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Data(assay.Config{1, 3}); got != want {
			t.Errorf("%s is %q, want %q", data, got, want)
		}
		if fixed := s.Workbench.FixedData(); (fixed == "") == (want == "") || want == "" && fixed != "/s/sets/{x}" {
			t.Errorf("%s: the data set of all runs is %q", data, fixed)
		}
		if back, ok := s.YAML(); !ok {
			t.Errorf("%s is written back as %s", data, back)
		}
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
		"workbench: {passive: true, data: x}\nparameters: {cpu: [1, 2]}\n":                 "a passive workbench has no data",
		"workbench: {passive: true}\nparameters: {cpu: [slow, fast]}\nenv: {C: '{cpu}'}\n": "",
		"workbench: {data: 'x/{size}', mount: /x}\nparameters: {size: [1M, 2M]}\n":         "", // it reaches the data
		"workbench: {data: 'x/{size}'}\nparameters: {size: [1M, 2M]}\n":                    "mount is needed",
		"workbench: {data: 'x/{site}', mount: /x}\nparameters: {size: [1M, 2M]}\n":         `data: no parameter "site" (did`,
		"workbench: {data: '{setup}/x', mount: /x}\nparameters: {cpu: [1, 2]}\n":           "no parameter \"setup\"",
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
