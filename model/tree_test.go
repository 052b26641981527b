package model

import (
	"math"
	"testing"
)

// stump is x[1] <= 2 ? 10 : (x[0] <= -1 ? 20 : 30).
var stump = Tree{
	{Feature: 1, Left: 1, Right: 2, Threshold: 2, Value: 20, Cover: 3},
	{Feature: -1, Value: 10, Cover: 1},
	{Feature: 0, Left: 3, Right: 4, Threshold: -1, Value: 25, Cover: 2},
	{Feature: -1, Value: 20, Cover: 1},
	{Feature: -1, Value: 30, Cover: 1},
}

func TestTreePredict(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		leaf int
		want float64
	}{
		{"left", []float64{0, 1}, 1, 10},
		{"equal goes left", []float64{0, 2}, 1, 10},
		{"right left", []float64{-1, 3}, 3, 20},
		{"right right", []float64{0, 3}, 4, 30},
		{"NaN goes right", []float64{math.NaN(), math.NaN()}, 4, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := stump.Leaf(c.x); got != c.leaf {
				t.Errorf("Leaf(%v) = %d, want %d", c.x, got, c.leaf)
			}
			if got := stump.Predict(c.x); got != c.want {
				t.Errorf("Predict(%v) = %v, want %v", c.x, got, c.want)
			}
		})
	}
}

func TestEnsemblePredict(t *testing.T) {
	e := Ensemble{Trees: []Tree{stump, {{Feature: -1, Value: 6}}}, Bias: 1, Scale: 0.5}
	if got, want := e.Predict([]float64{0, 0}), 1+0.5*(10+6.0); got != want {
		t.Errorf("Predict = %v, want %v", got, want)
	}
}
