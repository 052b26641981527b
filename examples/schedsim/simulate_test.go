package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// handLog is six jobs on 10 processors, which ask for the time that they take but job 1,
// which asks for 20 s and takes 10.
//
//	job     0   1   2   3   4   5
//	submit  0   1   2   3   4   5
//	run    10  10   5   4  12   2
//	asks   10  20   5   4  12   2
//	procs   6   4   8   2   2   4
var handLog = []Job{
	{ID: 0, Submit: 0, Run: 10, Request: 10, Procs: 6},
	{ID: 1, Submit: 1, Run: 10, Request: 20, Procs: 4},
	{ID: 2, Submit: 2, Run: 5, Request: 5, Procs: 8},
	{ID: 3, Submit: 3, Run: 4, Request: 4, Procs: 2},
	{ID: 4, Submit: 4, Run: 12, Request: 12, Procs: 2},
	{ID: 5, Submit: 5, Run: 2, Request: 2, Procs: 4},
}

// The schedules of handLog, worked out by hand.
//
// Jobs 0 and 1 start at once and fill the machine until job 0 ends at 10.
//
// FCFS: job 2 needs 8: it waits until job 1 ends at 11, when job 3 joins it (10
// in use). Job 3 ends at 15: job 4 takes its 2. Job 2 ends at 16: job 5 starts.
//
// EASY: at 10, 6 are free. Job 2 is the head; job 1 asked for 20 s, so the
// reservation is at 21, with 2 to spare. Job 3 would end at 14: it starts (4
// left). Job 4 would end at 22, after 21, but its 2 processors are the spare ones:
// it starts (2 left). Job 5 needs 4 and does not fit. At 11, job 1 ends early (6
// free): the head still needs 8. Job 3's end at 14 makes 8 free, so the
// reservation is now at 14 with none to spare. Job 5 would end at 13: it starts.
// At 14 the head starts.
//
// Fair, with one limit at 5 s, nothing forgotten: jobs 0, 1 and 4 are of the long
// queue, 2, 3 and 5 of the short one. At 10 the usage is 0 of the short and more
// of the long queue, so the order is 2, 3, 5, 4. Job 2 is the head with the
// reservation at 21 and 2 to spare; job 3 ends at 14 and job 5 at 12: both start
// and nothing is left for job 4. At 11, job 1 ends (4 free), and the reservation
// moves to 12, the end of job 5, with none to spare: job 4 would be in the way. At
// 12 the head starts and fills the machine; job 3 ends at 14 and job 4 follows.
func TestHandComputed(t *testing.T) {
	tests := []struct {
		policy Policy
		want   []int64
	}{
		{FCFS, []int64{0, 1, 11, 11, 15, 16}},
		{EASY, []int64{0, 1, 14, 10, 10, 11}},
		{Fair, []int64{0, 1, 12, 10, 14, 10}},
	}
	for _, tt := range tests {
		got, err := Simulate(handLog, Options{Policy: tt.policy, Procs: 10, Limits: []int64{5}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: starts %v, want %v", tt.policy, got, tt.want)
		}
	}
}

// The metrics of the FCFS schedule of handLog. Waits 0 0 9 8 11 11; turn-around
// 10 10 14 12 23 13, by max(run, 10): 1, 1, 1.4, 1.2, 23/12, 1.3. Work 60+40+40+
// 8+24+8 = 180 in 27 s on 10 processors.
func TestMeasureHandComputed(t *testing.T) {
	start := []int64{0, 1, 11, 11, 15, 16}
	m := Measure(handLog, start, Options{Policy: FCFS, Procs: 10})
	near(t, "slowdown", m.Slowdown, (1+1+1.4+1.2+23.0/12+1.3)/6)
	near(t, "wait", m.Wait, 39.0/6)
	near(t, "utilisation", m.Utilisation, 180.0/270)
	if m.Makespan != 27 {
		t.Errorf("makespan %d, want 27", m.Makespan)
	}
	m = Measure(handLog, start, Options{Policy: Fair, Procs: 10, Limits: []int64{5}})
	if len(m.Queues) != 2 || m.Queues[0].Jobs != 3 || m.Queues[1].Jobs != 3 {
		t.Fatalf("queues %+v, want two with three jobs each", m.Queues)
	}
	near(t, "slowdown of the short queue", m.Queues[0].Slowdown, (1.4+1.2+1.3)/3)
	near(t, "wait of the long queue", m.Queues[1].Wait, 11.0/3)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// oracle is the dumb alternative: it steps through time second by second, keeps
// no state but the starts, and decides by the definition of the policies. A job
// may overtake the head if the head could still start at its reservation with it
// running; the reservation is found by trying every second.
func oracle(jobs []Job, o Options) []int64 {
	start := make([]int64, len(jobs))
	for i := range start {
		start[i] = -1
	}
	// inUse counts processors in use at the time at, as is known at now.
	inUse := func(now, at int64) (n int) {
		for i, j := range jobs {
			switch {
			case start[i] < 0:
			case start[i]+j.Run <= now: // has ended
			case at == now || at < start[i]+j.Request:
				n += j.Procs
			}
		}
		return n
	}
	left := len(jobs)
	for now := int64(0); left > 0; now++ {
		var waiting []int
		usage := map[int]int64{}
		event := false // between events the usage changes, but nothing is decided
		for i, j := range jobs {
			event = event || j.Submit == now || start[i] >= 0 && start[i]+j.Run == now
			if start[i] < 0 && j.Submit <= now {
				waiting = append(waiting, i)
			}
			if start[i] >= 0 {
				usage[queueOf(o.Limits, j.Request)] += int64(j.Procs) * min(j.Run, now-start[i])
			}
		}
		if !event {
			continue
		}
		if o.Policy == Fair {
			slices.SortStableFunc(waiting, func(a, b int) int {
				qa, qb := queueOf(o.Limits, jobs[a].Request), queueOf(o.Limits, jobs[b].Request)
				if usage[qa] != usage[qb] {
					return int(usage[qa] - usage[qb])
				}
				return qa - qb
			})
		}
		head := -1
		var reserved int64
		for _, i := range waiting {
			fits := inUse(now, now)+jobs[i].Procs <= o.Procs
			if head < 0 && fits {
				start[i] = now
				left--
				continue
			}
			if head < 0 {
				if head = i; o.Policy == FCFS {
					break
				}
				for reserved = now; inUse(now, reserved)+jobs[i].Procs > o.Procs; reserved++ {
				}
				continue
			}
			if !fits {
				continue
			}
			start[i] = now
			if reserved > now && inUse(now, reserved)+jobs[head].Procs > o.Procs {
				start[i] = -1
				continue
			}
			left--
		}
	}
	return start
}

// randomJobs makes a small crowded log with ties of times, widths and requests.
func randomJobs(rng *rand.Rand, n, procs int) []Job {
	jobs := make([]Job, n)
	at := int64(0)
	for i := range jobs {
		at += int64(rng.IntN(4))
		run := int64(1 + rng.IntN(12))
		jobs[i] = Job{
			ID: int64(i), Submit: at, Run: run,
			Request: run + int64(rng.IntN(2)*rng.IntN(10)), Procs: 1 + rng.IntN(procs),
		}
		if rng.IntN(2) == 0 {
			jobs[i].Procs = 1 + rng.IntN(2)
		}
	}
	return jobs
}

func TestAgreesWithOracle(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		procs := 2 + rng.IntN(9)
		jobs := randomJobs(rng, 5+rng.IntN(40), procs)
		for _, p := range []Policy{FCFS, EASY, Fair} {
			o := Options{Policy: p, Procs: procs, Limits: []int64{4, 8, 15}}
			got, err := Simulate(jobs, o)
			if err != nil {
				t.Fatal(err)
			}
			if want := oracle(jobs, o); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s: starts %v, want %v", seed, p, got, want)
			}
		}
	}
}

