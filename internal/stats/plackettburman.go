package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// generators are the first rows of the cyclic designs of Plackett and Burman
// (1946) by order; each next row is the one before, shifted right by one, and
// the last row is all low.
var generators = map[int]string{
	4:  "++-",
	8:  "+++-+--",
	12: "++-+++---+-",
	16: "++++-+-++--+---",
	20: "++--++++-+-+----++-",
	24: "+++++-+-++--++--+-+----",
}

// PlackettBurman returns the two-level screening design of n factors (Plackett and Burman 1946): orthogonal columns, -1
// for low and +1 for high, in [PlackettBurmanOrder] rows. Factors beyond n are dummies and left out. It panics unless 1
// <= n <= 1023.
//
// Orders up to 24 are the published cyclic ones; larger ones are Hadamard matrices by quadratic residues (Paley 1933,
// both constructions, for prime fields) or by doubling (Sylvester 1867), whose last row is all low too.
func PlackettBurman(n int) [][]int {
	order := PlackettBurmanOrder(n)
	var rows [][]int
	if g, ok := generators[order]; ok {
		rows = cyclic(g)
	} else {
		rows = core(hadamard(order))
	}
	for i := range rows {
		rows[i] = rows[i][:n:n]
	}
	return rows
}

// PlackettBurmanOrder returns the number of rows of the design of n factors: the
// least multiple of 4 above n, and where no construction here has that order
// (52, 92, 100, 116, ...), the least one above for which there is one.
func PlackettBurmanOrder(n int) int {
	if n < 1 || n > 1023 {
		panic(fmt.Sprintf("doe: Plackett-Burman design of %d factors", n))
	}
	order := (n/4 + 1) * 4
	for !constructible(order) {
		order += 4
	}
	return order
}

// Foldover returns the rows and below them every row negated, which separates the effects of single factors from the
// effects of pairs (Box and Wilson 1951; Shivam, Babu and Chase 2006, appendix A).
func Foldover(rows [][]int) [][]int {
	out := make([][]int, 0, 2*len(rows))
	for _, r := range rows {
		out = append(out, slices.Clone(r))
	}
	for _, r := range rows {
		neg := make([]int, len(r))
		for j, s := range r {
			neg[j] = -s
		}
		out = append(out, neg)
	}
	return out
}

// Effects returns for each factor |Σ_i rows[i][j]·y[i]|, its effect on y
// (Shivam, Babu and Chase 2006, appendix A). It panics if the lengths differ.
func Effects(rows [][]int, y []float64) []float64 {
	if len(rows) != len(y) {
		panic("doe: slice length mismatch")
	}
	if len(rows) == 0 {
		return nil
	}
	effects := make([]float64, len(rows[0]))
	for j := range effects {
		var sum float64
		for i, r := range rows {
			sum += float64(r[j]) * y[i]
		}
		effects[j] = math.Abs(sum)
	}
	return effects
}

// RankEffects returns the indices of the effects in decreasing order, of equal
// ones the lower index first. NaN comes last.
func RankEffects(effects []float64) []int {
	order := make([]int, len(effects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(effects[b], effects[a]) })
	return order
}

// cyclic returns the rows of a generator.
func cyclic(generator string) [][]int {
	n := len(generator)
	rows := make([][]int, n+1)
	for i := range rows {
		rows[i] = make([]int, n)
		for j := range n {
			rows[i][j] = -1
			if i < n && generator[(j-i+n)%n] == '+' {
				rows[i][j] = 1
			}
		}
	}
	return rows
}

// core makes the first column and the last row of a Hadamard matrix constant by
// negating rows and columns, and drops that column: the last row is all -1.
func core(h [][]int) [][]int {
	last := len(h) - 1
	for _, r := range h {
		if r[0] < 0 {
			for j := range r {
				r[j] = -r[j]
			}
		}
	}
	for j := 1; j < len(h); j++ {
		if h[last][j] > 0 {
			for i := range h {
				h[i][j] = -h[i][j]
			}
		}
	}
	for i := range h {
		h[i] = h[i][1:]
	}
	return h
}

func constructible(order int) bool {
	switch {
	case generators[order] != "", order == 2, prime(order-1) && order%4 == 0:
		return true
	case order%4 == 0 && prime(order/2-1) && (order/2-1)%4 == 1:
		return true
	}
	return order%8 == 0 && constructible(order/2)
}

// hadamard returns a Hadamard matrix of a constructible order.
func hadamard(order int) [][]int {
	switch q := order/2 - 1; {
	case order == 2:
		return [][]int{{1, 1}, {1, -1}}
	case generators[order] != "":
		h := cyclic(generators[order])
		for i := range h {
			h[i] = append([]int{1}, h[i]...)
		}
		return h
	case order%4 == 0 && prime(order-1):
		return paley1(order - 1)
	case q%4 == 1 && prime(q):
		return paley2(q)
	}
	half := hadamard(order / 2)
	h := make([][]int, order)
	for i := range h {
		h[i] = make([]int, order)
		for j := range h[i] {
			h[i][j] = half[i%len(half)][j%len(half)]
			if i >= len(half) && j >= len(half) {
				h[i][j] *= -1
			}
		}
	}
	return h
}

// paley1 is I + S with S = [0 1; -1 Q], Q_ij = χ(i-j), for a prime q = 3 mod 4.
func paley1(q int) [][]int {
	h := conference(q, -1)
	for i := range h {
		h[i][i]++
	}
	return h
}

// paley2 replaces each 0 of C = [0 1; 1 Q] by [1 -1; -1 -1] and each ±1 by
// ±[1 1; 1 -1], for a prime q = 1 mod 4.
func paley2(q int) [][]int {
	c := conference(q, 1)
	h := make([][]int, 2*len(c))
	for i := range h {
		h[i] = make([]int, 2*len(c))
		for j := range h[i] {
			s, block := c[i/2][j/2], [2][2]int{{1, 1}, {1, -1}}
			if s == 0 {
				s, block = 1, [2][2]int{{1, -1}, {-1, -1}}
			}
			h[i][j] = s * block[i%2][j%2]
		}
	}
	return h
}

// conference returns the matrix of order q+1 with χ(i-j) inside, 1 in the first
// row and border in the first column.
func conference(q, border int) [][]int {
	chi := make([]int, q)
	for i := range chi {
		chi[i] = -1
	}
	for i := 1; i < q; i++ {
		chi[i*i%q] = 1
	}
	chi[0] = 0
	c := make([][]int, q+1)
	for i := range c {
		c[i] = make([]int, q+1)
		for j := range c[i] {
			switch {
			case i == 0 && j == 0:
			case i == 0:
				c[i][j] = 1
			case j == 0:
				c[i][j] = border
			default:
				c[i][j] = chi[(i-j+q)%q]
			}
		}
	}
	return c
}

func prime(n int) bool {
	if n < 2 {
		return false
	}
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}
