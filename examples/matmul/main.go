// Matmul multiplies two square matrices: the order of its loops, the size of its blocks and the number of its workers
// decide how well it uses caches and processors. All settings compute the same sums in the same order.
//
//	go build -o matmul . && ./matmul -order ikj -block 64 -workers 2
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"sync"
)

// A product is c += a·b of n×n matrices, each in one slice, row by row.
type product struct {
	n       int
	a, b, c []float64
}

func main() {
	n := flag.Int("n", 512, "rows and columns")
	order := flag.String("order", "ijk", "loops from outermost to innermost: i is the row, j the column, k the sum")
	block := flag.Int("block", 512, "rows and columns of a block")
	workers := flag.Int("workers", 1, "workers, each with its own rows")
	flag.Parse()
	log.SetFlags(0)
	if len(*order) != 3 || !strings.Contains("ijkijk jikjik", *order) {
		log.Fatalf("-order %s: it is a permutation of ijk", *order)
	}
	if *n < 1 || *block < 1 || *workers < 1 {
		log.Fatal("-n, -block and -workers are at least 1")
	}
	p := product{*n, fill(*n, 1), fill(*n, 2), make([]float64, *n**n)}
	var wg sync.WaitGroup
	for w := range *workers {
		from, to := w**n / *workers, (w+1)**n / *workers
		wg.Go(func() { p.rows(from, to, *order, *block) })
	}
	wg.Wait()
	sum := 0.0
	for _, x := range p.c {
		sum += x
	}
	fmt.Printf("sum %.6f\n", sum)
}

// fill returns a matrix of random numbers, the same at every call.
func fill(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, seed))
	m := make([]float64, n*n)
	for i := range m {
		m[i] = r.Float64()
	}
	return m
}

// rows computes the rows of the product from one to another, block by block.
func (p *product) rows(from, to int, order string, block int) {
	low := map[byte]int{'i': from}
	high := map[byte]int{'i': to, 'j': p.n, 'k': p.n}
	var at, end [3]int // of a block, by the depth of the loop
	var walk func(depth int)
	walk = func(depth int) {
		if depth == 3 {
			p.block(order, at, end)
			return
		}
		name := order[depth]
		for x := low[name]; x < high[name]; x += block {
			at[depth], end[depth] = x, min(x+block, high[name])
			walk(depth + 1)
		}
	}
	walk(0)
}

// block adds the products of one block.
func (p *product) block(order string, at, end [3]int) {
	n := p.n
	steps := map[byte][3]int{'i': {n, 0, n}, 'j': {0, 1, 1}, 'k': {1, n, 0}} // of a step in a, b and c
	s0, s1, s2 := steps[order[0]], steps[order[1]], steps[order[2]]
	for x := at[0]; x < end[0]; x++ {
		for y := at[1]; y < end[1]; y++ {
			a := x*s0[0] + y*s1[0] + at[2]*s2[0]
			b := x*s0[1] + y*s1[1] + at[2]*s2[1]
			c := x*s0[2] + y*s1[2] + at[2]*s2[2]
			for range end[2] - at[2] {
				p.c[c] += p.a[a] * p.b[b]
				a, b, c = a+s2[0], b+s2[1], c+s2[2]
			}
		}
	}
}
