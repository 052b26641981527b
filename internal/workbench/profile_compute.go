package workbench

import (
	"math"
	"runtime"
	"sync"
	"time"
)

// compute measures the processors: their number, the speed of a single processor in integer and in
// floating-point arithmetic, and the speed of all together.
func (m *meter) compute() error {
	cpus, limit := runtime.GOMAXPROCS(0), machine{}.cpuQuota()
	m.add(Reading{
		Name: "cpus", Resource: "compute", Method: "processors that may be used, by affinity and quota",
	}, min(float64(cpus), limit.share))
	share, err := ownShare(func() error {
		err := m.read(Reading{
			Name: "integer_speed", Resource: "compute", Unit: "op/s", Method: "sieve of Eratosthenes in 100 kB, marks a second",
		}, shareCompute, limit.over(1, sieveSpeed))
		if err != nil {
			return err
		}
		return m.read(Reading{
			Name: "float_speed", Resource: "compute", Unit: "op/s", Method: "whetstone instructions a second, one thread",
		}, shareCompute, limit.over(1, func() (float64, error) { return whetstoneSpeed(1) }))
	})
	if err != nil {
		return err
	}
	if share < 0.95*min(1, limit.share) {
		m.warn("something else was running: the thread that measures had a processor for %.0f %% of the time", 100*share)
	}
	return m.read(Reading{
		Name: "float_speed_all", Resource: "compute", Unit: "op/s",
		Method: "whetstone instructions a second, a thread on each processor",
	}, shareCompute, limit.over(cpus, func() (float64, error) { return whetstoneSpeed(cpus) }))
}

// Primes below sieveSize, and how many marks the sieve makes.
const (
	sieveSize   = 100_000
	sievePrimes = 9592
)

// sieve finds the primes below len(composite) by the sieve of Eratosthenes: adds,
// compares, branches and stores that stay in the second-level cache. It returns
// how many there are and how many marks were made. composite is overwritten.
func sieve(composite []bool) (primes, marks int) {
	clear(composite)
	for i := 2; i < len(composite); i++ {
		if composite[i] {
			continue
		}
		primes++
		for j := i * i; j < len(composite); j += i {
			composite[j] = true
			marks++
		}
	}
	return primes, marks
}

// sieveSpeed returns the marks a second of some sieves.
func sieveSpeed() (float64, error) {
	composite := make([]bool, sieveSize)
	began, all := time.Now(), 0
	for range 20 {
		primes, marks := sieve(composite)
		if primes != sievePrimes {
			return 0, errWrongResult
		}
		all += marks
	}
	return float64(all) / time.Since(began).Seconds(), nil
}

// A whetstone is the state of the synthetic benchmark of Curnow and Wichmann (1976): eight modules,
// weighted like the statements of the Algol programs that they counted. One pass is 100,000 whetstone
// instructions.
type whetstone struct {
	e    [4]float64 // array elements, modules 2 and 3
	x, y float64    // trigonometric functions, module 7
	z    float64    // procedure calls, module 8
	w    float64    // standard functions, module 11
	j, k int        // jumps and integers, modules 4 and 6
	f    [3]float64 // array references, module 9
}

// The constants of the benchmark.
const (
	whetT  = 0.499975
	whetT1 = 0.50025
	whetT2 = 2.0
)

func newWhetstone() *whetstone {
	return &whetstone{e: [4]float64{1, -1, -1, -1}, x: 0.5, y: 0.5, w: 0.75, f: [3]float64{1, 2, 3}}
}

// arrays is module 2.
func (s *whetstone) arrays(rounds int) {
	e := &s.e
	for range rounds {
		e[0] = (e[0] + e[1] + e[2] - e[3]) * whetT
		e[1] = (e[0] + e[1] - e[2] + e[3]) * whetT
		e[2] = (e[0] - e[1] + e[2] + e[3]) * whetT
		e[3] = (-e[0] + e[1] + e[2] + e[3]) * whetT
	}
}

