package spec

import (
	"testing"
)

func TestGainIsNoPartOfTheStudy(t *testing.T) {
	read := func(stop string) *Study {
		t.Helper()
		text := "command: [true, '{a}']\nparameters: {a: 1..3}\n" + stop
		s, _, err := Parse("s.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with, without := read("stop: {gain: 0.7%}"), read("")
	if with.Stop.Gain != 0.7 || with.Stop.Rule != "" {
		t.Errorf("read %+v", with.Stop)
	}
	if with.Identity() != without.Identity() || len(with.Diff(without)) > 0 {
		t.Errorf("another study: %v", with.Diff(without))
	}
	if other := read("stop: {gain: 1%, rule: static}"); other.Identity() == without.Identity() || other.Stop.Gain != 1 {
		t.Errorf("%+v is the same study", other.Stop)
	}
}

func TestParseGain(t *testing.T) {
	for text, want := range map[string]float64{"1%": 1, "0.01%": 0.01, "2.5 %": 2.5, "100%": 100, "none": 0} {
		got, err := ParseGain(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if want > 0 {
			if again, err := ParseGain(GainText(got)); err != nil || again != got {
				t.Errorf("%q is written %q", text, GainText(got))
			}
		}
	}
	for _, text := range []string{"", "1", "0%", "-1%", "101%", "x%", "NaN%", "0.001%"} {
		if x, err := ParseGain(text); err == nil {
			t.Errorf("%q: %v", text, x)
		}
	}
}
