package spec

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
)

const threeSites = `data: A
sites:
  A: {slots: 2}
  B: {slots: 8, speed: 4, storage: 1GB, memory: 2GiB, delay: 30s}
  C: {slots: 4, speed: 2.5, storage: none, disk: 200MB/s}
links:
  - {between: [A, B], bandwidth: 100Mbit/s, latency: 20ms}
  - {between: [A, C], bandwidth: 1GB/s}
`

func TestParseSites(t *testing.T) {
	s, err := ParseSites("s.yaml", []byte(threeSites))
	if err != nil {
		t.Fatal(err)
	}
	b := s.Sites[1]
	if b.Name != "B" || b.Slots != 8 || b.Speed != 4 || b.Storage != 1e9 || b.Memory != 2<<30 || b.Delay != 30 {
		t.Errorf("site B is %+v", b)
	}
	if a, c := s.Sites[0], s.Sites[2]; !math.IsInf(a.Storage, 1) || a.Speed != 1 || c.Storage != 0 || c.Disk != 2e8 {
		t.Errorf("sites %+v and %+v", a, c)
	}
	if l := s.Links[0]; l.A != 0 || l.B != 1 || l.Bandwidth != 12.5e6 || l.Latency != 0.02 {
		t.Errorf("link %+v", l)
	}
	if s.Holds("anything") != 0 {
		t.Error("A does not hold the data")
	}
	if n, err := s.Network(); err != nil || len(n.Sites()) != 3 || n.Route(1, 2).Bandwidth != 12.5e6 {
		t.Errorf("network %+v, %v", n, err)
	}
}

// TestSitesLocated checks that an error in planning gets its place in the file.
func TestSitesLocated(t *testing.T) {
	s, err := ParseSites("s.yaml", []byte(threeSites))
	if err != nil {
		t.Fatal(err)
	}
	other := errors.New("other")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&site.NetworkError{Site: 1, Link: -1, Reason: "x"}, "s.yaml:4:3: x"},
		{&site.NetworkError{Site: -1, Link: 1, Reason: "x"}, "s.yaml:8:5: x"},
		{&site.NetworkError{Site: -1, Link: -1, Reason: "x"}, "s.yaml: x"},
		{
			&site.MissingInputError{Input: "f", Task: "t"},
			`s.yaml:1:7: no site has the input "f": no pattern matches it`,
		},
		{&workflow.InfeasibleError{Why: "x"}, "s.yaml: x"},
		{other, "other"},
	} {
		if got := s.Located(tt.err); got.Error() != tt.want {
			t.Errorf("%#v: got %q, want %q", tt.err, got, tt.want)
		}
	}
	if s.Located(nil) != nil || s.Located(other) != other {
		t.Error("another error is not left alone")
	}
	cut, err := ParseSites("s.yaml", []byte("sites: {A: {}, B: {}}\ndata: A\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cut.Network(); err == nil || !strings.HasPrefix(err.Error(),
		"s.yaml:1:16: the utility is disconnected: B") {
		t.Errorf("two sites without a link: %v", err)
	}
}

func TestSiteDataPatterns(t *testing.T) {
	s, err := ParseSites("s.yaml", []byte("sites: {A: {}, B: {}}\ndata:\n  B: [\"*.fits\", ref/x]\n  A: \"*.txt\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"in/a.fits": 1, "ref/x": 1, "b.txt": 0, "x": -1} {
		if got := s.Holds(name); got != want {
			t.Errorf("%s is at %d, want %d", name, got, want)
		}
	}
}

func TestSitesFlaws(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no data", "sites: {A: {}}\n", "1:1: data is needed: the site that holds the input of the workflow"},
		{"unknown data", "sites: {Aix: {}}\ndata: Aiz\n", `2:7: no site "Aiz" in sites (did you mean Aix?)`},
		{"no sites", "data: A\n", "1:1: sites (name: {slots: N, ...}) is needed"},
		{"empty sites", "sites: {}\ndata: A\n", "1:8: sites: none is given"},
		{"unknown key", "sites: {A: {slot: 1}}\ndata: A\n", `1:13: unknown key "slot" in site A (did you mean slots?)`},
		{
			"unknown end", "sites: {A: {}}\ndata: A\nlinks: [{between: [A, Q], bandwidth: 1MB/s}]\n",
			`3:23: no site "Q" in sites`,
		},
		{
			"to itself", "sites: {A: {}}\ndata: A\nlinks: [{between: [A, A], bandwidth: 1MB/s}]\n",
			"3:9: link: from site A to itself",
		},
		{
			"one end", "sites: {A: {}}\ndata: A\nlinks: [{between: [A], bandwidth: 1MB/s}]\n",
			"3:19: between: two sites are needed, not 1",
		},
		{
			"no bandwidth", "sites: {A: {}, B: {}}\ndata: A\nlinks: [{between: [A, B]}]\n",
			"3:9: link: bandwidth is needed",
		},
		{
			"zero bandwidth", "sites: {A: {}, B: {}}\ndata: A\nlinks: [{between: [A, B], bandwidth: 0}]\n",
			"3:38: bandwidth: more than 0 is needed",
		},
		{
			"rate without time", "sites: {A: {}, B: {}}\ndata: A\nlinks: [{between: [A, B], bandwidth: 1MB}]\n",
			`3:38: bandwidth: "1MB" is not an amount such as 20GB/s`,
		},
		{
			"bare storage", "sites: {A: {storage: 100}}\ndata: A\n",
			`1:22: site A: storage: "100" is not an amount such as 20GB`,
		},
		{"cores", "sites: {A: {cores: 0}}\ndata: A\n", "1:20: site A: cores: a number > 0 is needed, not 0"},
		{"speed", "sites: {A: {speed: 0}}\ndata: A\n", "1:20: site A: speed: a number > 0 is needed, not 0"},
		{"slots", "sites: {A: {slots: -1}}\ndata: A\n", "1:20: site A: slots: a whole number >= 0 is needed, not -1"},
		{"pattern", "sites: {A: {}}\ndata: {A: '[x'}\n", `2:11: data of A: "[x" is not a pattern`},
		{"not yaml", "sites: [\n", "2:1:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseSites("s.yaml", []byte(tt.text))
			if e, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(e.Error(), "s.yaml:"+tt.want) {
				t.Errorf("got %v\nwant s.yaml:%s", err, tt.want)
			}
		})
	}
}

func FuzzParseSites(f *testing.F) {
	f.Add(threeSites)
	f.Add("sites: {A: {slots: 1e9, storage: 1e300TB}}\ndata: {A: [x, '*']}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSites("s.yaml", []byte(text))
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, l := range s.Links {
			if l.A < 0 || l.B < 0 || l.A >= len(s.Sites) || l.B >= len(s.Sites) || !(l.Bandwidth > 0) {
				t.Fatalf("link %+v of %d sites", l, len(s.Sites))
			}
		}
		for _, x := range s.Sites {
			if x.Slots < 0 || !(x.Speed > 0) || !(x.Storage >= 0) || !(x.Memory >= 0) || !(x.Disk >= 0) || x.Delay < 0 {
				t.Fatalf("site %+v", x)
			}
		}
		if len(s.Data) == 0 && len(s.Sites) == 0 {
			t.Fatal("no sites and no flaw")
		}
	})
}