// procedureA is the procedure of module 3.
//
//go:noinline
func procedureA(e *[4]float64) {
	for range 6 {
		e[0] = (e[0] + e[1] + e[2] - e[3]) * whetT
		e[1] = (e[0] + e[1] - e[2] + e[3]) * whetT
		e[2] = (e[0] - e[1] + e[2] + e[3]) * whetT
		e[3] = (-e[0] + e[1] + e[2] + e[3]) / whetT2
	}
}

// procedure3 is the procedure of module 8.
//
//go:noinline
func procedure3(x, y float64) float64 {
	x = whetT * (x + y)
	y = whetT * (x + y)
	return (x + y) / whetT2
}

// procedure0 is the procedure of module 9.
//
//go:noinline
func procedure0(f *[3]float64, j, k, l int) {
	f[j] = f[k]
	f[k] = f[l]
	f[l] = f[j]
}

// pass runs every module n times its weight. Modules 1, 5 and 10 have a weight
// of 0 or do nothing and are left out.
func (s *whetstone) pass(n int) {
	s.arrays(12 * n) // module 2
	for range 14 * n {
		procedureA(&s.e) // module 3
	}
	j := 1
	for range 345 * n { // module 4: conditional jumps
		if j == 1 {
			j = 2
		} else {
			j = 3
		}
		if j > 2 {
			j = 0
		} else {
			j = 1
		}
		if j < 1 {
			j = 1
		} else {
			j = 0
		}
	}
	s.j = j
	a, k, l := 1, 2, 3
	for range 210 * n { // module 6: integers
		a = a * (k - a) * (l - k)
		k = l*k - (l-a)*k
		l = (l - k) * (k + a)
		s.f[(l-2)%3] = float64(a + k + l)
		s.f[(k-2)%3] = float64(a * k * l)
	}
	s.k = a + k + l
	for range 32 * n { // module 7: trigonometry
		s.x = whetT * math.Atan(whetT2*math.Sin(s.x)*math.Cos(s.x)/(math.Cos(s.x+s.y)+math.Cos(s.x-s.y)-1))
		s.y = whetT * math.Atan(whetT2*math.Sin(s.y)*math.Cos(s.y)/(math.Cos(s.x+s.y)+math.Cos(s.x-s.y)-1))
	}
	for range 899 * n { // module 8
		s.z = procedure3(1, 1)
	}
	s.f = [3]float64{1, 2, 3}
	for range 616 * n { // module 9
		procedure0(&s.f, 0, 1, 2)
	}
	for range 93 * n { // module 11
		s.w = math.Sqrt(math.Exp(math.Log(s.w) / whetT1))
	}
}

// right reports whether the state after ten passes is correct: the published output of the benchmark, to
// its five digits.
func (s *whetstone) right() bool {
	near := func(got, want float64) bool { return math.Abs(got-want) <= 5e-5*math.Abs(want) }
	return near(s.e[0], -0.055336) && near(s.e[3], -1.1031) && s.j == 1 && s.k == 6 &&
		near(s.x, 0.49041) && near(s.y, 0.49039) && near(s.z, 0.99994) && near(s.w, 0.83467) && s.f == [3]float64{3, 2, 3}
}

// whetstoneSpeed returns the whetstone instructions a second of that many
// threads, each of which makes ten passes from the beginning, ten times.
func whetstoneSpeed(threads int) (float64, error) {
	const passes, times = 10, 10
	began := time.Now()
	wrong := make([]bool, threads)
	run := func(i int) {
		for range times {
			s := newWhetstone()
			s.pass(passes)
			wrong[i] = wrong[i] || !s.right()
		}
	}
	if threads == 1 {
		run(0)
	} else {
		var wg sync.WaitGroup
		for i := range threads {
			wg.Go(func() { run(i) })
		}
		wg.Wait()
	}
	took := time.Since(began).Seconds()
	for _, w := range wrong {
		if w {
			return 0, errWrongResult
		}
	}
	return float64(threads*times*passes) * 1e5 / took, nil
}
