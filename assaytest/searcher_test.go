package assaytest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/assay-run/assay"
)

// plain is a correct searcher: it walks finite spaces of up to 1,000 in order
// and draws from others. The broken ones below differ from it in one point.
type plain struct {
	space   *assay.Space
	rng     *rand.Rand
	last    int64
	next    int64
	pending map[int64]bool
	visited map[string]bool

	// Faults.
	gap, outside, tooMany, lateError, reborn, forgets, lax, laxTwice, laxRunning bool
	mutatesTrial, mutatesProposal, counts, repeats, stuck, panics, ignoresRead   bool
	shy                                                                          bool
	kept                                                                         []assay.Config
	asks                                                                         int
}

func newPlain(s *assay.Space) *plain {
	return &plain{space: s, rng: rand.New(rand.NewPCG(1, 1)), pending: map[int64]bool{}, visited: map[string]bool{}}
}

func (p *plain) Ask(n int) ([]assay.Proposal, error) {
	p.asks++
	if p.shy && len(p.pending) > 0 { // one at a time: an empty Ask
		if p.counts {
			p.rng.Uint64()
			p.next++
		}
		return nil, nil
	}
	if p.stuck && p.last > 5 {
		return nil, nil
	}
	if p.tooMany {
		n++
	}
	if p.shy {
		n = 1
	}
	var ps []assay.Proposal
	for range n {
		c, ok := p.draw()
		if !ok {
			break
		}
		if p.outside && p.last == 7 {
			c = c.Clone()
			c[0] = 1e9
		}
		if p.last++; p.gap && p.last == 4 {
			p.last++
		}
		p.pending[p.last] = true
		p.kept = append(p.kept, c)
		ps = append(ps, assay.Proposal{ID: p.last, Config: c})
	}
	if len(ps) == 0 {
		if p.reborn {
			p.next = 0
			clear(p.visited)
		}
		return nil, assay.ErrDone
	}
	if p.lateError && p.last > 3 {
		return ps, assay.ErrDone
	}
	return ps, nil
}

func (p *plain) draw() (assay.Config, bool) {
	for range 1000 {
		var c assay.Config
		if n := p.space.Size().N; n > 0 && n <= 1000 {
			if p.next >= n {
				return nil, false
			}
			c = p.space.At(p.next)
			p.next++
			if p.repeats && p.next == 3 {
				c = p.space.At(0)
			}
			if p.forgets && p.next == 2 && n > 2 {
				continue
			}
		} else {
			c, _ = p.space.Draw(p.rng)
		}
		if !p.visited[c.Key()] || p.repeats {
			p.visited[c.Key()] = true
			return c, true
		}
	}
	return nil, false
}

func (p *plain) Tell(trials ...assay.Trial) error {
	seen := map[int64]bool{}
	for _, t := range trials {
		if !p.lax && !p.pending[t.ID] && (!p.laxTwice || t.ID < 1 || t.ID > p.last) || seen[t.ID] && !p.laxTwice {
			return errors.New("not asked, or told before")
		}
		if !t.State.Final() && !p.laxRunning {
			return errors.New("not final")
		}
		seen[t.ID] = true
	}
	for _, t := range trials {
		if p.panics && t.State == assay.Censored {
			panic("censored")
		}
		delete(p.pending, t.ID)
		if p.mutatesTrial && t.Measurement.Metrics != nil {
			t.Measurement.Metrics["seen"] = 1
		}
		if p.mutatesProposal && len(p.kept) > 2 {
			p.kept[0][0] = p.kept[1][0]
			p.kept[1][0]++
		}
		if p.ignoresRead {
			p.rng.Uint64()
		}
	}
	return nil
}

func (p *plain) Observe(trials ...assay.Trial) error {
	for _, t := range trials {
		if !t.State.Final() {
			return errors.New("not final")
		}
		p.visited[t.Config.Key()] = true
	}
	return nil
}

func TestSearcherAcceptsACorrectOne(t *testing.T) {
	TestSearcher(t, func(s *assay.Space) assay.Searcher { return newPlain(s) }, SearcherOptions{Exhausts: true})
}

func TestSearcherAcceptsASerialOne(t *testing.T) {
	TestSearcher(t, func(s *assay.Space) assay.Searcher {
		p := newPlain(s)
		p.shy = true
		return p
	}, SearcherOptions{Exhausts: true})
}

// breaches runs the cases and returns the names of those that fail in any space.
func breaches(cases []searcherCase, spaces []searcherSpace, build func(*assay.Space) assay.Searcher,
	opts SearcherOptions,
) []string {
	var names []string
	for _, s := range spaces {
		for _, c := range cases {
			b := searcherBench{space: s.space, build: build, opts: opts.filled()}
			if b.try(c.run) != nil && !slices.Contains(names, c.name) {
				names = append(names, c.name)
			}
		}
	}
	return names
}

// Each fault must be found by the case that is there for it.
func TestSearcherFindsFaults(t *testing.T) {
	spaces := searcherSpaces()
	shared := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		fault string
		build func(*plain)
		want  string
	}{
		{"a gap in the IDs", func(p *plain) { p.gap = true }, "Sequential"},
		{"a proposal outside the space", func(p *plain) { p.outside = true }, "Sequential"},
		{"more than n proposals", func(p *plain) { p.tooMany = true }, "Batches"},
		{"proposals along with ErrDone", func(p *plain) { p.lateError = true }, "Sequential"},
		{"nothing asked, nothing outstanding", func(p *plain) { p.stuck = true }, "Sequential"},
		{"goes on after ErrDone", func(p *plain) { p.reborn = true }, "Done"},
		{"takes any ID", func(p *plain) { p.lax = true }, "TellUnknown"},
		{"takes trials twice", func(p *plain) { p.laxTwice = true }, "TellTwice"},
		{"takes running trials", func(p *plain) { p.laxRunning = true }, "TellRunning"},
		{"a bad Tell moves the random source", func(p *plain) { p.lax, p.ignoresRead = true, true }, "TellUnknown"},
		{"depends on a shared random source", func(p *plain) { p.rng = shared }, "Replay"},
		{"an empty Ask moves on", func(p *plain) { p.shy, p.counts = true, true }, "EmptyAsk"},
		{"changes a told trial", func(p *plain) { p.mutatesTrial = true }, "Immutable"},
		{"changes a proposal", func(p *plain) { p.mutatesProposal = true }, "Immutable"},
		{"panics on a censored trial", func(p *plain) { p.panics = true }, "States"},
		{"proposes a configuration twice", func(p *plain) { p.repeats = true }, "Repeats"},
		{"leaves a configuration out", func(p *plain) { p.forgets = true }, "Exhaustion"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			got := breaches(searcherCases, spaces, func(s *assay.Space) assay.Searcher {
				p := newPlain(s)
				c.build(p)
				return p
			}, SearcherOptions{Exhausts: true})
			if !slices.Contains(got, c.want) {
				t.Errorf("found by %v, want %s among them", got, c.want)
			}
		})
	}
}

// seesNothing is an Observer that proposes a configuration that it was shown.
type seesNothing struct{ *plain }

func (seesNothing) Observe(...assay.Trial) error { return nil }

func TestSearcherFindsObserverFaults(t *testing.T) {
	got := breaches(searcherCases, searcherSpaces(),
		func(s *assay.Space) assay.Searcher { return seesNothing{newPlain(s)} }, SearcherOptions{Exhausts: true})
	if !slices.Equal(got, []string{"Observe"}) {
		t.Errorf("found by %v, want Observe alone", got)
	}
}
