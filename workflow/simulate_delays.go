package workflow

import (
	"fmt"
	"math"
)

// simulation is the state of a simulated execution with delays, transfers, machines or
// priorities. Time moves from event to event. The events are:
//
//   - ends of run times, in heap;
//   - ends of transfers, in link;
//   - ends of a task's wait for a level, in due;
//   - a machine that is up, in heap too, with the task noSlot;
//   - the submit host that is free again, at idle.
//
// Invariant after place: unplaced is the number of tasks in all classes together, and no task that is
// unplaced fits a host now, unless the submit host is busy.
//
// Per task: of, rank, wait, seq and writing, by number of the task. rank is nil without the policy
// LongestPath. wait counts predecessors that have not ended.
type simulation struct {
	w        *Workflow // the workflow
	overhead Overhead  // of the site
	sched    *Schedule // the result so far
	host     []host    // machines, or slots
	cls      []class   // ready tasks by their needs
	of       []int32   // class of each task
	rank     []Seconds // longest path from each task
	wait     []int32   // predecessors of each task that have not ended
	seq      []int32   // order in which tasks became ready
	next     int32     // the next number in seq

	now      Seconds   // simulated time
	heap     []running // the next end first
	due      []running // tasks that wait for Level, in order of end
	dueHead  int       // the first of due
	idle     Seconds   // when the submit host can start the next task
	link     link      // the storage
	writing  []bool    // task has ended computing and writes its files
	unplaced int       // ready tasks
}

// host is a machine, or one slot, and its free resources: cores, and memory in bytes. speed divides run
// times, and up is when it first takes tasks.
type host struct {
	cores  float64
	memory Bytes
	speed  float64
	up     Seconds
}

// class is the ready tasks of equal needs: if one fits nowhere, none does.
type class struct {
	cores  float64 // that a task needs
	memory Bytes   // likewise, rounded up
	ready  []int32 // a heap by priority
}

// noSlot is the task of events that are of no task.
const noSlot = -1

// newSimulation returns a simulation at its start. Without machines each slot is a host of one core:
// then no task is too large for any, regardless of its recorded needs.
//
// Slots beyond the number of tasks are left out, since room looks at every host.
func newSimulation(w *Workflow, slots int, opt SimOptions) (*simulation, error) {
	g := w.Graph
	n := g.Len()
	s := &simulation{
		w: w, overhead: opt.Overhead, wait: make([]int32, n), seq: make([]int32, n),
		of: make([]int32, n), writing: make([]bool, n),
	}
	if opt.Overhead.Byte > 0 {
		s.link.rate = 1 / opt.Overhead.Byte
	}
	if opt.Machines == nil {
		for range min(opt.Overhead.Slots(slots), n) {
			s.host = append(s.host, host{cores: 1, memory: math.Inf(1), speed: 1})
		}
	}
	for _, m := range opt.Machines {
		h := host{cores: m.Cores, memory: m.Memory, speed: m.Speed, up: m.StartUp}
		if h.memory == 0 {
			h.memory = math.Inf(1)
		}
		if h.speed == 0 {
			h.speed = 1
		}
		for range m.Count {
			s.host = append(s.host, h)
		}
	}
	if err := s.classify(opt.Machines != nil); err != nil {
		return nil, err
	}
	s.sched = newSchedule(n, len(s.host))
	if opt.Policy == LongestPath {
		s.rank = bottomLevels(w, opt.Overhead)
	}
	return s, nil
}

// classify puts each task in the class of its needs. Memory is rounded up to
// a 64th of an octave, so that there are few classes.
//
// needs is false for slots, where every task is of one class. Rounding up may make a task fit
// nowhere that fits exactly; then it keeps its memory as it is. Cores of 0 mean that they are not
// known, and count as one.
func (s *simulation) classify(needs bool) error {
	type need struct{ cores, memory float64 }
	number := map[need]int32{}
	for t := range s.w.Tasks {
		k := need{cores: 1}
		if task := &s.w.Tasks[t]; needs {
			k.cores = task.Cores
			if k.cores == 0 {
				k.cores = 1
			}
			if task.Memory > 0 {
				k.memory = math.Exp2(math.Ceil(math.Log2(task.Memory)*64) / 64)
			}
			if !s.fits(k.cores, task.Memory) {
				return &InfeasibleError{fmt.Sprintf("task %q needs %g cores and %.3g B of memory, which no "+
					"machine has", task.ID, k.cores, task.Memory)}
			}
			if !s.fits(k.cores, k.memory) {
				k.memory = task.Memory
			}
		}
		i, ok := number[k]
		if !ok {
			i = int32(len(s.cls))
			number[k] = i
			s.cls = append(s.cls, class{cores: k.cores, memory: k.memory})
		}
		s.of[t] = i
	}
	return nil
}

