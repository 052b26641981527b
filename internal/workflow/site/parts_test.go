package site

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-run/assay/workflow"
)

// network makes a network or fails.
func network(t testing.TB, sites []Site, links ...Link) *Network {
	t.Helper()
	net, err := NewNetwork(sites, links)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// A link that carries one transfer at a time gives each the earliest span that is free: an occupancy by the
// second agrees, and no two transfers overlap.
func TestLinkFitsTheEarliest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const horizon = 400
		var l linkTime
		busy := make([]bool, horizon)
		for range rapid.IntRange(1, 12).Draw(t, "transfers") {
			from := rapid.IntRange(0, 60).Draw(t, "from")
			length := rapid.IntRange(1, 12).Draw(t, "length")
			want := from
			for slices.Contains(busy[want:want+length], true) {
				want++
			}
			at := l.fit(float64(from), float64(length))
			if at != float64(want) {
				t.Fatalf("%d s from %d fit at %v, want %d of %v", length, from, at, want, l)
			}
			l.take(at, float64(length), true)
			for k := want; k < want+length; k++ {
				busy[k] = true
			}
		}
	})
}

// Without gaps a transfer waits for all that were decided on before; one of no bytes reserves nothing.
func TestLinkWithoutGaps(t *testing.T) {
	var l linkTime
	l.take(l.fit(10, 5), 5, false)
	if at := l.fit(0, 1); at != 15 {
		t.Errorf("1 s fits at %v, want 15", at)
	}
	l.take(100, 0, true)
	if l.free != 15 || l.gaps != nil {
		t.Errorf("nothing was carried, but the link is %+v", l)
	}
}

// A slot is taken by the task that starts first, and the times of the slots stay in ascending order.
func TestSlotsStayInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "slots")
		s := &state{gen: 1, slots: []slotTimes{{gen: 1, free: make([]workflow.Seconds, n)}}}
		want := make([]workflow.Seconds, n)
		for range rapid.IntRange(0, 20).Draw(t, "tasks") {
			end := want[0] + float64(rapid.IntRange(0, 9).Draw(t, "length"))
			s.occupy(0, end)
			want[0] = end
			slices.Sort(want)
			if !slices.Equal(s.slots[0].free, want) {
				t.Fatalf("slots are free at %v, want %v", s.slots[0].free, want)
			}
		}
	})
}

// No state sees the writes of another state, however they share pages and slots.
func TestStatesDoNotSeeEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3*pageSize).Draw(t, "n")
		type copyOfArray struct {
			gen  uint32
			a    paged[int]
			want []int
		}
		all := []copyOfArray{{1, newPaged(n, 1, 0), make([]int, n)}}
		for g := range rapid.IntRange(1, 30).Draw(t, "steps") {
			k := rapid.IntRange(0, len(all)-1).Draw(t, "which")
			if rapid.Bool().Draw(t, "copy") {
				c := copyOfArray{uint32(g + 2), slices.Clone(all[k].a), slices.Clone(all[k].want)}
				all[k].gen = uint32(1000 + g) // the parent may not write shared pages either
				all = append(all, c)
				continue
			}
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			all[k].a.set(int32(i), all[k].gen, g+1)
			all[k].want[i] = g + 1
		}
		for k, c := range all {
			for i, want := range c.want {
				if got := c.a.at(int32(i)); got != want {
					t.Fatalf("array %d holds %d at %d, want %d", k, got, i, want)
				}
			}
		}
	})
}

// The first n options in order are kept, without options of an equal outcome: sorting all agrees.
func TestLeastOptionsAreThoseOfSorting(t *testing.T) {
	parent := &state{gen: 1}
	rapid.Check(t, func(t *rapid.T) {
		var all []option
		for i := range rapid.IntRange(0, 40).Draw(t, "options") {
			all = append(all, option{
				parent: parent, compute: int16(i),
				bound: float64(rapid.IntRange(0, 3).Draw(t, "bound")), sum: float64(rapid.IntRange(0, 2).Draw(t, "sum")),
			})
		}
		n := rapid.IntRange(1, 8).Draw(t, "n")
		sorted := slices.Clone(all)
		slices.SortFunc(sorted, compareOptions)
		sorted = slices.CompactFunc(sorted, func(a, b option) bool { return sameOutcome(&a, &b) })
		want := sorted[:min(n, len(sorted))]
		got := leastOptions(all, n)
		same := func(a, b option) bool { return a.bound == b.bound && a.sum == b.sum }
		if !slices.EqualFunc(got, want, same) {
			t.Fatalf("kept %v, want %v", got, want)
		}
	})
}

