package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/assay-run/assay"
)

func TestParamSpec(t *testing.T) {
	tests := map[string]Param{
		"level=1..19":        {Type: "int", Min: 1, Max: 19},
		"a=-5..5":            {Type: "int", Min: -5, Max: 5},
		"a=-9..-5":           {Type: "int", Min: -9, Max: -5},
		"a=0.1..0.9":         {Type: "real", Min: 0.1, Max: 0.9},
		"a=0..1.0":           {Type: "real", Min: 0, Max: 1},
		"a=.5..1":            {Type: "real", Min: 0.5, Max: 1},
		"a=1e-3..1":          {Type: "real", Min: 0.001, Max: 1},
		"a=1..64:step=4":     {Type: "int", Min: 1, Max: 64, Step: 4},
		"a=1..1024:log":      {Type: "int", Min: 1, Max: 1024, Log: true},
		"a=1..9:log:step=2":  {Type: "int", Min: 1, Max: 9, Log: true, Step: 2},
		"a=0..1.0:step=0.25": {Type: "real", Min: 0, Max: 1, Step: 0.25},
		"a=3..3":             {Type: "int", Min: 3, Max: 3},
		"a=1,2,4,8":          {Type: "ordinal", Values: []string{"1", "2", "4", "8"}},
		"a=8,1,2":            {Type: "ordinal", Values: []string{"1", "2", "8"}},
		"a=1M,64M,4M":        {Type: "ordinal", Values: []string{"1M", "4M", "64M"}},
		"a=512K,1M":          {Type: "ordinal", Values: []string{"512K", "1M"}},
		"a=1.50,2":           {Type: "ordinal", Values: []string{"1.50", "2"}},
		"a=7":                {Type: "ordinal", Values: []string{"7"}},
		"a=gzip,zstd":        {Type: "categorical", Values: []string{"gzip", "zstd"}},
		"a=gzip,2":           {Type: "categorical", Values: []string{"gzip", "2"}},
		"a=on,off":           {Type: "bool", Values: []string{"off", "on"}},
		"a=off,on":           {Type: "bool", Values: []string{"off", "on"}},
		"a=True,False":       {Type: "bool", Values: []string{"False", "True"}},
		"a=yes,no":           {Type: "bool", Values: []string{"no", "yes"}},
		"a=on":               {Type: "categorical", Values: []string{"on"}},
		"a=on,off,auto":      {Type: "categorical", Values: []string{"on", "off", "auto"}},
		"a=../x,../y":        {Type: "categorical", Values: []string{"../x", "../y"}},
		"a=x=1,y=2":          {Type: "categorical", Values: []string{"x=1", "y=2"}},
		"a=-O2,-O3":          {Type: "categorical", Values: []string{"-O2", "-O3"}},
		"buffer-size=1..2":   {Type: "int", Min: 1, Max: 2},
	}
	for spec, want := range tests {
		got, err := ParamSpec(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		want.Name, _, _ = strings.Cut(spec, "=")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", spec, d)
		}
		if _, err := assay.NewSpace([]assay.Param{got.Param()}); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestParamSpecErrors(t *testing.T) {
	tests := []struct {
		spec, message string
		column        int
	}{
		{"level", "a parameter is written NAME=SPEC", 1},
		{"=1..2", "a parameter is written NAME=SPEC", 1},
		{"a{=1..2", "a name has none of", 1},
		{"level=", "no values", 7},
		{"level=19..1", "min 19 is above max 1", 7},
		{"level=1..", "a number is missing", 10},
		{"level=1..x", `"x" is not a number`, 10},
		{"level=1...5", "min 1 is above max 0.5", 7},
		{"level=1..5:step=0", "step 0 is not positive", 17},
		{"level=1..5:step=", "a number is missing", 17},
		{"level=1..5:steps=2", "unknown option", 12},
		{"level=1..5:", "unknown option", 12},
		{"level=1..5:step=0.5", "step of an int is a whole number", 17},
		{"level=0..5:log", "log needs min > 0", 7},
		{"level=1..inf", "inf is not a finite number", 10},
		{"level=1..1e999", "1e999 is too large", 10},
		{"level=1..nan", "nan is not a finite number", 10},
		{"level=1M..4M", "sizes are listed", 7},
		{"level=1,,2", "a value is empty", 9},
		{"level=1,2,1", "value 1 is listed twice", 11},
		{"level=1,2,1.0", "listed twice, written differently", 11},
		{"é=1..x", `"x" is not a number`, 6},
		{"level=0..99999999999999999999", "beyond ±2^53", 10},
		{"level=a\x00b", "NUL byte", 8},
		{"level=" + strings.Repeat("1,", 20_000), "more than 10,000 values", 0},
	}
	for _, tt := range tests {
		_, err := ParamSpec(tt.spec)
		e, ok := errors.AsType[*Error](err)
		if !ok || len(e.Flaws) != 1 {
			t.Errorf("%.40s: got %v, want one flaw", tt.spec, err)
			continue
		}
		if f := e.Flaws[0]; !strings.Contains(f.Message, tt.message) || tt.column > 0 && f.Mark != tt.column {
			t.Errorf("%.40s: got %q at %d, want %q at %d", tt.spec, f.Message, f.Mark, tt.message, tt.column)
		}
	}
	_, err := ParamSpec("level=19..1")
	if want := "-p \"level=19..1\": min 19 is above max 1\n    level=19..1\n          ^"; err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// Every range of whole numbers and every list round-trips.
func TestParamSpecProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := rapid.IntRange(-1000, 1000).Draw(t, "lo"), rapid.IntRange(-1000, 1000).Draw(t, "hi")
		p, err := ParamSpec("x=" + assay.FormatNumber(float64(lo)) + ".." + assay.FormatNumber(float64(hi)))
		if (err == nil) != (lo <= hi) {
			t.Fatalf("%d..%d: %v", lo, hi, err)
		}
		if err == nil && (p.Min != float64(lo) || p.Max != float64(hi) || p.Type != "int") {
			t.Fatalf("%d..%d: %+v", lo, hi, p)
		}
	})
}

func FuzzParamSpec(f *testing.F) {
	for _, s := range []string{
		"a=1..19", "a=0.1..1e3:log:step=2", "a=1M,2M", "a=on,off", "a=-5..-6", "a=1..", "=",
		"a=1,1.0,x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := ParamSpec(spec)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Error() == "" {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		if _, err := assay.NewSpace([]assay.Param{p.Param()}); err != nil {
			t.Errorf("%q gives %+v: %v", spec, p, err)
		}
	})
}
