package online

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/search"
)

// Endings of a session on record; see assay.End.
const (
	endedRestart = "restart" // the search began anew; trial IDs go on
	endedServer  = "interrupt"
	endedEnd     = "end"
)

// sample adds a value to an open point and completes it with the last. It
// reports whether the point was open.
func (s *Session) sample(p *point, seconds float64) bool {
	if s.open[p.ID] != p {
		return false
	}
	if p.samples = append(p.samples, seconds); len(p.samples) < p.want {
		return true
	}
	delete(s.open, p.ID)
	t := p.trial(s.o.Estimator)
	t.Ended = s.o.Clock.Now()
	s.told = append(s.told, t)
	s.count(t)
	s.poke()
	return true
}

// count makes a complete trial known to the ranks.
func (s *Session) count(t assay.Trial) {
	s.trials++
	if t.State == assay.Done && t.Value < s.best.Value {
		s.best = t
	}
}

// trial returns the trial of a point that has its samples: the value is the
// estimate, the metrics are the number of the samples and their extremes.
func (p *point) trial(estimate func([]float64) float64) assay.Trial {
	low, high := slices.Min(p.samples), slices.Max(p.samples)
	t := assay.Trial{Proposal: p.Proposal, State: assay.Done, Attempts: len(p.samples), Started: p.started}
	t.Measurement.Metrics = map[string]float64{"samples": float64(len(p.samples)), "least": low, "most": high}
	t.Value = estimate(slices.Clone(p.samples))
	if math.IsInf(t.Value, 0) || math.IsNaN(t.Value) {
		t.State, t.Value, t.Reason = assay.Failed, math.Inf(1), cmp.Or(p.failed, "no rank could run it")
		return t
	}
	t.Measurement.Elapsed = time.Duration(min(t.Value, 9e9) * float64(time.Second))
	return t
}

// think is the goroutine that owns the searcher: it passes complete trials to the searcher and asks it for proposals,
// until the session is closed.
func (s *Session) think() {
	defer close(s.log)
	for {
		select {
		case <-s.wake:
			s.turnOver()
		case <-s.quit.Done():
			s.turnOver()
			s.mu.Lock()
			by := endedServer
			if s.asked {
				by = endedEnd
			}
			s.mu.Unlock()
			s.emit(assay.Event{Ended: &assay.End{By: by}})
			return
		}
	}
}

// turnOver calls Tell and Ask until nothing is left to do. It takes the finished trials under the lock, and calls the
// searcher without it: ranks continue meanwhile.
//
// An event is handed to write before the searcher gets the trial, so the record is never behind the state of the
// searcher, except for events that write has not appended yet.
func (s *Session) turnOver() {
	for {
		s.mu.Lock()
		told, epoch := s.told, s.epoch
		s.told = nil
		room, ranks := s.room(), s.alive
		s.mu.Unlock()
		fresh := s.at < epoch
		for s.at < epoch { // each restart is on record
			s.emit(assay.Event{Ended: &assay.End{By: endedRestart}})
			if err := s.begin(s.at + 1); err != nil {
				s.fail(err)
				return
			}
		}
		for i := range told {
			s.emit(assay.Event{Told: &told[i]})
			if err := s.tell(told[i]); err != nil {
				s.fail(err)
				return
			}
		}
		n, err := s.ask(room, ranks, epoch)
		if err != nil {
			s.fail(err)
			return
		}
		if len(told) == 0 && n == 0 && !fresh {
			return
		}
	}
}

// room returns how many more proposals there is use for: as many as there are
// ranks are tried at once.
func (s *Session) room() int {
	if s.over || s.paused || s.done || s.fault != nil {
		return 0
	}
	return s.alive - len(s.open)
}

// begin makes the searcher of an epoch.
func (s *Session) begin(epoch int) (err error) {
	if s.searcher, err = s.o.Searcher(epoch); err != nil {
		return fmt.Errorf("on-line search: %w", err)
	}
	s.at, s.offset = epoch, s.lastID
	return nil
}

// tell passes a trial to the searcher of the present epoch, whose IDs begin at 1.
func (s *Session) tell(t assay.Trial) error {
	t.ID -= s.offset
	if err := s.searcher.Tell(t); err != nil {
		return fmt.Errorf("on-line search: %w", err)
	}
	return nil
}

