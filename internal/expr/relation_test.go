package expr

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

var testParams = []assay.Param{
	{Name: "threads", Kind: assay.Integer, Lo: 1, Hi: 8},
	{Name: "quality", Kind: assay.Real, Lo: 0.1, Hi: 10},
	{Name: "preset", Kind: assay.Categorical, Levels: []string{"fast", "slow", "very slow"}},
	{Name: "buffer-size", Kind: assay.Ordinal, Levels: []string{"1M", "4M", "64M"}},
	{Name: "effort", Kind: assay.Ordinal, Levels: []string{"low", "mid", "high"}},
	{Name: "ratio", Kind: assay.Ordinal, Levels: []string{"0.5", "1", "2"}},
	{Name: "cache", Kind: assay.Switch, Levels: []string{"off", "on"}},
	{Name: "8x8dct", Kind: assay.Switch, Levels: []string{"0", "1"}},
	{Name: "in", Kind: assay.Integer, Lo: 0, Hi: 3},
	{Name: "min", Kind: assay.Integer, Lo: 0, Hi: 3},
}

// conf is threads=4 quality=2.5 preset=slow buffer-size=64M effort=low ratio=0.5 cache=on 8x8dct=off in=2 min=1.
var conf = assay.Config{4, 2.5, 1, 2, 0, 0, 1, 0, 2, 1}

func TestRelation(t *testing.T) {
	tests := []struct {
		text string
		want bool
		uses string
	}{
		{"threads <= 4 || preset == 'fast'", true, "threads preset"},
		{"threads < 4 || preset == \"fast\"", false, "threads preset"},
		{"threads % 2 == 0 and quality > 2", true, "threads quality"},
		{"threads / 8 == 0.5", true, "threads"},
		{"threads == 4.0", true, "threads"},
		{"quality == 2.5", true, "quality"},
		{"quality in [1, 2.5]", true, "quality"},
		{"threads in 1..4", true, "threads"},
		{"threads in [1, 2]", false, "threads"},
		{"buffer_size == 64*1024*1024", true, "buffer-size"},
		{`$env["buffer-size"] >= 64 * 1024 ** 2`, true, "buffer-size"},
		{"effort == 'low'", true, "effort"},
		{"preset in ['fast', 'very slow']", false, "preset"},
		{"preset endsWith 'low'", true, "preset"},
		{"not cache", false, "cache"},
		{"cache && !_8x8dct", true, "cache 8x8dct"},
		{`$env["in"] == 2 && min == 1 && min(threads, 9) == 4`, true, "in min threads"},
		{"cache == 'on' && _8x8dct == 0 && 1 != _8x8dct", true, "cache 8x8dct"},
		{"cache == true && 'off' != cache", true, "cache"},
		{"cache == 'yes' && 'on' != $env[\"8x8dct\"]", true, "cache 8x8dct"},
		{"ratio * 2 == 1", true, "ratio"},
		{"threads > 2 ? cache : preset == 'fast'", true, "threads cache preset"},
		{"any([1, 4], # == threads)", true, "threads"},
		{"1 < 2", true, ""},
		{"threads // a comment\n > 3", true, "threads"},
		{"threads % (min - 1) == 0", false, "threads min"}, // divides by zero
		{"len(1..threads*1000000) > 0", false, "threads"},  // too much memory
	}
	for _, tt := range tests {
		r, err := Relation(tt.text, testParams)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		var uses []string
		for _, i := range r.Params {
			uses = append(uses, testParams[i].Name)
		}
		if got := strings.Join(uses, " "); got != tt.uses {
			t.Errorf("%s: uses %q, want %q", tt.text, got, tt.uses)
		}
		if got := r.Holds(conf); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.text, got, tt.want)
		}
		if r.Text != tt.text {
			t.Errorf("Text %q, want %q", r.Text, tt.text)
		}
	}
}

