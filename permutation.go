package assay

import (
	"fmt"
	"slices"
	"strings"
)

// MaxOrder is the maximal number of levels of a [Permutation]: with one more, a coordinate could not distinguish all
// orders.
const MaxOrder = 18

// Order returns the order of the levels that coordinate x of a [Permutation] stands for: the
// index of the level at each place. Coordinates number the orders lexically: 0 is as written.
func (p Param) Order(x float64) []int {
	n := len(p.Levels)
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	order := make([]int, 0, n)
	rank, f := int64(x), factorial(n)
	for k := n; k > 0; k-- {
		f /= int64(k)
		i := rank / f
		rank %= f
		order = append(order, left[i])
		left = slices.Delete(left, int(i), int(i)+1)
	}
	return order
}

// OrderOf is the inverse of [Param.Order].
func (p Param) OrderOf(order []int) float64 {
	rank := int64(0)
	for i, l := range order {
		less := 0
		for _, m := range order[i+1:] {
			if m < l {
				less++
			}
		}
		rank = rank*int64(len(order)-i) + int64(less)
	}
	return float64(rank)
}

// factorial returns n!, n <= 20.
func factorial(n int) int64 {
	f := int64(1)
	for k := int64(2); k <= int64(n); k++ {
		f *= k
	}
	return f
}

// orderText returns an order as an argument has it: "inline,unroll,vectorize".
func (p Param) orderText(x float64) string {
	words := make([]string, 0, len(p.Levels))
	for _, l := range p.Order(x) {
		words = append(words, p.Levels[l])
	}
	return strings.Join(words, ",")
}

// parseOrder is the inverse of orderText.
func (p Param) parseOrder(text string) (float64, error) {
	words := strings.Split(text, ",")
	order := make([]int, 0, len(p.Levels))
	for _, w := range words {
		l := slices.Index(p.Levels, strings.TrimSpace(w))
		switch {
		case l < 0:
			return 0, fmt.Errorf("parameter %q has no value %q to put in order (it has %s)", p.Name, w, abbreviate(p.Levels))
		case slices.Contains(order, l):
			return 0, fmt.Errorf("parameter %q: %q comes twice in the order %q", p.Name, w, text)
		}
		order = append(order, l)
	}
	if len(order) < len(p.Levels) {
		return 0, fmt.Errorf("parameter %q: the order %q has %d of %d values", p.Name, text, len(order), len(p.Levels))
	}
	return p.OrderOf(order), nil
}

// orderDistance returns the share of the pairs of levels that two orders have the other way
// round: Kendall's distance, scaled to [0, 1].
func (p Param) orderDistance(x, y float64) float64 {
	n := len(p.Levels)
	if n < 2 {
		return 0
	}
	var place, other [MaxOrder]int
	for i, l := range p.Order(x) {
		place[l] = i
	}
	for i, l := range p.Order(y) {
		other[l] = i
	}
	apart := 0
	for a := range n {
		for b := range a {
			if place[a] < place[b] != (other[a] < other[b]) {
				apart++
			}
		}
	}
	return float64(apart) / float64(n*(n-1)/2)
}

// Swaps returns the coordinates of the orders in which two levels of order x of a [Permutation]
// have changed places.
func (p Param) Swaps(x float64) []float64 {
	order := p.Order(x)
	var out []float64
	for i := range order {
		for j := range i {
			order[i], order[j] = order[j], order[i]
			out = append(out, p.OrderOf(order))
			order[i], order[j] = order[j], order[i]
		}
	}
	return out
}
