package model

import "math"

// Shap explains the prediction at x: base is the expected prediction and phi[j] the Shapley value of feature j, so that
// base + Σ phi = e.Predict(x). The game is the path-dependent one of Lundberg, Erion and Lee, "Consistent
// individualized feature attribution for tree ensembles", 2018, §3: a feature that is not known goes both ways at a
// node, in proportion to Cover. phi has the length of x, and is 0 where no tree tests the feature.
//
// It is exact (their algorithm 2). Cost for each tree: leaves · depth².
func (e Ensemble) Shap(x []float64) (phi []float64, base float64) {
	phi = make([]float64, len(x))
	s := explainer{x: x, phi: phi}
	for _, t := range e.Trees {
		base += e.Scale * t.expected(0)
		s.tree, s.scale = t, e.Scale
		// Each level of the tree has its own copy of the path.
		depth := t.depth() + 2
		if n := depth * (depth + 1) / 2; len(s.steps) < n {
			s.steps = make([]step, n)
		}
		s.down(0, s.steps[:0], 1, 1, -1)
	}
	return phi, base + e.Bias
}

// Importance returns the mean of |phi[j]| over the rows of X, for each feature j:
// how much a feature moves the predictions, in their unit. X has n >= 1 rows.
func (e Ensemble) Importance(X [][]float64) []float64 {
	mean := make([]float64, len(X[0]))
	for _, x := range X {
		phi, _ := e.Shap(x)
		for j, v := range phi {
			mean[j] += math.Abs(v) / float64(len(X))
		}
	}
	return mean
}

// expected returns the Cover-weighted mean of the leaves under node i.
func (t Tree) expected(i int32) float64 {
	n := t[i]
	if n.Leaf() {
		return n.Value
	}
	l, r := t.fractions(n)
	return l*t.expected(n.Left) + r*t.expected(n.Right)
}

// fractions returns the shares of the cover of an inner node that go left and right: half each if nothing covers it.
func (t Tree) fractions(n Node) (left, right float64) {
	l, r := t[n.Left].Cover, t[n.Right].Cover
	if !(l+r > 0) {
		return 0.5, 0.5
	}
	return l / (l + r), r / (l + r)
}

// A step is one feature on the path from the root, with their letters: d is the feature, z the share of the paths that
// continue if it is not known, o that if it is known (0 or 1), and w the weight of the subsets of the path so far that
// have as many known features as there are steps before this one.
type step struct {
	d       int32
	z, o, w float64
}

type explainer struct {
	tree  Tree      // the present one
	scale float64   // factor on the values of its leaves
	x     []float64 // the row to explain
	phi   []float64 // Shapley values so far, by feature
	steps []step    // room for the paths of all levels
}

// down is RECURSE of algorithm 2: path is the path of the parent, to which feature d with shares z and o is added.
func (s *explainer) down(node int32, path []step, z, o float64, d int32) {
	if z == 0 && o == 0 {
		return // no subset of features comes here
	}
	// The copy goes right behind the parent's path, which is needed unchanged.
	m := append(path[len(path):len(path):cap(path)], path...)
	m = extend(m, z, o, d)
	n := s.tree[node]
	if n.Leaf() {
		for i := 1; i < len(m); i++ {
			s.phi[m[i].d] += s.scale * unwound(m, i) * (m[i].o - m[i].z) * n.Value
		}
		return
	}
	hot, cold := n.Left, n.Right
	hotShare, coldShare := s.tree.fractions(n)
	if !(s.x[n.Feature] <= n.Threshold) {
		hot, cold = cold, hot
		hotShare, coldShare = coldShare, hotShare
	}
	// A feature that is on the path already is taken off it, and comes back with both shares multiplied.
	z, o = 1, 1
	for k := 1; k < len(m); k++ {
		if m[k].d == n.Feature {
			z, o = m[k].z, m[k].o
			m = unwind(m, k)
			break
		}
	}
	s.down(hot, m, z*hotShare, o, n.Feature)
	s.down(cold, m, z*coldShare, 0, n.Feature)
}

// extend adds a feature to the path.
func extend(m []step, z, o float64, d int32) []step {
	l := len(m)
	w := 0.0
	if l == 0 {
		w = 1
	}
	m = append(m, step{d, z, o, w})
	for i := l - 1; i >= 0; i-- {
		m[i+1].w += o * m[i].w * float64(i+1) / float64(l+1)
		m[i].w *= z * float64(l-i) / float64(l+1)
	}
	return m
}

// unwind takes feature i off the path: it undoes extend.
func unwind(m []step, i int) []step {
	l := len(m) - 1
	z, o := m[i].z, m[i].o
	n := m[l].w
	for j := l - 1; j >= 0; j-- {
		if o != 0 {
			t := m[j].w
			m[j].w = n * float64(l+1) / (float64(j+1) * o)
			n = t - m[j].w*z*float64(l-j)/float64(l+1)
		} else {
			m[j].w *= float64(l+1) / (z * float64(l-j))
		}
	}
	for j := i; j < l; j++ {
		m[j].d, m[j].z, m[j].o = m[j+1].d, m[j+1].z, m[j+1].o
	}
	return m[:l]
}

// unwound returns the sum of the weights of unwind(m, i), and leaves m alone.
func unwound(m []step, i int) float64 {
	l := len(m) - 1
	z, o := m[i].z, m[i].o
	n := m[l].w
	var sum float64
	for j := l - 1; j >= 0; j-- {
		if o != 0 {
			t := n * float64(l+1) / (float64(j+1) * o)
			sum += t
			n = m[j].w - t*z*float64(l-j)/float64(l+1)
		} else if z != 0 {
			sum += m[j].w * float64(l+1) / (z * float64(l-j))
		}
	}
	return sum
}
