package main

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// Four of twelve: 495 configurations, all different, all valid.
// Reference: Silva Cunha et al. 2018, section 4.1
func TestAllQueues(t *testing.T) {
	all := slices.Collect(AllQueues())
	if len(all) != 495 {
		t.Fatalf("%d configurations, want 495", len(all))
	}
	seen := map[Queues]bool{}
	for _, q := range all {
		if err := q.Check(); err != nil || seen[q] {
			t.Fatalf("%v: %v, seen %v", q, err, seen[q])
		}
		seen[q] = true
		if l := q.Limits(); !slices.IsSorted(l) || l[0] < 300 || l[3] > 172800 {
			t.Fatalf("%v has limits %v", q, l)
		}
	}
	for _, q := range []Queues{{0, 2, 3, 4}, {1, 2, 3, 13}, {1, 2, 2, 3}, {4, 3, 5, 6}} {
		if q.Check() == nil {
			t.Errorf("no error for %v", q)
		}
	}
}

func TestQueueOf(t *testing.T) {
	l := Queues{1, 2, 4, 5}.Limits() // 5 min, 15 min, 1 h, 2 h
	for request, want := range map[int64]int{0: 0, 300: 0, 301: 1, 900: 1, 3600: 2, 7200: 3, 7201: 4, 1 << 40: 4} {
		if got := queueOf(l, request); got != want {
			t.Errorf("a job of %d s goes to queue %d, want %d", request, got, want)
		}
	}
}

// A generated log is the same for the same seed, has the load that was asked
// for, and the shares of the model: 29 % of one processor, two thirds of a power
// of two.
func TestGenerate(t *testing.T) {
	l := Generate(20_000, 128, 0.7, 1)
	if !reflect.DeepEqual(l, Generate(20_000, 128, 0.7, 1)) {
		t.Error("another log of the same seed")
	}
	if reflect.DeepEqual(l, Generate(20_000, 128, 0.7, 2)) {
		t.Error("the same log of another seed")
	}
	var serial, power2, work, byDay float64
	for i, j := range l.Jobs {
		if j.Procs < 1 || j.Procs > 128 || j.Run < 1 || j.Request < j.Run || i > 0 && j.Submit < l.Jobs[i-1].Submit {
			t.Fatalf("job %+v", j)
		}
		if j.Procs == 1 {
			serial++
		} else if j.Procs&(j.Procs-1) == 0 {
			power2++
		}
		work += float64(j.Run) * float64(j.Procs)
		if h := j.Submit / 3600 % 24; h >= 6 && h < 18 {
			byDay++
		}
	}
	n := float64(len(l.Jobs))
	within := func(what string, got, want, tol float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol) {
			t.Errorf("%s: got %.3f, want %.3f ± %.3f", what, got, want, tol)
		}
	}
	within("load", work/(128*float64(l.Jobs[len(l.Jobs)-1].Submit)), 0.7, 0.02)
	within("share of one processor", serial/n, 0.2927, 0.012) // 4 standard deviations
	if power2/n < 0.6686-0.015 {                              // other widths may be powers of two as well
		t.Errorf("share of powers of two: %.3f, want 0.6686 or more", power2/n)
	}
	within("share by day", byDay/n, 0.5+0.6/math.Pi, 0.03)
}

// The gamma distribution of shape a has the mean a and the variance a.
func TestGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, a := range []float64{1, 6.57, 639.1} {
		var sum, squares float64
		const n = 50_000
		for range n {
			x := gamma(rng, a)
			sum += x
			squares += (x - a) * (x - a)
		}
		if mean := sum / n; !(math.Abs(mean-a) <= 5*math.Sqrt(a/n)) {
			t.Errorf("shape %v: mean %v", a, mean)
		}
		if v := squares / n; !(math.Abs(v/a-1) <= 0.05) {
			t.Errorf("shape %v: variance %v", a, v)
		}
	}
}

// The table has every configuration on every slice, with the same figures as a
// single simulation.
func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made-up.swf")
	f := &flags{compress: 1, slices: 1, generate: 400, load: 0.8, seed: 1, out: file}
	if err := f.run(nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	f = &flags{logs: []string{file}, policy: "fair", compress: 1, slices: 2, table: true}
	if err := f.run(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 1+2*495 || !slices.Equal(rows[0], tableColumns) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	count := map[string]int{}
	for _, r := range rows[1:] {
		count[r[4]]++
	}
	if count["made-up-1"] != 495 || count["made-up-2"] != 495 {
		t.Errorf("rows of the environments: %v", count)
	}
	l, _, err := f.open(file)
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Slice(200, 200)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.row(environment{"made-up-2", second}, Queues{9, 10, 11, 12})
	if err != nil || !slices.Equal(r, rows[len(rows)-1]) {
		t.Errorf("got %v, %v, want the last row %v", r, err, rows[len(rows)-1])
	}
}
