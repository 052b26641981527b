package search

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/model"
)

// mixedSpace has 25 parameters of every kind and about 10^19 times a continuum
// of configurations.
func mixedSpace() *assay.Space {
	var ps []assay.Param
	add := func(p assay.Param) {
		p.Name = fmt.Sprintf("p%d", len(ps))
		ps = append(ps, p)
	}
	for range 5 {
		add(assay.Param{Kind: assay.Real, Lo: 0, Hi: 1})
		add(assay.Param{Kind: assay.Integer, Lo: 1, Hi: 64})
		add(assay.Param{Kind: assay.Ordinal, Levels: []string{"1M", "4M", "16M", "64M"}})
		add(assay.Param{Kind: assay.Categorical, Levels: []string{"a", "b", "c"}})
		add(assay.Param{Kind: assay.Switch, Levels: []string{"off", "on"}})
	}
	s, err := assay.NewSpace(ps)
	if err != nil {
		panic(err)
	}
	return s
}

func mixedValue(s *assay.Space, c assay.Config) float64 {
	v := 1.0
	for i, u := range s.Unit(c) {
		v += (u - 0.3) * (u - 0.3) * float64(1+i%4)
	}
	return v
}

// cpuTime is the processor time of this process so far, which other processes
// on the machine do not change.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBayes measures one ask and tell after n trials. Goals: 15 ms at 100, 60 ms at 1,000.
func BenchmarkBayes(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := mixedSpace()
			var trials []assay.Trial
			r := NewRandom(s, 1)
			for range n {
				c, _ := r.draw()
				trials = append(trials, doneTrial(assay.Proposal{Config: c}, mixedValue(s, c)))
			}
			var spent time.Duration
			count := 0
			for b.Loop() {
				b.StopTimer()
				bayes := NewBayes(s, BayesOptions{Learner: model.Forest{Trees: 30, Seed: uint64(count)}, Seed: uint64(count)})
				if err := bayes.Observe(trials...); err != nil {
					b.Fatal(err)
				}
				count++
				before := cpuTime()
				b.StartTimer()
				ps, err := bayes.Ask(1)
				if err != nil {
					b.Fatal(err)
				}
				if err := bayes.Tell(doneTrial(ps[0], mixedValue(s, ps[0].Config))); err != nil {
					b.Fatal(err)
				}
				spent += cpuTime() - before
			}
			b.ReportMetric(spent.Seconds()*1e3/float64(count), "cpu-ms/op")
		})
	}
}