// fits reports whether any host, when idle, has that many cores and that much memory. A task
// that fits none would wait for ever.
func (s *simulation) fits(cores float64, memory Bytes) bool {
	for i := range s.host {
		if h := &s.host[i]; h.cores >= cores && h.memory >= memory {
			return true
		}
	}
	return false
}

// run moves time from event to event until no event is left. At each it first places the tasks that can
// start, since ends and arrivals of one moment are handled together.
//
// At the last event no task is left: every class fits some idle host, and the graph has no cycle.
func (s *simulation) run() *Schedule {
	g := s.w.Graph
	s.now = s.overhead.Start
	s.idle = s.now
	for i := range s.host {
		if up := s.host[i].up; up > s.now {
			s.heap = pushRunning(s.heap, running{end: up, task: noSlot})
		}
	}
	for t := range g.Len() {
		if s.wait[t] = int32(len(g.Preds(t))); s.wait[t] == 0 {
			s.release(int32(t))
		}
	}
	for {
		s.place()
		at := s.nextEvent()
		if math.IsInf(at, 1) {
			s.sched.Makespan = s.now
			return s.sched
		}
		s.link.advance(at - s.now)
		s.now = at
		s.handle()
	}
}

// release makes a task ready after the delay of a level. Every task that its predecessors have
// kept waiting pays it once.
func (s *simulation) release(t int32) {
	if s.overhead.Level > 0 {
		// Releases happen in order of time and the delay is the same for
		// all, so due stays sorted.
		s.due = append(s.due, running{end: s.now + s.overhead.Level, task: t})
		return
	}
	s.ready(t)
}

// ready puts a task in the heap of its class. Tasks of equal priority keep the
// order in which they became ready.
func (s *simulation) ready(t int32) {
	s.seq[t] = s.next
	s.next++
	s.unplaced++
	c := &s.cls[s.of[t]]
	c.ready = append(c.ready, t)
	i := len(c.ready) - 1
	// Invariant: c.ready is a heap by prior but for t, which belongs at i or above.
	for i > 0 && s.prior(t, c.ready[(i-1)/2]) {
		c.ready[i] = c.ready[(i-1)/2]
		i = (i - 1) / 2
	}
	c.ready[i] = t
}

// prior reports whether ready task a is to start before b: by rank if the policy has one, and
// else, and of equal ranks, by which became ready first.
func (s *simulation) prior(a, b int32) bool {
	if s.rank != nil && s.rank[a] != s.rank[b] {
		return s.rank[a] > s.rank[b]
	}
	return s.seq[a] < s.seq[b]
}