// On logs of real size: no more processors are in use than there are, nothing
// starts before its submission, with FCFS nothing overtakes, and every start is
// at a submission or an end.
func TestScheduleIsValid(t *testing.T) {
	l := Generate(3000, 64, 0.9, 3)
	for _, p := range []Policy{FCFS, EASY, Fair} {
		o := Options{Policy: p, Procs: 64, Limits: Queues{2, 4, 7, 10}.Limits(), HalfLife: 86400}
		start, err := Simulate(l.Jobs, o)
		if err != nil {
			t.Fatal(err)
		}
		moments := map[int64]bool{}
		change := map[int64]int{}
		for i, j := range l.Jobs {
			moments[j.Submit], moments[start[i]+j.Run] = true, true
			change[start[i]] += j.Procs
			change[start[i]+j.Run] -= j.Procs
		}
		for i, j := range l.Jobs {
			if start[i] < j.Submit || !moments[start[i]] {
				t.Fatalf("%s: job %d, submitted at %d, starts at %d", p, j.ID, j.Submit, start[i])
			}
			if p == FCFS && i > 0 && start[i] < start[i-1] {
				t.Fatalf("job %d overtakes", j.ID)
			}
		}
		used := 0
		for _, at := range slices.Sorted(keys(change)) {
			if used += change[at]; used > 64 || used < 0 {
				t.Fatalf("%s: %d processors in use at %d", p, used, at)
			}
		}
		if used != 0 {
			t.Errorf("%s: %d processors in use at the end", p, used)
		}
	}
}

