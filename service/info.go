package service

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/queue"
)

// States of a study on a server.
const (
	Running = "running"
	Paused  = "paused"
	Stopped = "stopped" // by a person
	Ended   = "ended"
	Idle    = "idle" // nobody here runs it: another server does, a terminal does, or did and was killed
)

// An Info is what there is to say of a study on a server without its trials.
type Info struct {
	assay.Summary
	State string
	// Why is why the last session here ended in an error; "" otherwise.
	Why      string
	Priority int
	App      string        // what is run, "" if the study does not go on
	Class    string        // of machines, likewise
	Running  int           // runs that are at workers
	Lost     time.Duration // what attempts cost that do not count
	Lacks    string        // why nobody can run what is open, for people: see [queue.Fleet.Lack]
}

// Info returns what there is to say of a study.
func (h *Host) Info(ctx context.Context, name string) (Info, error) {
	sum, err := h.o.Store.Summary(ctx, name)
	if err != nil {
		return Info{}, err
	}
	return h.info(ctx, sum, h.queued())
}

// Infos returns what there is to say of all studies in the order of their names.
func (h *Host) Infos(ctx context.Context) (all []Info, err error) {
	queued := h.queued()
	for sum, err := range h.o.Store.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		i, err := h.info(ctx, sum, queued)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// queued returns what waits and runs, by study.
func (h *Host) queued() map[string][]queue.Entry {
	by := map[string][]queue.Entry{}
	for _, e := range h.o.Fleet.Queue() {
		by[e.Study] = append(by[e.Study], e)
	}
	return by
}

func (h *Host) info(ctx context.Context, sum assay.Summary, queued map[string][]queue.Entry) (Info, error) {
	i := Info{Summary: sum, State: StateOf(sum), Priority: sum.Priority, Lost: sum.Lost}
	h.mu.Lock()
	s := h.active[sum.Study]
	if goesOn(sum) {
		i.State = Idle
	}
	if s != nil {
		select {
		case <-s.opened:
			i.App, i.Class = s.app, s.class
		default:
		}
		switch i.State = Running; {
		case s.stopping:
			i.State = Stopped
		case s.paused:
			i.State = Paused
		}
	} else if h.external[sum.Study] != nil && goesOn(sum) {
		if i.State = Running; sum.Steered == "pause" {
			i.State = Paused
		}
	} else if o := h.results[sum.Study]; o.err != nil && sum.Steered != "stop" {
		i.Why = o.err.Error()
	}
	h.mu.Unlock()
	for _, e := range queued[sum.Study] {
		if i.Class = e.Class; e.State == "placed" {
			i.Running++
		}
	}
	i.Lacks = h.o.Fleet.Unschedulable(sum.Study)
	return i, nil
}

// StateOf returns the state of a study that does not go on here.
func StateOf(sum assay.Summary) string {
	switch {
	case sum.Steered == "stop":
		return Stopped
	case sum.Ended != "":
		return Ended
	}
	return Idle
}