// A task takes its run time at the site's speed, and its data flow over the narrowest part of the way,
// with a round trip for each block.
// Reference: section 2.1
func TestScaledModel(t *testing.T) {
	far, wide := &Route{Bandwidth: 10, Latency: 0.5}, &Route{Bandwidth: 1 << 20, Latency: 1}
	for _, tt := range []struct {
		name    string
		task    workflow.Task
		r       Resource
		block   workflow.Bytes
		compute workflow.Seconds
		stall   workflow.Seconds
	}{
		{"no disk, no route", workflow.Task{Run: 8, In: 100}, Resource{&Site{Speed: 2}, &Site{}, nil}, 0, 4, 0},
		{"speed 0 counts as 1", workflow.Task{Run: 8}, Resource{&Site{}, &Site{}, nil}, 0, 8, 0},
		{"its own disk", workflow.Task{Run: 8, In: 60, Out: 40}, Resource{&Site{}, &Site{Disk: 50}, nil}, 0, 8, 2},
		{"over the network", workflow.Task{Run: 8, In: 60, Out: 40}, Resource{&Site{}, &Site{}, far}, 50, 8, 11},
		{"a part of a block", workflow.Task{Run: 8, In: 101}, Resource{&Site{}, &Site{}, far}, 50, 8, 11.6},
		{"a narrow disk", workflow.Task{Run: 8, In: 100}, Resource{&Site{}, &Site{Disk: 5}, far}, 100, 8, 20.5},
		{"blocks of 1 MiB", workflow.Task{In: 3 << 20}, Resource{&Site{}, &Site{}, wide}, 0, 0, 6},
		{"bytes that were seen", workflow.Task{Read: 30, Written: 20}, Resource{&Site{}, &Site{Disk: 10}, nil}, 0, 0, 5},
		{"files before what was seen", workflow.Task{In: 10, Read: 99}, Resource{&Site{}, &Site{Disk: 10}, nil}, 0, 0, 1},
	} {
		got, err := ScaledModel{Block: tt.block}.Time(&tt.task, tt.r)
		if err != nil || !(math.Abs(got.Compute-tt.compute) <= 1e-12) || !(math.Abs(got.Stall-tt.stall) <= 1e-12) {
			t.Errorf("%s: %+v, %v; want %v and %v", tt.name, got, err, tt.compute, tt.stall)
		}
	}
}

// Each wrong value of a site or a link is reported with its place.
func TestNetworkFlaws(t *testing.T) {
	good := func() []Site { return []Site{{Name: "A", Slots: 1}, {Name: "B"}} }
	for _, tt := range []struct {
		name string
		edit func([]Site, *Link)
		want string
		site int
		link int
	}{
		{"slots", func(s []Site, _ *Link) { s[1].Slots = -1 }, "site B: slots is -1", 1, -1},
		{"speed", func(s []Site, _ *Link) { s[0].Speed = math.NaN() }, "site A: speed is NaN", 0, -1},
		{"memory", func(s []Site, _ *Link) { s[0].Memory = math.Inf(1) }, "site A: memory is +Inf", 0, -1},
		{"storage", func(s []Site, _ *Link) { s[0].Storage = -1 }, "site A: storage is -1", 0, -1},
		{"disk", func(s []Site, _ *Link) { s[1].Disk = -2 }, "site B: disk is -2", 1, -1},
		{"delay", func(s []Site, _ *Link) { s[1].Delay = -3 }, "site B: delay is -3", 1, -1},
		{"latency", func(_ []Site, l *Link) { l.Latency = -1 }, "the link of A and B: bandwidth 1 B/s, latency -1 s", -1, 0},
		{"bandwidth", func(_ []Site, l *Link) { l.Bandwidth = math.Inf(1) }, "bandwidth +Inf B/s", -1, 0},
		{"no flaw", func(s []Site, _ *Link) { s[0].Storage = math.Inf(1) }, "", 0, 0},
	} {
		sites, link := good(), Link{0, 1, 1, 0}
		tt.edit(sites, &link)
		_, err := NewNetwork(sites, []Link{link})
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		e, ok := errors.AsType[*NetworkError](err)
		if !ok || !strings.Contains(e.Error(), tt.want) || e.Site != tt.site || e.Link != tt.link {
			t.Errorf("%s: %+v, want %s at site %d, link %d", tt.name, err, tt.want, tt.site, tt.link)
		}
	}
}

