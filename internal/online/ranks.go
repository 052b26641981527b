package online

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// MaxRank is the largest rank that may join a session.
const MaxRank = 1<<20 - 1

// lostGrace is how long a process without a connection keeps its rank: it may be
// one that connects for each request.
const lostGrace = time.Second

// A member is a process that has joined.
type member struct {
	instance string
	rank     int
	heard    time.Time
	lost     bool // its connection has ended; see Lost
	dead     bool // silent for the deadline; its next call revives it
	turn     turn // the latest
}

// A turn is a Turn that was handed out.
type turn struct {
	Turn
	at    time.Time
	point *point // whose sample it is, or nil
	step  *step  // nil if the mode is Free
	open  bool   // not reported, and not given up
}

// A step is one iteration of all ranks.
type step struct {
	point   *point // of all turns, if the mode is Same
	turn    Turn   // likewise
	ranks   int    // turns
	waiting int    // turns that are not reported
	longest float64
	closed  bool // a later step has begun, so no rank will take part any more
	broken  bool // a rank died in it
}

// Join makes a process a member of the session as the given rank, 0 to
// [MaxRank]. instance is a name that no other process has. To join again is no
// error. It returns ErrRankTaken if another process that is alive has the rank,
// or this one another rank, and ErrBadReport for a rank or an instance that
// cannot be.
func (s *Session) Join(rank int, instance string) error {
	if rank < 0 || rank > MaxRank || instance == "" || len(instance) > 64 {
		return fmt.Errorf("%w: rank %d of instance %.80q (ranks are 0 to %d, instances 1 to 64 bytes)", ErrBadReport,
			rank, instance, MaxRank)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return ErrOver
	}
	now := s.o.Clock.Now()
	s.bury(now)
	if m := s.members[instance]; m != nil {
		if m.rank != rank {
			return fmt.Errorf("%w: this process has joined as rank %d, not %d", ErrRankTaken, m.rank, rank)
		}
		s.hear(m, now)
		return nil
	}
	if old := s.ranks[rank]; old != nil {
		if now.Sub(old.heard) >= s.deadline() {
			s.die(old) // the next look at all of them would find it
		}
		if !old.dead && !(old.lost && now.Sub(old.heard) >= lostGrace) {
			return fmt.Errorf("%w: rank %d belongs to another process, last active %v ago (it is free %v after the "+
				"last activity)",
				ErrRankTaken, rank, now.Sub(old.heard).Round(time.Millisecond), s.deadline())
		}
		s.remove(old)
	}
	m := &member{instance: instance, rank: rank, heard: now}
	s.members[instance], s.ranks[rank] = m, m
	s.alive++
	s.poke()
	return nil
}

// Leave ends the membership of a process. Its sample, if it has not reported
// it, is taken by another.
func (s *Session) Leave(instance string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.members[instance]
	if m == nil {
		return ErrNotJoined
	}
	s.remove(m)
	s.poke()
	return nil
}

// Lost reports that the connection to a process has ended, so that its rank may be taken by another once it has been
// silent for a second, not only after the deadline. It does not affect a process that continues.
func (s *Session) Lost(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.members[instance]; m != nil {
		m.lost = true
	}
}

// remove forgets a member; its open turn is given up first.
func (s *Session) remove(m *member) {
	s.die(m)
	delete(s.members, m.instance)
	if s.ranks[m.rank] == m {
		delete(s.ranks, m.rank)
	}
	s.settleStep()
}

// abandon gives up the turn of a member, if it is open: its sample is queued
// again.
func (s *Session) abandon(m *member) {
	t := &m.turn
	if !t.open {
		return
	}
	t.open = false
	if st := t.step; st != nil {
		st.waiting--
		st.broken = true
		s.finish(st)
	}
	if s.o.Mode != Same && t.point != nil {
		s.requeue(t.point)
	}
}

// requeue has another sample of p taken, before all others.
func (s *Session) requeue(p *point) {
	if s.open[p.ID] == p {
		s.queue = slices.Insert(s.queue, 0, p)
	}
}

// deadline returns how long a rank may be silent.
func (s *Session) deadline() time.Duration {
	switch {
	case s.o.Deadline > 0:
		return s.o.Deadline
	case s.longest == 0:
		return time.Minute
	}
	return max(time.Second, 10*s.longest)
}

// hear notes a sign of life of a member, which revives a dead one.
func (s *Session) hear(m *member, now time.Time) {
	if m.dead {
		s.alive++
	}
	m.heard, m.lost, m.dead = now, false, false
}

// die takes a member for dead: its open turn is given up.
func (s *Session) die(m *member) {
	if m.dead {
		return
	}
	m.dead = true
	s.alive--
	s.abandon(m)
}

// bury looks for members that were silent too long, unless it did so lately. Cost: one look at each member, four times
// in a deadline.
func (s *Session) bury(now time.Time) {
	if now.Before(s.scan) {
		return
	}
	d := s.deadline()
	s.scan = now.Add(d / 4)
	s.looks += int64(len(s.members))
	for _, m := range s.members {
		if now.Sub(m.heard) >= d {
			s.die(m)
		}
	}
	s.settleStep()
}