func keys(m map[int64]int) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// There are no gaps to fill if all jobs are as wide as the machine, or have one processor:
// EASY is FCFS.
func TestEASYIsFCFSWithoutGaps(t *testing.T) {
	for _, procs := range []int{1, 8} {
		rng := rand.New(rand.NewPCG(uint64(procs), 2))
		jobs := randomJobs(rng, 200, 1)
		for i := range jobs {
			jobs[i].Procs = procs
		}
		a, errA := Simulate(jobs, Options{Policy: FCFS, Procs: 8})
		b, errB := Simulate(jobs, Options{Policy: EASY, Procs: 8})
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !slices.Equal(a, b) {
			t.Errorf("jobs of %d processors: %v with FCFS, %v with EASY", procs, a, b)
		}
	}
}

// Usage with forgetting is the integral of its definition.
func TestUsage(t *testing.T) {
	u := newUsage(2, 100)
	u.busy[1] = 3
	u.advance(50)
	u.busy[1], u.busy[0] = 0, 1
	u.advance(80)
	l := math.Ln2 / 100
	near(t, "queue 1", u.used[1], 3*(math.Exp(-l*30)-math.Exp(-l*80))/l)
	near(t, "queue 0", u.used[0], (1-math.Exp(-l*30))/l)
	if o := u.order(); o[0] != 0 {
		t.Errorf("order %v, want queue 0 first", o)
	}
	never := newUsage(1, 0)
	never.busy[0] = 2
	never.advance(7)
	never.advance(9)
	near(t, "nothing forgotten", never.used[0], 18)
}

func TestSimulateRefuses(t *testing.T) {
	_, err := Simulate(handLog, Options{Policy: "lifo", Procs: 10})
	if err == nil || err.Error() != `no policy "lifo" (there are fcfs, easy, fair)` {
		t.Errorf("got %v", err)
	}
	_, err = Simulate(handLog, Options{Policy: EASY, Procs: 7})
	if err == nil || err.Error() != "job 2 needs 8 processors of 7" {
		t.Errorf("got %v", err)
	}
}

func BenchmarkSimulate(b *testing.B) {
	l := Generate(100_000, 128, 0.85, 1)
	for _, p := range []Policy{FCFS, EASY, Fair} {
		b.Run(fmt.Sprintf("%s/jobs=100000", p), func(b *testing.B) {
			o := Options{Policy: p, Procs: l.Procs, Limits: Queues{2, 4, 7, 10}.Limits(), HalfLife: 86400}
			for b.Loop() {
				if _, err := Simulate(l.Jobs, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
