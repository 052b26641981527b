package model

import (
	"math"
	"testing"
)

// TestAFTLossAndDerivatives checks the loss -log(f(s)/ς) or -log S(s), with
// s = (log y - g)/ς, and its derivatives with respect to g, against numerical
// differentiation of the definition with 60 digits (mpmath).
func TestAFTLossAndDerivatives(t *testing.T) {
	for _, c := range []struct {
		dist                Distribution
		censored            bool
		y, g, scale         float64
		loss, first, second float64
	}{
		{Extreme, false, 1.5, 0.25, 0.5, 0.3606165875771511, -0.7293879687068504, 5.458775937413701},
		{Extreme, false, 20.0, 3.5, 0.75, 0.8951788131135126, 0.6526614440391802, 0.9075625190588708},
		{Extreme, false, 3.0, 1.75, 0.5, 0.8814046929047018, 1.456447098398267, 1.087105803203466},
		{Extreme, false, 0.125, -2.0, 1.0, 1.003073554046167, 0.07636798763366872, 0.9236320123663313},
		{Extreme, true, 1.5, 0.25, 0.5, 1.364693984353425, -2.72938796870685, 5.458775937413701},
		{Extreme, true, 20.0, 3.5, 0.75, 0.5105039169706148, -0.6806718892941531, 0.9075625190588708},
		{Extreme, true, 3.0, 1.75, 0.5, 0.2717764508008665, -0.543552901601733, 1.087105803203466},
		{Extreme, true, 0.125, -2.0, 1.0, 0.9236320123663313, -0.9236320123663313, 0.9236320123663313},
		{Normal, false, 1.5, 0.25, 0.5, 0.2741301523228939, -0.6218604324326575, 4.0},
		{Normal, false, 20.0, 3.5, 0.75, 0.8572884073618047, 0.8964759581262382, 1.777777777777778},
		{Normal, false, 3.0, 1.75, 0.5, 1.074403253593124, 2.605550845327561, 4.0},
		{Normal, false, 0.125, -2.0, 1.0, 0.9220940124769073, 0.07944154167983593, 1.0},
		{Normal, true, 1.5, 0.25, 0.5, 0.9730546563302631, -2.011588088731482, 2.795559599991434},
		{Normal, true, 20.0, 3.5, 0.75, 0.2885867952308931, -0.5662601869596989, 0.8282892429890719},
		{Normal, true, 3.0, 1.75, 0.5, 0.1012862953763632, -0.3779032916782497, 1.127457138945588},
		{Normal, true, 0.125, -2.0, 1.0, 0.6317524342347289, -0.7480080206715819, 0.6189389093400508},
		{Logistic, false, 1.5, 0.25, 0.5, 0.7172198433512633, -0.3084492004179077, 1.952429545380777},
		{Logistic, false, 20.0, 3.5, 0.75, 1.209561526148576, 0.4320819275650227, 0.7955414928247361},
		{Logistic, false, 3.0, 1.75, 0.5, 1.090457648597873, 1.145206846282701, 1.344250639613615},
		{Logistic, false, 0.125, -2.0, 1.0, 1.387871686053416, 0.03969989433671652, 0.4992119591948268},
		{Logistic, true, 1.5, 0.25, 0.5, 0.8606486200637687, -1.154224600208954, 0.9762147726903883},
		{Logistic, true, 20.0, 3.5, 0.75, 0.4124433150028393, -0.4506257028841553, 0.3977707464123681},
		{Logistic, true, 3.0, 1.75, 0.5, 0.2404147032470189, -0.4273965768586495, 0.6721253198068075},
		{Logistic, true, 0.125, -2.0, 1.0, 0.65421507218679, -0.4801500528316417, 0.2496059795974134},
	} {
		l := newAFTLoss(c.dist, c.scale, []float64{0}, nil)
		if got := l.loss(c.y, c.censored, c.g); !(math.Abs(got-c.loss) <= 1e-13*c.loss) {
			t.Errorf("%+v: loss %v", c, got)
		}
		got := c.dist.derivatives((math.Log(c.y)-c.g)/c.scale, c.censored, c.scale)
		if !(math.Abs(got.g-c.first) <= 1e-12*math.Abs(c.first)) {
			t.Errorf("%+v: first derivative %v", c, got.g)
		}
		if !(math.Abs(got.h-c.second) <= 1e-12*c.second) {
			t.Errorf("%+v: second derivative %v", c, got.h)
		}
	}
}

