package service

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// States of a study on a server.
const (
	Running = "running"
	Paused  = "paused"
	Stopped = "stopped" // by a person
	Ended   = "ended"
	Idle    = "idle" // not run here: by another server or a terminal, or by a killed process
)

// An Info describes a study on a server without its trials.
type Info struct {
	assay.Summary
	State string
	// Why is why the last session here ended in an error; "" otherwise.
	Why      string
	Priority int
	App      string        // the application, "" if the study is not running
	Class    string        // of machines, likewise
	Running  int           // runs that are at workers
	Lost     time.Duration // cost of attempts that do not count
	Lacks    string        // why no worker can run the open trials, as text: see [queue.Fleet.Unschedulable]
}

// Info returns the description of a study.
func (h *Host) Info(ctx context.Context, name string) (Info, error) {
	sum, err := h.o.Store.Summary(ctx, name)
	if err != nil {
		return Info{}, err
	}
	return h.info(ctx, sum, h.queued())
}

// Infos returns the descriptions of all studies, ordered by name.
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

// queued returns the waiting and running attempts, by study.
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
	} else if h.external.known(sum.Study) != nil && goesOn(sum) {
		if i.State = Running; sum.Steered == "pause" {
			i.State = Paused
		}
	} else if o := h.results[sum.Study]; o.err != nil && sum.Steered != "stop" {
		i.Why = o.err.Error()
	}
	h.mu.Unlock()
	for _, e := range queued[sum.Study] {
		if i.Class = e.MachineClass; e.State == "placed" {
			i.Running++
		}
	}
	i.Lacks = h.o.Fleet.Unschedulable(sum.Study)
	return i, nil
}

// StateOf returns the state of a study that is not running here.
func StateOf(sum assay.Summary) string {
	switch {
	case sum.Steered == "stop":
		return Stopped
	case sum.Ended != "":
		return Ended
	}
	return Idle
}
