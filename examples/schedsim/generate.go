package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// Generate returns a made-up log of jobs on a machine of procs >= 2 processors, the same for the same
// arguments. load is the work of the jobs as a share of the machine's capacity between the first and the
// last submission.
//
// Widths and run times are drawn as batch jobs are in the model of Lublin and Feitelson (JPDC 2003): 29
// % of the jobs have one processor, the others a logarithm of the width that is two-stage uniform, most
// of them rounded to a power of two; the logarithm of the run time has a hyper-gamma distribution that
// depends on the width. Submissions are simpler than in the model: by chance, with a rate that is a sine
// of the time of day. Users are as in real logs: they ask for round times, up to five times the run
// time.
func Generate(jobs, procs int, load float64, seed uint64) *Log {
	rng := rand.New(rand.NewPCG(seed, 0x73776600))
	l := &Log{Procs: procs, Start: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Unix()}
	var work float64
	for i := range jobs {
		p := width(rng, procs)
		run := runTime(rng, p)
		l.Jobs = append(l.Jobs, Job{ID: int64(i + 1), Run: run, Request: request(rng, run), Procs: p})
		work += float64(run) * float64(p)
	}
	submit(rng, l.Jobs, work/(float64(procs)*load))
	return l
}

// width draws a number of processors.
func width(rng *rand.Rand, procs int) int {
	const serial, power2, low, first = 0.2927, 0.6686, 1.2, 0.875 // Lublin and Feitelson 2003, batch jobs
	if rng.Float64() < serial {
		return 1
	}
	high := math.Log2(float64(procs))
	mid := max(low, high-2)
	l := low + rng.Float64()*(mid-low)
	if rng.Float64() >= first {
		l = mid + rng.Float64()*(high-mid)
	}
	if rng.Float64() < power2/(1-serial) {
		l = math.Round(l)
	}
	return min(procs, max(2, int(math.Round(math.Exp2(l)))))
}

// runTime draws a run time in seconds, at most two days.
func runTime(rng *rand.Rand, procs int) int64 {
	const a1, b1, a2, b2, pa, pb = 6.57, 0.823, 639.1, 0.0156, -0.003, 0.6986 // Lublin and Feitelson 2003, batch jobs
	a, b := a2, b2
	if rng.Float64() < pa*float64(procs)+pb {
		a, b = a1, b1
	}
	return int64(min(172800, max(1, math.Exp(b*gamma(rng, a)))))
}

// request draws the time that is asked for: a round one, at least run.
func request(rng *rand.Rand, run int64) int64 {
	want := float64(run) * (1 + 4*rng.Float64()*rng.Float64())
	for _, m := range []int64{
		5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 720, 1080, 1440, 2160, 2880,
	} {
		if want <= float64(60*m) {
			return 60 * m
		}
	}
	return 4320 * 60
}

// submit spreads the jobs over span seconds, by day four times as many as by
// night.
func submit(rng *rand.Rand, jobs []Job, span float64) {
	const day = 86400
	// rate is the integral of 1 - 0.6·cos(2π t/day), in days.
	rate := func(t float64) float64 { return t/day - 0.6*math.Sin(2*math.Pi*t/day)/(2*math.Pi) }
	times := make([]float64, len(jobs))
	var sum float64
	for i := range times {
		sum += rng.ExpFloat64()
		times[i] = sum
	}
	total := rate(span)
	lo := 0.0
	for i := range jobs {
		want := times[i] / sum * total
		// Bisection for rate(t) = want; rate increases. Invariant: rate(lo) <= want <= rate(hi).
		hi := span
		for hi-lo > 0.5 {
			if mid := (lo + hi) / 2; rate(mid) < want {
				lo = mid
			} else {
				hi = mid
			}
		}
		jobs[i].Submit = int64(hi)
	}
	first := jobs[0].Submit
	for i := range jobs {
		jobs[i].Submit -= first
	}
}

// gamma draws from the gamma distribution of shape a >= 1 and scale 1 (Marsaglia
// and Tsang 2000).
func gamma(rng *rand.Rand, a float64) float64 {
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