// Far from the outcome the derivatives are clipped, and the loss is bounded;
// nothing is NaN.
func TestAFTLossTails(t *testing.T) {
	for d := range distributionNames {
		for _, censored := range []bool{false, true} {
			for _, s := range []float64{-1e300, -1e4, -750, -400, -40, -9, 9, 25, 26, 40, 400, 750, 1e4, 1e300} {
				dist, scale := Distribution(d), 0.3
				got := dist.derivatives(s, censored, scale)
				if !(math.Abs(got.g) <= 15) || !(got.h >= 1e-16 && got.h <= 15) {
					t.Errorf("%v, censored %v, s = %v: got %+v", dist, censored, s, got)
				}
				if s < -8 && censored && got.g < -1e-3 {
					t.Errorf("%v, s = %v: gradient %v of a bound that is far below", dist, s, got.g)
				}
				if s > 8 && got.g > -1/scale*0.99 {
					t.Errorf("%v, censored %v, s = %v: gradient %v is too weak", dist, censored, s, got.g)
				}
				l := newAFTLoss(dist, scale, []float64{0}, nil).loss(1, censored, -s*scale)
				if !(l <= maxAFTLoss && l >= -1.5) {
					t.Errorf("%v, censored %v, s = %v: loss %v", dist, censored, s, l)
				}
			}
		}
	}
}

// log S is continuous where it changes its formula.
func TestNormalLogSurvivalTail(t *testing.T) {
	below, above := Normal.logSurvival(25), Normal.logSurvival(math.Nextafter(25, 26))
	if !(math.Abs(below/above-1) <= 1e-12) {
		t.Errorf("log S(25) = %v below and %v above", below, above)
	}
	// 40 digits by mpmath.
	if got, want := Normal.logSurvival(40), -804.6084420137538; !(math.Abs(got/want-1) <= 1e-14) {
		t.Errorf("log S(40): got %v, want %v", got, want)
	}
}

// spread is the standard deviation of exp(ς·ε); the test integrates the
// definition by S: E[z²] = ∫ 2z·S dz.
func TestSpread(t *testing.T) {
	for d, name := range distributionNames {
		for _, scale := range []float64{0.01, 0.2, 0.3, 0.4} {
			var m1, m2 float64
			const h = 1e-3
			for u := -30.0; u < 30; u += h { // u = log z, dz = z du
				s := math.Exp(Distribution(d).logSurvival(u / scale))
				m1 += math.Exp(u) * s * h
				m2 += 2 * math.Exp(2*u) * s * h
			}
			want := math.Sqrt(m2 - m1*m1)
			// The logistic tail beyond e^30 is not integrated.
			if got := Distribution(d).spread(scale); !(math.Abs(got/want-1) <= 2e-3) {
				t.Errorf("%s, scale %v: got %v, want %v", name, scale, got, want)
			}
		}
	}
	if got := Logistic.spread(0.5); !math.IsNaN(got) {
		t.Errorf("logistic with scale 0.5: got %v, want NaN", got)
	}
	for d, name := range distributionNames {
		for _, scale := range []float64{1e-12, 1e-9, 1e-3} {
			got := Distribution(d).spread(scale) / scale
			want := [...]float64{math.Pi / math.Sqrt(6), 1, math.Pi / math.Sqrt(3)}[d]
			if !(math.Abs(got/want-1) <= 0.01) {
				t.Errorf("%s, scale %v: got %v·scale, want about %v·scale", name, scale, got, want)
			}
		}
	}
}
