package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/queue"
)

// An Entry is a run that waits, or that a worker is at.
type Entry struct {
	Study    string    `json:"study"`
	Trial    int64     `json:"trial"`
	Repeat   int       `json:"repeat" doc:"how often its configuration was run before"`
	Attempt  int       `json:"attempt"`
	App      string    `json:"app"`
	Class    string    `json:"class,omitempty"`
	Config   string    `json:"config" doc:"the values of the parameters, for people"`
	Priority int       `json:"priority" doc:"of the trial among those of its study: 0, or greater once it was put first"`
	State    string    `json:"state" enum:"open,placed" doc:"open: it waits; placed: a worker is at it"`
	Worker   string    `json:"worker,omitempty" doc:"the name of the one that is at it"`
	Since    time.Time `json:"since" doc:"when it began to wait, or to run"`
	Silent   float64   `json:"silent_s" doc:"time since the last message of its worker"`
	Elapsed  float64   `json:"elapsed_s" doc:"of the run, by the last message of its worker"`
	Lacks    string    `json:"lacks,omitempty" doc:"why no worker can run it, and what there is; after two leases"`
}

// A Worker is a machine that makes runs.
type Worker struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Slots   int               `json:"slots"`
	Running int               `json:"running"`
	Done    int               `json:"done" doc:"runs that it has ended since the server started"`
	Ratio   float64           `json:"ratio,omitempty" doc:"of its run times to those of its class; absent while unknown"`
	Apps    []string          `json:"apps" nullable:"false"`
	Labels  map[string]string `json:"labels,omitempty"`
	Class   string            `json:"class"`
	Machine string            `json:"machine" doc:"the class in words"`
	State   string            `json:"state" enum:"ready,draining,evicted,aside,away"`
	Why     string            `json:"why,omitempty" doc:"why it was set aside"`
	Silent  float64           `json:"silent_s" doc:"time since its last message"`
}

// Workers are machines.
type Workers struct {
	Workers []Worker `json:"workers" nullable:"false"`
}

// entryOf returns a run of the queue as data.
func entryOf(e queue.Entry) Entry {
	return Entry{
		Study: e.Study, Trial: e.ID.Trial, Repeat: e.ID.Repeat, Attempt: e.ID.Attempt, App: e.App, Class: e.Class,
		Config: e.Config, Priority: e.Priority, State: e.State, Worker: e.Worker, Since: e.Since,
		Silent: e.Silent.Seconds(), Elapsed: e.So.Elapsed.Seconds(), Lacks: e.Unschedulable,
	}
}

