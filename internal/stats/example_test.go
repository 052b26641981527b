package stats_test

import (
	"fmt"

	"github.com/assay-run/assay/internal/stats"
)

func ExampleMedianInterval() {
	runs := []float64{1.21, 1.25, 1.19, 1.22, 1.9, 1.2, 1.24}
	e := stats.MedianInterval(runs, 0.95)
	fmt.Printf("%.2f s [%.2f, %.2f] of %d runs\n", e.Value, e.Low, e.High, e.N)
	fmt.Println(stats.MedianInterval(runs[:4], 0.95).Warnings[0])
	// Output:
	// 1.22 s [1.19, 1.90] of 7 runs
	// need >= 6 runs for a 95 % interval of the median, have 4
}

func ExamplePareto_Replicates() {
	// Noise of shape 1.7 with a least value of 0.1 s: how many runs until the
	// minimum is within 0.05 s of its limit with 99 %?
	noise := stats.Pareto{Alpha: 1.7, Beta: 0.1}
	fmt.Println(noise.Replicates(0.05, 0.01))
	// Output: 7
}