func TestRelationErrors(t *testing.T) {
	tests := []struct {
		text, want string
		column     int
	}{
		{"", "empty expression", 0},
		{"  ", "empty expression", 0},
		{"thraeds <= 4", "unknown name thraeds (did you mean threads?)", 1},
		{"cache && thread <= 4", "did you mean threads?", 10},
		{"buffer-size > 3", "buffer-size is written buffer_size", 1},
		{"threads = 4", "equality is written ==", 9},
		{"threads <=", "unexpected token EOF", 10},
		{"threads", "expected bool, but got int", 0},
		{"preset < 3", "mismatched types", 8},
		{"preset == 'fsat'", "did you mean 'fast'?", 11},
		{"effort in ['low', 'lo']", "effort has no value 'lo' (did you mean 'low'?)", 19},
		{"cache == 1", "a switch is written as it is", 7},
		{"cache == 'yse'", "cache has no value 'yse' (it has off, on)", 10},
		{"cache in ['yes']", "cache has no value 'yes' (it has off, on)", 11},
		{"now() > 3", "unknown name now", 1},
		{"fromJSON('[1]')[0] == 1", "unknown name fromJSON", 1},
		{"$env == nil", "$env is followed by a name", 1},
		{`$env["nope"] == 1`, "unknown name nope", 5},
		{"let x = threads; x > 3", "without variables", 5},
		{"threads > 3; cache", "one condition", 9},
		{"'é' == 'é' && nope", "unknown name nope", 15},
		{strings.Repeat("(", 9_000), "unexpected token EOF", 9000},
		{strings.Repeat("!", 9_000) + "cache", "maximum allowed nodes", -1},
		{strings.Repeat("x", 1<<20), "longer than 10,000 bytes", 0},
		{"threads == 1" + strings.Repeat(" || threads == 1", 600), "maximum allowed nodes", -1},
	}
	for _, tt := range tests {
		_, err := Relation(tt.text, testParams)
		if d := fastest(func() { Relation(tt.text, testParams) }); d > 100*time.Millisecond {
			t.Errorf("%.40s: refused after %v", tt.text, d)
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%.40s: got error %v, want an *Error", tt.text, err)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40s: got %q, want it to contain %q", tt.text, err, tt.want)
		}
		if tt.column >= 0 && e.Column != tt.column {
			t.Errorf("%.40s: column %d, want %d", tt.text, e.Column, tt.column)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40s: more than one line: %q", tt.text, err)
		}
	}
}

// fastest returns the least time of a few calls: the machine may be busy.
func fastest(f func()) time.Duration {
	least := time.Hour
	for range 3 {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

func TestAmbiguousName(t *testing.T) {
	params := []assay.Param{
		{Name: "a-b", Kind: assay.Integer, Lo: 1, Hi: 8},
		{Name: "a.b", Kind: assay.Integer, Lo: 1, Hi: 8},
	}
	if _, err := Relation("a_b > 1", params); err == nil || !strings.Contains(err.Error(), "several names") {
		t.Errorf("got %v", err)
	}
	r, err := Relation(`$env["a.b"] > 1`, params)
	if err != nil || len(r.Params) != 1 || r.Params[0] != 1 {
		t.Errorf("got %v, %v", r, err)
	}
}

// A relation makes a space with exactly the configurations that satisfy it.
func TestRelationInSpace(t *testing.T) {
	params := testParams[:1:1]
	params = append(params, testParams[2])
	r, err := Relation("threads <= 4 || preset == 'fast'", params)
	if err != nil {
		t.Fatal(err)
	}
	s, err := assay.NewSpace(params, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Size().N; got != 4*3+4 {
		t.Errorf("size %d, want 16", got)
	}
}

// Holds agrees with the same condition written in Go, from several goroutines.
func TestRelationAgreesWithGo(t *testing.T) {
	r, err := Relation("threads * 2 <= quality + 3 && (cache || preset != 'slow') || buffer_size < 4000000", testParams)
	if err != nil {
		t.Fatal(err)
	}
	want := func(c assay.Config) bool {
		size := []float64{1 << 20, 4 << 20, 64 << 20}[int(c[3])]
		return c[0]*2 <= c[1]+3 && (c[6] == 1 || c[2] != 1) || size < 4e6
	}
	rapid.Check(t, func(t *rapid.T) {
		c := make(assay.Config, len(testParams))
		for i, p := range testParams {
			c[i] = p.FromUnit(rapid.Float64Range(0, 1).Draw(t, p.Name))
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if got := r.Holds(c); got != want(c) {
					t.Errorf("%v: got %v, want %v", c, got, want(c))
				}
			})
		}
		wg.Wait()
	})
}

func FuzzRelation(f *testing.F) {
	for _, s := range []string{
		"threads <= 4 || preset == 'fast'", `$env["in"] in 1..3`, "any([1], # > $env)",
		"a?.b", "[1][0:1]", "`x`", "b'x'",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Relation(text, testParams)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		first := r.Holds(conf)
		other := conf.Clone()
		for i := range other {
			if p := testParams[i]; p.Numeric() {
				other[i] = p.Hi
			} else {
				other[i] = float64(len(p.Levels) - 1)
			}
		}
		for _, i := range r.Params {
			other[i] = conf[i]
		}
		if r.Holds(other) != first {
			t.Errorf("%q depends on a parameter that is not in %v", text, r.Params)
		}
	})
}

func BenchmarkHolds(b *testing.B) {
	r, err := Relation("threads <= 4 || preset == 'fast'", testParams)
	if err != nil {
		b.Fatal(err)
	}
	c := conf.Clone()
	c[0] = 7
	b.ReportAllocs()
	for b.Loop() {
		r.Holds(c)
	}
}

// Overhead of the map and the pool: the same condition in Go.
func BenchmarkHoldsGo(b *testing.B) {
	c := conf.Clone()
	holds := func(c assay.Config) bool { return c[0] <= 4 || testParams[2].Levels[int(c[2])] == "fast" }
	for b.Loop() {
		holds(c)
	}
}