// A Discarded is a trial that was taken back before it began, and can be restored.
type Discarded struct {
	Study  string    `json:"study"`
	Trial  int64     `json:"trial"`
	Config string    `json:"config" doc:"the values of the parameters, for people"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// A Queue is what waits and what runs, in the order of claims.
type Queue struct {
	Total     int         `json:"total" doc:"how many entries there are, those that are left out too"`
	Entries   []Entry     `json:"entries" nullable:"false"`
	Discarded []Discarded `json:"discarded" nullable:"false" doc:"withdrawn trials that can be restored"`
}

// discarded returns what who can have restored.
func (s *Server) discarded(who Who, study string, limit int) []Discarded {
	out := []Discarded{}
	for _, d := range s.o.Trials.Discarded() {
		if who.sees(d.Study) && (study == "" || study == d.Study) {
			out = append(out, Discarded{d.Study, d.ID, d.Config, d.By, d.Reason, d.At})
		}
	}
	slices.SortStableFunc(out, func(a, b Discarded) int { return a.At.Compare(b.At) })
	return out[max(0, len(out)-limit):]
}

// workers returns the one of that name or ID, all if it is "".
func (s *Server) workers(who string) Workers {
	out := Workers{[]Worker{}}
	for _, w := range s.o.Fleet.Workers() {
		if who != "" && w.ID != who && w.Name != who {
			continue
		}
		state := "ready"
		switch {
		case w.Away:
			state = "away"
		case w.Evict:
			state = "evicted"
		case w.Drain:
			state = "draining"
		case w.Quarantine:
			state = "aside"
		}
		out.Workers = append(out.Workers, Worker{
			ID: w.ID, Name: w.Label(), Version: w.Version, Slots: w.Slots, Running: w.Running, Done: w.Done,
			Apps: append([]string{}, w.Apps...), Labels: w.Labels, Class: w.Class, Machine: w.Machine, State: state, Why: w.Why,
			Silent: w.Silent.Seconds(), Ratio: w.Ratio,
		})
	}
	return out
}

type listedIn struct {
	Study string `query:"study" minLength:"1" maxLength:"1024" doc:"only of that study"`
	Limit int    `query:"limit" minimum:"1" maximum:"100000" default:"1000"`
}

func (s *Server) getQueue(ctx context.Context, in *listedIn) (*plain[Queue], error) {
	out := &plain[Queue]{}
	out.Body.Entries, out.Body.Discarded = []Entry{}, s.discarded(whoOf(ctx), in.Study, in.Limit)
	for _, e := range s.o.Fleet.Queue() {
		if !whoOf(ctx).sees(e.Study) || in.Study != "" && in.Study != e.Study {
			continue
		}
		if out.Body.Total++; out.Body.Total <= in.Limit {
			out.Body.Entries = append(out.Body.Entries, entryOf(e))
		}
	}
	return out, nil
}

func (s *Server) getWorkers(context.Context, *struct{}) (*plain[Workers], error) {
	return &plain[Workers]{s.workers("")}, nil
}

type orderIn struct {
	Written
	Worker string `path:"worker" minLength:"1" maxLength:"200" doc:"its id or its name"`
}

func (s *Server) resumeWorker(ctx context.Context, in *orderIn) (*plain[Workers], error) {
	return s.order(ctx, in.Worker, queue.Order{})
}

func (s *Server) drainWorker(ctx context.Context, in *orderIn) (*plain[Workers], error) {
	return s.order(ctx, in.Worker, queue.Order{Drain: true})
}

func (s *Server) evictWorker(ctx context.Context, in *orderIn) (*plain[Workers], error) {
	return s.order(ctx, in.Worker, queue.Order{Drain: true, Evict: true})
}

// order gives a worker an order.
func (s *Server) order(ctx context.Context, worker string, o queue.Order) (*plain[Workers], error) {
	if who := whoOf(ctx); who.Role != Admin && len(who.Scope) > 0 {
		return nil, refuse(http.StatusForbidden, "workers make the runs of all studies; %s has only some", who.Name)
	}
	if err := s.o.Fleet.Order(worker, o); err != nil {
		return nil, err
	}
	return &plain[Workers]{s.workers(worker)}, nil
}

// Queue returns waiting and running runs, and how many there are.
func (c *Client) Queue(ctx context.Context, study string, limit int) ([]Entry, int, error) {
	out, err := c.Queued(ctx, study, limit)
	return out.Entries, out.Total, err
}

// Queued is Queue with the trials that can be restored.
func (c *Client) Queued(ctx context.Context, study string, limit int) (Queue, error) {
	return body(call(ctx, c, (*Server).getQueue, &listedIn{study, limit}))
}

// Workers returns the workers of the server.
func (c *Client) Workers(ctx context.Context) ([]Worker, error) {
	out, err := body(call(ctx, c, (*Server).getWorkers, &struct{}{}))
	return out.Workers, err
}

// Order gives a worker an order: resume, drain or evict.
func (c *Client) Order(ctx context.Context, worker, verb string) ([]Worker, error) {
	do, ok := map[string]handler[orderIn, plain[Workers]]{
		"resume": (*Server).resumeWorker, "drain": (*Server).drainWorker, "evict": (*Server).evictWorker,
	}[verb]
	if !ok {
		return nil, assay.Errorf(assay.ClassUsage, "a worker has no order %q: resume, drain or evict", verb)
	}
	out, err := body(call(ctx, c, do, &orderIn{Worker: worker}))
	return out.Workers, err
}
