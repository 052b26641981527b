package workflow

import (
	"strings"
	"testing"
)

// FuzzReadCalibration checks that a calibration that is read predicts without panic.
func FuzzReadCalibration(f *testing.F) {
	f.Add(`{"assay":"calibration","version":1,"executions":1,"configs":1,"node_cores":8,"cv_error":0,` +
		`"sigma":0.3,"models":[{"weight":1,"compute":{"share":0.5},` +
		`"terms":[{"term":"scale","value":1},{"term":"start_s","value":20}]}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ReadCalibration("c", strings.NewReader(s))
		if err != nil {
			return
		}
		if p, err := c.Predict(figure1(t), TopDown{}, 3); err != nil || p.Makespan != p.Makespan {
			t.Fatalf("%v, %v", p, err)
		}
	})
}

// FuzzParsePrice checks that prices that are read cost something defined.
func FuzzParsePrice(f *testing.F) {
	f.Add("0.34/node-hour,slots=8,start=90,unit=60,min=60,spot=0.05,save=600")
	f.Fuzz(func(t *testing.T, s string) {
		if p, err := ParsePrice(s); err == nil && !(p.Cost(3, 100) >= 0) {
			t.Fatalf("%q: cost %v", s, p.Cost(3, 100))
		}
	})
}
