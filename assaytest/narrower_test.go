package assaytest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// limited is a correct Narrower: it walks finite spaces of up to 1,000 in order
// and draws from others. The broken ones below differ from it in one point.
type limited struct {
	space   *assay.Space
	rng     *rand.Rand
	keep    func(assay.Config) bool
	last    int64
	pending map[int64]bool
	visited map[string]bool

	// Faults.
	ignores, late, intersects, sticks, loses, early, asksAnything, restarts bool
	moves, stalls, repeats, shared, blind                                   bool
	next                                                                    int64
	over                                                                    bool
	queue                                                                   []assay.Config
}

var sharedSource = rand.New(rand.NewPCG(9, 9))

func newLimited(s *assay.Space) *limited {
	return &limited{space: s, rng: rand.New(rand.NewPCG(1, 1)), pending: map[int64]bool{}, visited: map[string]bool{}}
}

func (l *limited) Narrow(keep func(assay.Config) bool) {
	if l.ignores {
		return
	}
	before := l.keep
	l.keep = keep
	if l.intersects && before != nil && keep != nil {
		l.keep = func(c assay.Config) bool { return before(c) && keep(c) }
	}
	if l.restarts {
		l.rng = rand.New(rand.NewPCG(2, 2))
	}
	if l.repeats {
		clear(l.visited)
	}
}

func (l *limited) holds(c assay.Config) bool { return l.keep == nil || l.keep(c) }

func (l *limited) Ask(n int) ([]assay.Proposal, error) {
	if l.sticks && l.over {
		return nil, assay.ErrDone
	}
	if l.early && l.keep != nil && l.last > 3 {
		return nil, assay.ErrDone
	}
	var ps []assay.Proposal
	for len(ps) < n {
		c, ok := l.draw()
		if !ok {
			break
		}
		l.visited[c.Key()] = true
		l.last++
		l.pending[l.last] = true
		ps = append(ps, assay.Proposal{ID: l.last, Config: c})
	}
	if len(ps) > 0 {
		return ps, nil
	}
	l.over = true
	if l.moves {
		l.next++
	}
	if l.stalls && l.keep != nil {
		return nil, nil
	}
	return nil, assay.ErrDone
}

func (l *limited) draw() (assay.Config, bool) {
	if l.late { // a batch that was made before the limit
		if len(l.queue) == 0 {
			for range 7 {
				if c, ok := l.choose(); ok {
					l.visited[c.Key()] = true
					l.queue = append(l.queue, c)
				}
			}
		}
		if len(l.queue) == 0 {
			return nil, false
		}
		c := l.queue[0]
		l.queue = l.queue[1:]
		return c, true
	}
	return l.choose()
}

func (l *limited) choose() (assay.Config, bool) {
	if l.asksAnything {
		c := make(assay.Config, l.space.Dim())
		for i := range c {
			c[i] = -7
		}
		l.holds(c)
	}
	n := l.space.Size().N
	if n == 0 || n > 1000 {
		source := l.rng
		if l.shared {
			source = sharedSource
		}
		for range 1000 {
			if c, _ := l.space.Draw(source); l.holds(c) && !l.visited[c.Key()] {
				return c, true
			}
		}
		return nil, false
	}
	for i := range n {
		c := l.space.At((i + l.next) % n)
		if l.visited[c.Key()] {
			continue
		}
		if l.holds(c) {
			return c, true
		}
		if l.loses {
			l.visited[c.Key()] = true
		}
	}
	return nil, false
}

func (l *limited) Tell(trials ...assay.Trial) error {
	for _, t := range trials {
		if !l.pending[t.ID] {
			return errors.New("not asked")
		}
		delete(l.pending, t.ID)
	}
	return nil
}

func (l *limited) Observe(trials ...assay.Trial) error {
	for _, t := range trials {
		if !t.State.Final() {
			return errors.New("not final")
		}
		if !l.blind {
			l.visited[t.Config.Key()] = true
		}
	}
	return nil
}

func TestNarrowerAcceptsACorrectOne(t *testing.T) {
	TestNarrower(t, func(s *assay.Space) assay.Searcher { return newLimited(s) }, SearcherOptions{Exhausts: true})
}

// Each fault must be found by the case that is there for it.
func TestNarrowerFindsFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		set   func(*limited)
		want  string
	}{
		{"no limit at all", func(l *limited) { l.ignores = true }, "Limited"},
		{"a batch from before the limit", func(l *limited) { l.late = true }, "Limited"},
		{"both limits hold", func(l *limited) { l.intersects = true }, "Replaced"},
		{"ErrDone for good", func(l *limited) { l.sticks = true }, "Exhausted"},
		{"what was passed over is lost", func(l *limited) { l.loses = true }, "Exhausted"},
		{"ErrDone too early", func(l *limited) { l.early = true }, "Exhausted"},
		{"nothing in place of ErrDone", func(l *limited) { l.stalls = true }, "Exhausted"},
		{"the limit is asked about anything", func(l *limited) { l.asksAnything = true }, "FromTheStart"},
		{"lifting nothing starts over", func(l *limited) { l.restarts = true }, "NoLimit"},
		{"a limit makes it forget", func(l *limited) { l.repeats = true }, "Repeats"},
		{"ErrDone moves on", func(l *limited) { l.moves = true }, "EmptyAsk"},
		{"depends on a shared random source", func(l *limited) { l.shared = true }, "Replay"},
		{"proposes what was observed", func(l *limited) { l.blind = true }, "Observe"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			got := breaches(narrowerCases, searcherSpaces(), func(s *assay.Space) assay.Searcher {
				l := newLimited(s)
				c.set(l)
				return l
			}, SearcherOptions{Exhausts: true})
			if !slices.Contains(got, c.want) {
				t.Errorf("found by %v, want %s among them", got, c.want)
			}
		})
	}
}

// A searcher that is no Narrower passes no case.
func TestNarrowerNeedsOne(t *testing.T) {
	got := breaches(narrowerCases, searcherSpaces(), func(s *assay.Space) assay.Searcher { return newPlain(s) },
		SearcherOptions{Exhausts: true})
	if len(got) == 0 {
		t.Error("a searcher that cannot be limited passes the suite")
	}
}