// ask queues at most n more proposals and returns their number. n is the demand for the given number of live ranks; the
// next call serves ranks that join meanwhile.
func (s *Session) ask(n, ranks, epoch int) (int, error) {
	var ps []assay.Proposal
	done := false
	for len(ps) < n {
		more, err := s.searcher.Ask(n - len(ps))
		if errors.Is(err, assay.ErrDone) {
			done = true
			break
		}
		if err != nil {
			return 0, fmt.Errorf("on-line search: %w", err)
		}
		if len(more) == 0 {
			break
		}
		for i := range more {
			more[i].ID += s.offset
		}
		s.emit(search.Asked(s.searcher, n-len(ps), more)...)
		ps = append(ps, more...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(ps) > 0 {
		s.lastID = ps[len(ps)-1].ID
	}
	if s.epoch != epoch { // restarted meanwhile
		return len(ps), nil
	}
	s.done = s.done || done
	s.admit(ps, ranks)
	return len(ps), nil
}

// admit queues the samples of a batch of proposals, the samples of different proposals interleaved: with n proposals
// open, ⌊P/n⌋ of each if that is more than needed (§5.2). If a whole iteration is one sample, ranks cannot share.
func (s *Session) admit(ps []assay.Proposal, ranks int) {
	want := s.o.Samples
	if s.o.Mode != Same && len(ps) > 0 {
		want = max(want, ranks/(len(s.open)+len(ps)))
	}
	batch := make([]*point, len(ps))
	for i, p := range ps {
		batch[i] = &point{Proposal: p, want: want}
		s.open[p.ID] = batch[i]
	}
	for range want {
		s.queue = append(s.queue, batch...)
	}
}

// fail ends the search, not the program: ranks get the best configuration from now on.
// The first error is the one that is kept.
func (s *Session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = cmp.Or(s.fault, err)
	s.dropPoints()
}

// emit hands events that belong together to the goroutine that records. It waits
// if that is far behind, so the search goes no faster than the record.
func (s *Session) emit(events ...assay.Event) {
	now := s.o.Clock.Now()
	for i := range events {
		events[i].At, events[i].Spent = now, s.before+now.Sub(s.began)
	}
	s.log <- events
}

// write is the goroutine that appends the events, many at a time: after Flush, or once
// there are many. Events of one call of the searcher are appended together, since a
// replay needs all of a batch. After a fault it reads on and appends nothing, so that
// think does not wait for it.
func (s *Session) write() {
	const most = 1000
	var batch []assay.Event
	flush := func() {
		s.mu.Lock()
		broken := s.fault
		s.mu.Unlock()
		if broken == nil && len(batch) > 0 {
			end, err := s.o.Store.Append(context.Background(), s.o.Name, s.end, batch...)
			if err != nil {
				s.fail(fmt.Errorf("study %q: recording: %w", s.o.Name, err))
			} else {
				s.end = end
			}
		}
		batch = batch[:0]
	}
	for events := range s.log {
		batch = append(batch, events...)
		due := time.NewTimer(s.o.Flush)
		for open := true; open && len(batch) < most; {
			var more []assay.Event
			select {
			case more, open = <-s.log:
				batch = append(batch, more...)
			case <-due.C:
				open = false
			}
		}
		due.Stop()
		flush()
	}
	flush()
}

// replay restores the searcher of the last epoch from the record, and queues the proposals without a result. Earlier
// searches are not replayed: their results no longer count.
func (s *Session) replay(ctx context.Context) error {
	if err := s.begin(0); err != nil {
		return err
	}
	var events []assay.Event // of the epoch
	open := map[int64]assay.Proposal{}
	for e, err := range s.o.Store.Events(ctx, s.o.Name, 0) {
		if err != nil {
			return err
		}
		s.end++
		s.before = max(s.before, e.Spent)
		switch {
		case e.Asked != nil:
			events = append(events, e)
			open[e.Asked.ID] = *e.Asked
			s.lastID = e.Asked.ID
		case e.Told != nil:
			events = append(events, e)
			delete(open, e.Told.ID)
			s.count(*e.Told)
		case e.Ended != nil && e.Ended.By == endedRestart:
			s.epoch++
			if err := s.begin(s.epoch); err != nil {
				return err
			}
			events = events[:0]
			clear(open)
			s.clear()
		}
	}
	player := search.Player{Study: s.o.Name, Space: s.o.Space, Searcher: s.searcher, Offset: s.offset}
	if err := player.Play(events); err != nil {
		return err
	}
	rest := slices.SortedFunc(maps.Values(open), func(a, b assay.Proposal) int { return cmp.Compare(a.ID, b.ID) })
	s.admit(rest, s.alive)
	return nil
}