// take takes the first task by priority off a class that has one, and leaves the rest a heap.
func (s *simulation) take(c *class) int32 {
	h := c.ready
	t, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for c := 1; c < len(h); c = 2*i + 1 {
		if c+1 < len(h) && s.prior(h[c+1], h[c]) {
			c++
		}
		if !s.prior(h[c], x) {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = x
	}
	c.ready = h
	return t
}

// place starts tasks for as long as one fits and the submit host is free: the
// first by priority of those that fit, on the fastest machine with room.
//
// Between classes the same order holds as within one. A large task that does not fit does not hold
// back smaller ones behind it, so that it can wait long.
func (s *simulation) place() {
	for s.unplaced > 0 && s.idle <= s.now {
		best, at := -1, -1
		for i := range s.cls {
			c := &s.cls[i]
			if len(c.ready) == 0 || best >= 0 && !s.prior(c.ready[0], s.cls[best].ready[0]) {
				continue
			}
			if h := s.room(c); h >= 0 {
				best, at = i, h
			}
		}
		if best < 0 {
			return
		}
		s.start(s.take(&s.cls[best]), int32(at))
	}
}

// room returns the fastest machine that has room for a task of class c and is up, the first of
// equals, or -1. Cost: the hosts; there are as many as slots.
func (s *simulation) room(c *class) int {
	best := -1
	for i := range s.host {
		h := &s.host[i]
		if h.cores >= c.cores && h.memory >= c.memory && h.up <= s.now && (best < 0 || h.speed > s.host[best].speed) {
			best = i
		}
	}
	return best
}

// start puts task t on a host, which has room. The slot is taken while the input
// is still on its way: a task reads from inside its slot.
func (s *simulation) start(t, on int32) {
	s.unplaced--
	c, h := &s.cls[s.of[t]], &s.host[on]
	h.cores -= c.cores
	h.memory -= c.memory
	s.idle = s.now + s.overhead.Dispatch
	s.sched.Start[t], s.sched.Slot[t] = s.now, on
	if in := s.w.Tasks[t].In; s.link.rate > 0 && in > 0 {
		s.link.add(in, t)
		return
	}
	s.compute(t)
}

// compute begins the run time of a task whose input is there. A fast machine also shortens the overhead
// of a task beside its run time.
func (s *simulation) compute(t int32) {
	on := s.sched.Slot[t]
	end := s.now + (s.overhead.scale()*s.w.Tasks[t].Run+s.overhead.Task)/s.host[on].speed
	s.heap = pushRunning(s.heap, running{end: end, task: t, slot: on})
}

// nextEvent returns the time of the next event, +Inf without one.
//
// idle counts only if a task waits for it: otherwise time would go on after the last end.
func (s *simulation) nextEvent() Seconds {
	at := math.Inf(1)
	if len(s.heap) > 0 {
		at = s.heap[0].end
	}
	if s.dueHead < len(s.due) {
		at = min(at, s.due[s.dueHead].end)
	}
	if s.unplaced > 0 && s.idle > s.now {
		at = min(at, s.idle)
	}
	return min(at, s.now+s.link.next())
}

// handle deals with every event of this moment, before any task is placed: a task that becomes
// ready now competes with those that were ready before.
func (s *simulation) handle() {
	for s.dueHead < len(s.due) && s.due[s.dueHead].end <= s.now {
		s.ready(s.due[s.dueHead].task)
		s.dueHead++
	}
	for t := s.link.done(s.now); t >= 0; t = s.link.done(s.now) {
		if s.writing[t] {
			s.end(t)
		} else {
			s.compute(t)
		}
	}
	for len(s.heap) > 0 && s.heap[0].end <= s.now {
		t := s.heap[0].task
		s.heap = popRunning(s.heap)
		switch {
		case t == noSlot: // a machine is up
		case s.link.rate > 0 && s.w.Tasks[t].Out > 0:
			s.writing[t] = true
			s.link.add(s.w.Tasks[t].Out, t)
		default:
			s.end(t)
		}
	}
}

// end releases the resources of task t and the tasks that waited for it last.
func (s *simulation) end(t int32) {
	c, h := &s.cls[s.of[t]], &s.host[s.sched.Slot[t]]
	h.cores += c.cores
	h.memory += c.memory
	s.sched.End[t] = s.now
	for _, u := range s.w.Graph.Succs(int(t)) {
		if s.wait[u]--; s.wait[u] == 0 {
			s.release(u)
		}
	}
}

// link is storage whose bandwidth the transfers in progress share equally.
// Each has received the same number of bytes since it began, so that it is
// enough to keep how much a transfer had received in all when it ends.
type link struct {
	rate   float64   // bytes per second
	each   float64   // bytes that a transfer present from the start would have
	moving []running // the next end first
}

// add begins a transfer. It ends when each transfer has received n bytes more
// than until now.
func (l *link) add(n Bytes, task int32) {
	l.moving = pushRunning(l.moving, running{end: l.each + n, task: task})
}

// next returns the time until the next transfer ends.
func (l *link) next() Seconds {
	if len(l.moving) == 0 {
		return math.Inf(1)
	}
	return max(l.moving[0].end-l.each, 0) * float64(len(l.moving)) / l.rate
}

// advance lets time t pass, during which no transfer begins or ends.
func (l *link) advance(t Seconds) {
	if n := len(l.moving); n > 0 {
		l.each += t * l.rate / float64(n)
	}
}

// done takes a transfer that has ended and returns its task, or -1. A transfer has ended when the rest
// of it, a rounding error, is too short to be representable at now: otherwise time would stand still.
//
// each starts anew at 0 when nothing moves, so that rounding errors do not add up over a long
// simulation.
func (l *link) done(now Seconds) int32 {
	if len(l.moving) == 0 || now+l.next() > now {
		return -1
	}
	t := l.moving[0].task
	l.moving = popRunning(l.moving)
	if len(l.moving) == 0 {
		l.each = 0
	}
	return t
}
