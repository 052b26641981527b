package exchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

func TestReadsJSON(t *testing.T) {
	d, err := ParseJSON("f", []byte("{\"a\": [1, 2.5e1],\n \"b\": {\"t\": \"x\", \"y\": true, \"n\": null}, \"a2\": "+
		"-0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := d.Root
	if got := r.Get("a").Numbers(); !slices.Equal(got, []float64{1, 25}) {
		t.Errorf("a is %v", got)
	}
	b := r.Get("b")
	if b.Get("t").Text() != "x" || !b.Get("y").Bool() || b.Get("n").Has() || b.Look("none").Has() {
		t.Errorf("b is %+v", b)
	}
	if got := r.Keys(); !slices.Equal(got, []string{"a", "b", "a2"}) {
		t.Errorf("keys %q", got)
	}
	if text, ok := r.Get("a").Array()[1].Scalar(); text != "2.5e1" || !ok {
		t.Errorf("%q, %v", text, ok)
	}
	if d.Err() != nil {
		t.Error(d.Err())
	}
}

// A flaw is reported once, with its place, and the first of several flaws wins.
func TestPlaces(t *testing.T) {
	const text = "{\n  \"a\": [1, \"x\"],\n  \"big\": 1e999\n}"
	for _, c := range []struct {
		read func(Value)
		want string
	}{
		{func(v Value) { v.Get("a").Numbers(); v.Get("big").Number() }, "f:2:12: a: a number is needed, not a text"},
		{func(v Value) { v.Get("big").Number() }, "f:3:10: big: 1e999 is too large for a number"},
		{func(v Value) { v.Get("none").Text() }, `f:1:1: there is no "none"`},
		{func(v Value) { v.Get("a").Get("b").Text() }, "f:2:8: a: an object is needed, not a list"},
		{func(v Value) { v.Get("a").Keys() }, "f:2:8: a: an object is needed, not a list"},
	} {
		d, err := ParseJSON("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c.read(d.Root)
		if err := d.Err(); err == nil || err.Error() != c.want || assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for text, want := range map[string]string{
		"":                       "f:1:1: not JSON: the text ends too early",
		"{\"a\": 1,\n":           "f:2:1: not JSON: the text ends too early",
		"[1,\n 2 x]":             "f:2:4: not JSON: ",
		"{} {}":                  "f:1:4: something follows",
		"[NaN]":                  "f:1:2: not JSON: ",
		strings.Repeat("[", 300): "nested more than 200 deep",
	} {
		if _, err := ParseJSON("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"\u0041"}`, "[1e5,\n-2]", "[", "{}}", "\"x", "nul"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseJSON("f", data)
		if err != nil {
			if assay.ClassOf(err) != assay.ClassUsage || !strings.HasPrefix(err.Error(), "f:") {
				t.Error(err)
			}
			return
		}
		var walk func(Value)
		walk = func(v Value) {
			if v.at < 0 || v.at >= int64(len(data)) {
				t.Fatalf("a value at %d of %d bytes", v.at, len(data))
			}
			switch {
			case v.IsArray():
				if data[v.at] != '[' {
					t.Fatalf("a list begins with %q", data[v.at])
				}
				for _, e := range v.Array() {
					walk(e)
				}
			case v.IsObject():
				for _, k := range v.Keys() {
					walk(v.Get(k))
				}
			case v.IsNumber():
				if c := data[v.at]; c != '-' && (c < '0' || c > '9') {
					t.Fatalf("a number begins with %q", c)
				}
			}
		}
		walk(d.Root)
		if d.Err() != nil {
			t.Error(d.Err())
		}
	})
}
