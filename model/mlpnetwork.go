package model

import (
	"math"
	"math/rand/v2"
)

// A network is a multi-layer perceptron with tanh units and two linear outputs.
type network struct {
	sizes []int // inputs, units of each hidden layer, 2
	// For each layer its weights, a row of outputs for each input, and then a bias for each output.
	params []float64
}

// newNetwork draws weights uniformly from ±√(6/(in+out)) (Glorot and Bengio 2010, eq. 16); biases are 0.
func newNetwork(sizes []int, rng *rand.Rand) *network {
	n := &network{sizes: sizes}
	for k := range len(sizes) - 1 {
		in, out := sizes[k], sizes[k+1]
		bound := math.Sqrt(6 / float64(in+out))
		for range in * out {
			n.params = append(n.params, bound*(2*rng.Float64()-1))
		}
		n.params = append(n.params, make([]float64, out)...)
	}
	return n
}

// A workspace holds the outputs of each layer, the inputs first, and the derivatives of the loss by them.
type workspace struct{ value, slope [][]float64 }

func (n *network) workspace() *workspace {
	w := &workspace{}
	for _, s := range n.sizes {
		w.value = append(w.value, make([]float64, s))
		w.slope = append(w.slope, make([]float64, s))
	}
	return w
}

// forward returns the outputs at x, and leaves the inputs of backward in w.
func (n *network) forward(x []float64, w *workspace) (a, b float64) {
	copy(w.value[0], x)
	p := n.params
	last := len(n.sizes) - 2
	for k := range last + 1 {
		in, out := w.value[k], w.value[k+1]
		weights, biases := p[:len(in)*len(out)], p[len(in)*len(out):]
		copy(out, biases)
		for i, v := range in {
			axpy(out, v, weights[i*len(out):])
		}
		if k < last {
			for o, v := range out {
				out[o] = math.Tanh(v)
			}
		}
		p = biases[len(out):]
	}
	out := w.value[last+1]
	return out[0], out[1]
}

// backward adds to grad the derivatives of a loss by the parameters, given those
// by the two outputs of the last forward.
func (n *network) backward(a, b float64, w *workspace, grad []float64) {
	last := len(n.sizes) - 2
	w.slope[last+1][0], w.slope[last+1][1] = a, b
	end := len(n.params)
	for k := last; k >= 0; k-- {
		in, slope := w.value[k], w.slope[k+1]
		out := len(slope)
		axpy(grad[end-out:end], 1, slope)
		start := end - out - len(in)*out
		for i, v := range in {
			axpy(grad[start+i*out:start+(i+1)*out], v, slope)
		}
		if k > 0 {
			for i, v := range in {
				row := n.params[start+i*out : start+(i+1)*out]
				var s float64
				for o, g := range slope {
					s += row[o] * g
				}
				w.slope[k][i] = s * (1 - v*v) // tanh' = 1 - tanh²
			}
		}
		end = start
	}
}

// axpy adds a·x to y; x may be longer.
func axpy(y []float64, a float64, x []float64) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] += a * v
	}
}

// adam is the state of Adam with β₁ = 0.9 and β₂ = 0.999.
type adam struct {
	rate         float64   // of learning
	first, other []float64 // moments
	decay1       float64   // β₁ᵗ
	decay2       float64   // β₂ᵗ
}

func newAdam(n int, rate float64) *adam {
	return &adam{rate, make([]float64, n), make([]float64, n), 1, 1}
}

// maxNorm is the length to which a gradient is shortened: far bounds pull hard.
const maxNorm = 5

// update moves params against grad times scale.
func (s *adam) update(params, grad []float64, scale float64) {
	const beta1, beta2, eps = 0.9, 0.999, 1e-8
	var norm float64
	for _, g := range grad {
		norm += g * g
	}
	if norm = math.Sqrt(norm) * scale; norm > maxNorm {
		scale *= maxNorm / norm
	}
	s.decay1 *= beta1
	s.decay2 *= beta2
	rate := s.rate * math.Sqrt(1-s.decay2) / (1 - s.decay1)
	for i, g := range grad {
		g *= scale
		s.first[i] += (1 - beta1) * (g - s.first[i])
		s.other[i] += (1 - beta2) * (g*g - s.other[i])
		params[i] -= rate * s.first[i] / (math.Sqrt(s.other[i]) + eps)
	}
}