// A route is the fastest for a gigabyte: trying every path agrees.
func TestRoutesAreTheFastest(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 2 + rng.IntN(4)
		sites := make([]Site, n)
		sites[0].Slots = 1
		var links []Link
		for i := 1; i < n; i++ {
			links = append(links, Link{rng.IntN(i), i, 1e8 * float64(1+rng.IntN(9)), float64(rng.IntN(5))})
		}
		for range rng.IntN(4) {
			a, b := rng.IntN(n), rng.IntN(n)
			if a != b {
				links = append(links, Link{a, b, 1e8 * float64(1+rng.IntN(9)), float64(rng.IntN(5))})
			}
		}
		net := network(t, sites, links...)
		var walk func(at, to int, seen []bool) float64
		walk = func(at, to int, seen []bool) float64 {
			if at == to {
				return 0
			}
			least := math.Inf(1)
			seen[at] = true
			for _, l := range links {
				if next := l.A + l.B - at; (l.A == at || l.B == at) && !seen[next] {
					least = min(least, l.Latency+routeBytes/l.Bandwidth+walk(next, to, seen))
				}
			}
			seen[at] = false
			return least
		}
		for i := range n {
			for j := range n {
				got, at := 0.0, i
				for _, k := range net.Route(i, j).Links {
					got += links[k].Latency + routeBytes/links[k].Bandwidth
					at = links[k].A + links[k].B - at
				}
				if want := walk(i, j, make([]bool, n)); !(math.Abs(got-want) <= 1e-9) || at != j {
					t.Fatalf("seed %d: the route from %d to %d takes %v and ends at %d, want %v", seed, i, j, got, at, want)
				}
			}
		}
	}
}

// Amounts are written with a decimal unit, and long lists cut short.
func TestWordsForPeople(t *testing.T) {
	for n, want := range map[workflow.Bytes]string{
		0: "0 B", 999: "999 B", 1500: "1.5 kB", 2e6: "2 MB", 3.25e9: "3.25 GB", 4e12: "4 TB",
	} {
		if got := bytesText(n); got != want {
			t.Errorf("%v B is written %q, want %q", n, got, want)
		}
	}
	for want, words := range map[string][]string{"a, b": {"a", "b"}, "a, b and 1 more": {"a", "b", "c"}} {
		if got := joinSome(words, 2); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	best := &Plan{Prediction: workflow.Prediction{Makespan: 10}, Path: Breakdown{Compute: 10}}
	for _, tt := range []struct {
		plan Plan
		want string
	}{
		{Plan{Prediction: workflow.Prediction{Makespan: 10}}, "as fast"},
		{Plan{Prediction: workflow.Prediction{Makespan: 10}, Staged: 2e9}, "as fast, but moves 2 GB more"},
		{
			Plan{Prediction: workflow.Prediction{Makespan: 30}, Path: Breakdown{Compute: 13, Staging: 17}},
			"17 s more of staging, 3 s more of computing",
		},
		{
			Plan{Prediction: workflow.Prediction{Makespan: 30}, Path: Breakdown{Compute: 11, Local: 19}},
			"19 s more of local I/O",
		}, // a second less than a tenth of the gap is not named
	} {
		if got := whyLoses(&tt.plan, best); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// The two greatest parts of the gap, each more than a tenth of it, make a plan lose. The additional data that the
// plan moves take their place if there is no gap.
func TestWhyLoses(t *testing.T) {
	plan := func(makespan, staged, remote float64, path Breakdown) *Plan {
		return &Plan{Prediction: workflow.Prediction{Makespan: makespan}, Staged: staged, Remote: remote, Path: path}
	}
	best := plan(10, 1000, 500, Breakdown{Compute: 4, Local: 3, Remote: 2, Staging: 1})
	for _, c := range []struct {
		x    *Plan
		want string
	}{
		{best, "as fast"},
		{plan(10, 1500, 2000, Breakdown{}), "as fast, but moves 2 kB more"},
		{plan(10, 1600, 0, Breakdown{}), "as fast, but moves 100 B more"},
		{plan(10, 400, 1100, Breakdown{}), "as fast"},
		{plan(20, 0, 0, Breakdown{Compute: 12, Local: 6, Remote: 2}), "8 s more of computing, 3 s more of local I/O"},
		{
			plan(20, 0, 0, Breakdown{Compute: 5, Local: 3, Remote: 4, Staging: 7, Waiting: 1}),
			"6 s more of staging, 2 s more of remote I/O",
		},
		{plan(20, 0, 0, Breakdown{Compute: 4, Waiting: 16}), "16 s more of waiting for a slot"},
		{plan(20, 0, 0, Breakdown{Compute: 5, Local: 4, Remote: 3, Staging: 2, Waiting: 1}), ""}, // a tenth each
	} {
		if got := whyLoses(c.x, best); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.x, got, c.want)
		}
	}
}
