package site

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/workflow"
)

// exampleNetwork is the network of Example 1: the user is at A; B has the fastest processors and
// too little storage for the data, C has faster ones than A and enough storage.
func exampleNetwork(t testing.TB) *Network {
	t.Helper()
	net, err := NewNetwork([]Site{
		{Name: "A", Slots: 1, Speed: 1, Storage: math.Inf(1)},
		{Name: "B", Slots: 1, Speed: 4, Storage: 1e9},
		{Name: "C", Slots: 1, Speed: 2, Storage: 100e9},
	}, []Link{{0, 1, 100e6, 0.02}, {0, 2, 100e6, 0.01}})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func oneTask(t testing.TB, run workflow.Seconds, in, out workflow.Bytes) *workflow.Workflow {
	t.Helper()
	b := workflow.Builder{Name: "G"}
	if _, err := b.Task(workflow.Task{ID: "G", Run: run, In: in, Out: out, Machine: -1}, workflow.Pos{}); err != nil {
		t.Fatal(err)
	}
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestExample1 checks the three plans of Example 1: which of them is best depends
// on how much G computes and how much it reads.
func TestExample1(t *testing.T) {
	net := exampleNetwork(t)
	for _, tt := range []struct {
		name     string
		run      workflow.Seconds
		in       workflow.Bytes
		compute  int
		storage  int
		makespan workflow.Seconds
		stagings int
	}{
		// 20 GB over 100 MB/s are 200 s, and 19,074 blocks of 1 MiB wait 20 ms each for remote I/O.
		{"P1: little computation", 100, 20e9, 0, 0, 100, 0},
		{"P2: much computation, little I/O", 10_000, 2e9, 1, 0, 2500 + 20 + 1908*0.02, 0},
		{"P3: both", 1000, 20e9, 2, 2, 200.01 + 500, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := MakePlans(oneTask(t, tt.run, tt.in, 0), net, Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := s.Best.Decisions[0]
			if d.Compute != tt.compute || d.Storage != tt.storage || !(math.Abs(s.Best.Makespan-tt.makespan) <= 1e-6) {
				t.Errorf("computes at %d with data at %d in %v s, want %d, %d, %v", d.Compute, d.Storage,
					s.Best.Makespan, tt.compute, tt.storage, tt.makespan)
			}
			if len(s.Best.Stagings) != tt.stagings {
				t.Errorf("stagings %v, want %d", s.Best.Stagings, tt.stagings)
			}
			if !s.Exact {
				t.Error("not exact")
			}
			if tt.in > 1e9 && !slices.ContainsFunc(s.Unfits, func(u Unfit) bool {
				return u.Name == "at B, data staged" && strings.Contains(u.Why, "storage at B")
			}) {
				t.Errorf("storage of B is no reason: %v", s.Unfits)
			}
		})
	}
	// Reference: section 1, Example 1; section 2.1
}

// randomWorkflow draws a workflow of at most n tasks with files.
func randomWorkflow(rng *rand.Rand, n int) (*workflow.Workflow, error) {
	b := workflow.Builder{Name: "random"}
	n = 1 + rng.IntN(n)
	for i := range n {
		if _, err := b.Task(workflow.Task{
			ID: fmt.Sprint("t", i), Kind: fmt.Sprint("k", i%3),
			Run: float64(1 + rng.IntN(50)), Machine: -1,
		}, workflow.Pos{}); err != nil {
			return nil, err
		}
		b.SetFile(fmt.Sprint("f", i), float64(rng.IntN(30)))
		b.Output(i, fmt.Sprint("f", i))
		if rng.IntN(2) == 0 {
			name := fmt.Sprint("in", rng.IntN(2))
			b.SetFile(name, 20)
			b.Input(i, name)
		}
		for j := range i {
			if rng.IntN(3) == 0 {
				b.Edge(fmt.Sprint("t", j), fmt.Sprint("t", i), workflow.Pos{})
				b.Input(i, fmt.Sprint("f", j))
			}
		}
	}
	return b.Build(workflow.FillOptions{})
}

func randomNetwork(rng *rand.Rand, n int) (*Network, error) {
	n = 1 + rng.IntN(n)
	var sites []Site
	var links []Link
	for i := range n {
		p := Site{
			Name: string(rune('A' + i)), Slots: 1 + rng.IntN(2), Speed: 1 + float64(rng.IntN(3)),
			Storage: math.Inf(1), Disk: float64(rng.IntN(2)) * 20,
		}
		if i > 0 && rng.IntN(3) == 0 {
			p.Storage = float64(rng.IntN(80))
		}
		sites = append(sites, p)
		if i > 0 {
			links = append(links, Link{rng.IntN(i), i, float64(1 + rng.IntN(10)), float64(rng.IntN(3))})
		}
	}
	return NewNetwork(sites, links)
}

// brute is the least makespan over every order and assignment, without
// bounds or dominance.
func brute(p *problem, s *state, depth int) workflow.Seconds {
	if depth == p.n {
		return s.makespan
	}
	best := math.Inf(1)
	e := exactSearch{problem: p}
	for t := range p.n {
		if !e.waiting(s, t) {
			continue
		}
		for _, o := range p.options(s, t, nil) {
			best = min(best, brute(p, p.apply(o), depth+1))
		}
	}
	return best
}

// The exact search agrees with trying everything.
func TestScheduleIsBruteForce(t *testing.T) {
	found := 0
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w, err := randomWorkflow(rng, 4)
		if err != nil {
			t.Fatal(err)
		}
		net, err := randomNetwork(rng, 3)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newProblem(w, net, Options{Model: ScaledModel{Block: 10}})
		if err != nil {
			t.Fatal(err)
		}
		want := brute(p, p.first, 0)
		s, err := MakePlans(w, net, Options{Model: ScaledModel{Block: 10}, Nodes: 1 << 20})
		if math.IsInf(want, 1) {
			if _, ok := errors.AsType[*workflow.InfeasibleError](err); !ok {
				t.Fatalf("seed %d: got %v, want an InfeasibleError", seed, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		found++
		if !(math.Abs(s.Best.Makespan-want) <= 1e-9*want) || !s.Exact {
			t.Errorf("seed %d: %d tasks, %d sites: makespan %v (exact %v), by brute force %v", seed, len(w.Tasks),
				len(net.sites), s.Best.Makespan, s.Exact, want)
		}
	}
	if found < 50 {
		t.Errorf("only %d of 80 could be planned", found)
	}
}

// Every plan is a schedule: dependencies, slots, storage and links have room,
// its breakdown adds up, and none beats the bound.
func TestSchedulePlansHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		w, err := randomWorkflow(rng, rapid.SampledFrom([]int{6, 25}).Draw(t, "tasks"))
		if err != nil {
			t.Fatal(err)
		}
		net, err := randomNetwork(rng, 4)
		if err != nil {
			t.Fatal(err)
		}
		s, err := MakePlans(w, net, Options{Nodes: 200, Error: 0.2, Samples: 20})
		if _, ok := errors.AsType[*workflow.InfeasibleError](err); ok {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, plan := range append([]*Plan{s.Best}, s.Others...) {
			checkPlan(t, w, net, plan)
			if plan.Makespan < s.Best.Makespan || plan.Makespan < s.Bound*(1-1e-9) {
				t.Fatalf("%s takes %v, the best %v, the bound is %v", plan.Name, plan.Makespan, s.Best.Makespan,
					s.Bound)
			}
		}
		if s.Best.Dominated || s.Best.Why == "" {
			t.Fatalf("best plan dominated or without a reason: %+v", s.Best)
		}
	})
}

func checkPlan(t *rapid.T, w *workflow.Workflow, net *Network, plan *Plan) {
	end := make([]workflow.Seconds, len(w.Tasks))
	type busy struct{ from, to workflow.Seconds }
	atLink := make([][]busy, len(net.links))
	for _, d := range plan.Decisions {
		for _, q := range w.Graph.Preds(d.Task) {
			if d.Start < end[q] {
				t.Fatalf("task %d starts at %v before task %d ends at %v", d.Task, d.Start, q, end[q])
			}
		}
		end[d.Task] = d.End
		if d.Ready > d.Arrived || d.Arrived > d.Start || d.Start > d.End {
			t.Fatalf("out of order: %+v", d)
		}
		at := 0
		for _, o := range plan.Decisions {
			if o.Compute == d.Compute && o.Start <= d.Start && d.Start < o.End {
				at++
			}
		}
		if at > net.sites[d.Compute].Slots {
			t.Fatalf("%d tasks in %d slots", at, net.sites[d.Compute].Slots)
		}
	}
	for _, x := range plan.Stagings {
		if x.Start == x.End { // nothing to copy
			continue
		}
		for _, l := range net.Route(x.From, x.To).Links {
			atLink[l] = append(atLink[l], busy{x.Start, x.End})
		}
	}
	for _, list := range atLink {
		slices.SortFunc(list, func(a, b busy) int { return int(math.Copysign(1, a.from-b.from)) })
		for i := 1; i < len(list); i++ {
			if list[i].from < list[i-1].to-1e-9 {
				t.Fatalf("two stagings on one link at once: %v", list)
			}
		}
	}
	for i, n := range plan.Stored {
		if n > net.sites[i].Storage {
			t.Fatalf("%v B in a storage of %v", n, net.sites[i].Storage)
		}
	}
	b := plan.Path
	sum := b.Compute + b.Local + b.Remote + b.Staging + b.Waiting
	if !(math.Abs(sum-plan.Makespan) <= 1e-6*plan.Makespan) {
		t.Fatalf("the path %+v adds up to %v, not %v", b, sum, plan.Makespan)
	}
	if !(plan.Low <= plan.Makespan && plan.Makespan <= plan.High) {
		t.Fatalf("interval %v to %v of %v", plan.Low, plan.High, plan.Makespan)
	}
}

func TestScheduleInfeasible(t *testing.T) {
	two := func(c Site, l ...Link) *Network {
		net, err := NewNetwork([]Site{{Name: "A", Slots: 1, Storage: 30e9}, c}, l)
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	l := Link{0, 1, 1e6, 0}
	for _, tt := range []struct {
		name, want string
		u          *Network
		w          *workflow.Workflow
		data       func(string) int
	}{
		{
			"no data", `input "G" of task "G" is at no site`, two(Site{Name: "B", Slots: 1}, l), oneTask(t, 1, 1, 1),
			func(string) int { return -1 },
		},
		{
			"source too small", "site A holds 40 GB of input, but its storage is 30 GB",
			two(Site{Name: "B", Slots: 1}, l), oneTask(t, 1, 40e9, 1), nil,
		},
		{
			"no room for the output",
			"no site can run task G: task G needs 20 GB more storage at A, which has 10 GB of 30 GB left, B " +
				"has no storage", two(Site{Name: "B", Slots: 1}, l), oneTask(t, 1, 20e9, 20e9), nil,
		},
	} {
		_, err := MakePlans(tt.w, tt.u, Options{Data: tt.data})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	sites := []Site{{Name: "A", Slots: 1}, {Name: "B", Slots: 1}, {Name: "C", Slots: 1}}
	for _, tt := range []struct {
		want       string
		site, link int
		sites      []Site
		links      []Link
	}{
		{"a utility without sites", -1, -1, nil, nil},
		{
			"the utility is disconnected: C has no link to A, directly or over others", 2, -1, sites,
			[]Link{{0, 1, 1, 0}},
		},
		{"a link from site B to itself", -1, 0, sites, []Link{{1, 1, 1, 0}}},
		{"no site has a slot to run a task in", 0, -1, []Site{{Name: "A"}}, nil},
		{"the link of A and B: bandwidth 0 B/s, latency 0 s", -1, 0, sites, []Link{{0, 1, 0, 0}}},
		{"a link to a site that does not exist", -1, 0, sites, []Link{{0, 3, 1, 0}}},
	} {
		_, err := NewNetwork(tt.sites, tt.links)
		if e, ok := errors.AsType[*NetworkError](err); !ok || e.Error() != tt.want || e.Site != tt.site ||
			e.Link != tt.link {
			t.Errorf("got %+v, want %s", err, tt.want)
		}
	}
}

// Routes take the fastest way, over other sites too.
func TestRoutes(t *testing.T) {
	net, err := NewNetwork([]Site{{Name: "A", Slots: 1}, {Name: "B"}, {Name: "C"}},
		[]Link{{0, 2, 1e6, 0.5}, {0, 1, 1e9, 0.125}, {2, 1, 1e8, 0.25}})
	if err != nil {
		t.Fatal(err)
	}
	r := net.Route(2, 0)
	if !slices.Equal(r.Links, []int32{2, 1}) || r.Bandwidth != 1e8 || r.Latency != 0.375 || r.Transfer(1e8) != 1.375 {
		t.Errorf("route from C to A: %+v", r)
	}
	if x := net.Route(1, 1).Transfer(1e9); x != 0 {
		t.Errorf("transfer within a site: %v", x)
	}
}

// Two stagings that share a link take turns; a later one may use a gap before.
func TestLinkGaps(t *testing.T) {
	var l linkTime
	l.take(l.fit(10, 5), 5, true)
	if at := l.fit(2, 8); at != 2 {
		t.Errorf("8 s fit at %v, want 2", at)
	}
	if at := l.fit(2, 9); at != 15 {
		t.Errorf("9 s fit at %v, want 15", at)
	}
	l.take(2, 8, true)
	if at := l.fit(0, 3); at != 15 {
		t.Errorf("3 s fit at %v, want 15: the gap left is [0, 2)", at)
	}
	if at := l.fit(0, 2); at != 0 {
		t.Errorf("2 s fit at %v, want 0", at)
	}
}

// layers is a workflow of n tasks in levels of width, each of which reads
// two files of the level before.
func layers(tb testing.TB, n, width int) *workflow.Workflow {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	b := workflow.Builder{Name: "layers"}
	for i := range n {
		if _, err := b.Task(workflow.Task{
			ID: fmt.Sprint("t", i), Kind: fmt.Sprint("k", i/width),
			Run: 10 + 90*rng.Float64(), Machine: -1,
		}, workflow.Pos{}); err != nil {
			tb.Fatal(err)
		}
		b.SetFile(fmt.Sprint("f", i), 1e8*rng.Float64())
		b.Output(i, fmt.Sprint("f", i))
		if i < width {
			b.SetFile(fmt.Sprint("in", i), 1e8)
			b.Input(i, fmt.Sprint("in", i))
			continue
		}
		for range 2 {
			j := (i/width-1)*width + rng.IntN(width)
			b.Edge(fmt.Sprint("t", j), fmt.Sprint("t", i), workflow.Pos{})
			b.Input(i, fmt.Sprint("f", j))
		}
	}
	w, err := b.Build(workflow.FillOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func tenSites(tb testing.TB) *Network {
	tb.Helper()
	var sites []Site
	var links []Link
	for i := range 10 {
		sites = append(sites, Site{
			Name: string(rune('A' + i)), Slots: 8 + 8*(i%3), Speed: 1 + 0.2*float64(i),
			Storage: math.Inf(1),
		})
		for j := range i {
			links = append(links, Link{j, i, 1e8 * float64(1+(i+j)%4), 0.005})
		}
	}
	net, err := NewNetwork(sites, links)
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

// TestScheduleLarge plans 2,000 tasks over 10 sites, and with ASSAY_SOAK=1 10,000.
// How long that takes depends on who else uses the machine: see
// BenchmarkMakePlans.
func TestScheduleLarge(t *testing.T) {
	n := 2000
	if os.Getenv("ASSAY_SOAK") != "" {
		n = 10_000
	}
	w, net := layers(t, n, n/20), tenSites(t)
	start := time.Now()
	s, err := MakePlans(w, net, Options{Error: 0.15})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: makespan %.1f s, bound %.1f s, best other %s %.1f s", time.Since(start), s.Best.Makespan, s.Bound,
		s.Others[0].Name, s.Others[0].Makespan)
	if gap := s.Best.Makespan / s.Bound; gap > 1.5 {
		t.Errorf("makespan %v is %.2f of the bound %v", s.Best.Makespan, gap, s.Bound)
	}
	for _, x := range s.Others {
		if strings.HasPrefix(x.Name, "at ") && x.Makespan < 2*s.Best.Makespan {
			t.Errorf("one site of ten alone, %s, takes %v s; all together %v", x.Name, x.Makespan, s.Best.Makespan)
		}
	}
}

func BenchmarkMakePlans(b *testing.B) {
	w, net := layers(b, 10_000, 500), tenSites(b)
	for b.Loop() {
		if _, err := MakePlans(w, net, Options{Error: 0.15}); err != nil {
			b.Fatal(err)
		}
	}
}

// How far beam search is from the optimum of small workflows.
func TestBeamIsClose(t *testing.T) {
	var ratio []float64
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w, err := randomWorkflow(rng, 7)
		if err != nil {
			t.Fatal(err)
		}
		net, err := randomNetwork(rng, 3)
		if err != nil {
			t.Fatal(err)
		}
		beam, err := MakePlans(w, net, Options{Nodes: -1})
		if err != nil {
			continue
		}
		exact, err := MakePlans(w, net, Options{Nodes: 5000})
		if err != nil {
			t.Fatal(err)
		}
		if !exact.Exact {
			continue
		}
		ratio = append(ratio, beam.Best.Makespan/exact.Best.Makespan)
	}
	mean, worst := 0.0, slices.Max(ratio)
	for _, r := range ratio {
		mean += r / float64(len(ratio))
	}
	t.Logf("%d workflows: beam takes %.3f of the optimum on average, %.3f at worst", len(ratio), mean, worst)
	if len(ratio) < 30 || mean > 1.05 || worst > 1.4 {
		t.Errorf("%d workflows: mean %.3f, worst %.3f", len(ratio), mean, worst)
	}
}
