package planning

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

const fanned = "id,run_s,parents\na,10,\nb,20,a\nc,30,a\nd,5,b c\n"

func plain() Options { return Options{Levels: "tda", Samples: 1} }

// A file that an option names is read at the place of the planner.
func TestOptionsAtAPlace(t *testing.T) {
	at := Given{
		"w.csv": []byte(fanned), "prices": []byte("small 0.01\nlarge 0.02\n"),
		"sites.json": []byte(`[{"name":"here","speed":1},{"name":"there","speed":2}]`),
	}
	o := plain()
	o.Prices = "prices"
	p, err := New(at, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Plan("w.csv")
	if err != nil || len(r.Offers) != 2 || r.Offers[r.Best].Name != "small" || !r.Priced {
		t.Errorf("%+v, %v", r, err)
	}
	o = plain()
	o.Sites, o.Deadline = "sites.json", 40*time.Second
	if p, err = New(at, o); err != nil {
		t.Fatal(err)
	}
	if r, err = p.Plan("w.csv"); err != nil || r.Offers[r.Best].Name != "there" {
		t.Errorf("%+v, %v: only the fast site keeps the deadline", r, err)
	}
}

// Every mistake is of the class usage and has its place.
func TestMistakes(t *testing.T) {
	at := Given{"w.csv": []byte(fanned), "bad.csv": []byte("id,run_s\na,x\n")}
	for want, edit := range map[string]func(*Options){
		`--slots "0"`:           func(o *Options) { o.Slots = "0" },
		"--levels":              func(o *Options) { o.Levels = "up" },
		"--delay -1s":           func(o *Options) { o.Delay = -time.Second },
		"--budget -1":           func(o *Options) { o.Budget = -1 },
		"--error 1":             func(o *Options) { o.Error = 1 },
		"--samples 0":           func(o *Options) { o.Samples = 0 },
		"--clusters -1":         func(o *Options) { o.Clusters = -1 },
		"--machines":            func(o *Options) { o.Machines = []string{"x"} },
		"open no: file does":    func(o *Options) { o.Prices = "no" },
		"bad.csv:2:1":           func(o *Options) { o.Calibrate = []string{"bad.csv"} },
		"open gone: file does ": func(o *Options) { o.SlotTimes = []string{"gone"} },
	} {
		o := plain()
		edit(&o)
		_, err := New(at, o)
		if err == nil || assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p, err := New(at, plain())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"none", "bad.csv"} {
		if _, err := p.Plan(name); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Beyond its limits nothing is planned, and at them it is.
func TestLimits(t *testing.T) {
	at := Given{"w.csv": []byte(fanned)}
	for _, c := range []struct {
		limits Limits
		edit   func(*Options)
		ok     bool
	}{
		{Limits{Tasks: 4}, nil, true},
		{Limits{Tasks: 3}, nil, false},
		{Limits{Slots: 8}, func(o *Options) { o.Slots = "8" }, true},
		{Limits{Slots: 7}, func(o *Options) { o.Slots = "8" }, false},
		{Limits{Slots: 7}, func(o *Options) { o.Slots, o.Machines = "1", []string{"2x4"} }, false},
		{Limits{Work: 8}, func(o *Options) { o.Slots = "1,2" }, true},
		{Limits{Work: 7}, func(o *Options) { o.Slots = "1,2" }, false},
		{Limits{Work: 8}, func(o *Options) { o.Slots, o.Error, o.Samples = "1,2", 0.1, 2 }, false},
	} {
		o := plain()
		if c.edit != nil {
			c.edit(&o)
		}
		p, err := New(at, o)
		if err != nil {
			t.Fatal(err)
		}
		p.Limits = c.limits
		if _, err := p.Plan("w.csv"); (err == nil) != c.ok {
			t.Errorf("%+v, %+v: %v", c.limits, o, err)
		}
	}
}
