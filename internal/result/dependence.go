package result

import (
	"slices"

	"github.com/assay-run/assay"
)

// A Point is the model's expectation for one value of a parameter over the configurations of the trials,
// all else as it was: the median, and the range of 80 % of the predictions. A partial dependence
// (Friedman 2001), with its spread.
type Point struct {
	X    float64 `json:"x"` // coordinate
	Mid  float64 `json:"mid"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

const (
	dependenceRows   = 100 // configurations over which a point is taken
	dependencePoints = 25  // values of a parameter that has more
)

// Dependence returns the dependence of the metric on the parameter of that name, by rising coordinates;
// nil without such a parameter. Cost: 25 × 100 predictions.
func (e *Explanation) Dependence(name string) []Point {
	i := slices.IndexFunc(e.space.Params, func(p assay.Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	configs := thin(e.configs, dependenceRows)
	var points []Point
	y := make([]float64, len(configs))
	for _, x := range values(e.space.Params[i]) {
		for k, c := range configs {
			c = c.Clone()
			c[i] = x
			y[k] = e.show(e.ensemble.Predict(e.space.Encode(c)))
		}
		slices.Sort(y)
		at := func(share float64) float64 { return y[int(share*float64(len(y)-1)+0.5)] }
		points = append(points, Point{X: x, Mid: at(0.5), Low: at(0.1), High: at(0.9)})
	}
	return points
}

// values returns coordinates of a parameter from end to end, all of them if they are few.
func values(p assay.Param) []float64 {
	out := p.Values(dependencePoints)
	if out != nil {
		return out
	}
	for k := range dependencePoints {
		out = append(out, p.Unscale(float64(k)/(dependencePoints-1)))
	}
	return slices.Compact(out)
}

// thin returns at most n of the configurations, evenly spread.
func thin(configs []assay.Config, n int) []assay.Config {
	if len(configs) <= n {
		return configs
	}
	out := make([]assay.Config, n)
	for k := range out {
		out[k] = configs[k*len(configs)/n]
	}
	return out
}
