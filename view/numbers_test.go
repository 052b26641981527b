package view

import (
	"encoding/json"
	"math"
	"testing"
)

// Numbers with gaps are the same when they are written and read again.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte("[1,null,2.5e300,-0]"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n Numbers
		if json.Unmarshal(b, &n) != nil {
			return
		}
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var again Numbers
		if err := json.Unmarshal(text, &again); err != nil || len(again) != len(n) {
			t.Fatalf("%s: %v", text, err)
		}
		for i := range n {
			if n[i] != again[i] && n[i] == n[i] {
				t.Errorf("%v became %v", n[i], again[i])
			}
		}
	})
}

// Values are written as encoding/json writes them.
func TestValues(t *testing.T) {
	v := Values{nil, int64(-3), 2.5, 1.0, true, "a<b", "\u2028"}
	got, err1 := json.Marshal(v)
	want, err2 := json.Marshal([]any(v))
	if err1 != nil || err2 != nil || string(got) != string(want) {
		t.Errorf("%s, %v; want %s, %v", got, err1, want, err2)
	}
	if _, err := json.Marshal(Values{math.NaN()}); err == nil {
		t.Error("a value that is no number is written")
	}
}