// Fetch returns the turn of a member for its next iteration. A turn that it has
// not reported is given up. It returns ErrNotJoined or ErrOver.
// Cost: constant, apart from the look for the dead.
func (s *Session) Fetch(instance string) (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return Turn{}, ErrOver
	}
	m := s.members[instance]
	if m == nil {
		return Turn{}, ErrNotJoined
	}
	now := s.o.Clock.Now()
	s.hear(m, now)
	s.abandon(m)
	s.bury(now)
	s.turns++
	t := turn{at: now, open: true}
	if s.o.Mode != Free {
		s.takePart(m)
		t.step = s.step
		t.step.ranks++
		t.step.waiting++
	}
	if s.o.Mode == Same {
		t.Turn, t.point = t.step.turn, t.step.point
	} else {
		t.Turn, t.point = s.next(now)
	}
	t.ID = s.turns
	m.turn = t
	return t.Turn, nil
}

// next returns the next sample to take, or the best configuration so far.
func (s *Session) next(now time.Time) (Turn, *point) {
	if s.paused || len(s.queue) == 0 {
		return Turn{Config: s.best.Config}, nil
	}
	p := s.queue[0]
	s.queue = s.queue[1:]
	if p.started.IsZero() {
		p.started = now
	}
	return Turn{Config: p.Config, Trial: p.ID}, p
}

// takePart begins a step if the member has taken part in the present one.
func (s *Session) takePart(m *member) {
	if s.step != nil && m.turn.step != s.step && !s.step.closed {
		return
	}
	old := s.step
	s.step = &step{}
	if s.o.Mode == Same {
		s.step.turn, s.step.point = s.next(m.heard)
	}
	if old != nil && !old.closed {
		old.closed = true
		s.finish(old)
	}
}

// settleStep closes the present step if all who live have reported it.
func (s *Session) settleStep() {
	st := s.step
	if st == nil || st.closed || st.waiting > 0 || st.ranks < s.alive {
		return
	}
	for _, m := range s.members {
		s.looks++
		if !m.dead && m.turn.step != st {
			return
		}
	}
	st.closed = true
	s.finish(st)
}

// finish counts a step that no rank takes part in any more.
func (s *Session) finish(st *step) {
	if !st.closed || st.waiting > 0 {
		return
	}
	st.waiting = -1 // never again
	s.steps++
	if !math.IsInf(st.longest, 0) {
		s.total += st.longest
	}
	if st.point == nil {
		return
	}
	if st.broken { // the maximum over the ranks that are left may be too good
		s.requeue(st.point)
		return
	}
	s.sample(st.point, st.longest)
}

// Report reports the time of the iteration of a turn in seconds. used is whether it is a sample of a trial. It is not
// if the turn ran the best configuration so far, or was given up and another rank has taken its sample over.
//
// failure, if it is not "", is the reason why the configuration cannot be run at all; it is never proposed as the best,
// and seconds is ignored.
//
// It returns ErrNotJoined, ErrNotFetched, ErrReported, ErrBadReport or ErrOver, and then nothing has changed.
func (s *Session) Report(instance string, id int64, seconds float64, failure string) (used bool, err error) {
	if failure == "" && !(seconds >= 0 && seconds <= math.MaxFloat64) {
		return false, fmt.Errorf("%w: an iteration of %v seconds", ErrBadReport, seconds)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false, ErrOver
	}
	m := s.members[instance]
	if m == nil {
		return false, ErrNotJoined
	}
	t := &m.turn
	switch {
	case t.ID == 0 || t.ID != id:
		return false, fmt.Errorf("%w: rank %d has turn %d, not %d", ErrNotFetched, m.rank, t.ID, id)
	case !t.open && t.at.IsZero():
		return false, fmt.Errorf("%w: turn %d of rank %d", ErrReported, id, m.rank)
	}
	now := s.o.Clock.Now()
	s.hear(m, now)
	if failure != "" {
		seconds = math.Inf(1)
	} else {
		s.longest = max(s.longest, time.Duration(min(seconds, 1e6)*float64(time.Second)))
	}
	late := !t.open
	t.open, t.at = false, time.Time{}
	if t.point != nil && failure != "" {
		t.point.failed = failure
	}
	switch {
	case late:
		return s.lateSample(t.point, seconds), nil
	case t.step == nil || s.o.Mode == Steps:
		used = t.point != nil && s.sample(t.point, seconds)
	default:
		used = t.point != nil && s.open[t.point.ID] == t.point
	}
	if st := t.step; st != nil {
		st.waiting--
		if failure == "" || s.o.Mode == Same {
			st.longest = max(st.longest, seconds)
		}
		s.finish(st)
		s.settleStep()
	}
	return used, nil
}

// lateSample takes a sample whose turn was given up, in place of one that is
// still queued.
func (s *Session) lateSample(p *point, seconds float64) bool {
	if p == nil || s.o.Mode == Same {
		return false
	}
	i := slices.Index(s.queue, p)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return s.sample(p, seconds)
}
