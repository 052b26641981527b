package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/report"
)

// An Entry is a run that waits, or that a worker is at.
type Entry struct {
	Study        string    `json:"study"`
	Trial        int64     `json:"trial"`
	Repeat       int       `json:"repeat" doc:"how often its configuration was run before"`
	Attempt      int       `json:"attempt"`
	App          string    `json:"app"`
	MachineClass string    `json:"class,omitempty"`
	Config       string    `json:"config" doc:"the values of the parameters, for people"`
	Priority     int       `json:"priority" doc:"of the trial within its study: 0, or greater once it was put first"`
	State        string    `json:"state" enum:"open,placed" doc:"open: it waits; placed: a worker is at it"`
	Worker       string    `json:"worker,omitempty" doc:"the name of the one that is at it"`
	Since        time.Time `json:"since" doc:"when it began to wait, or to run"`
	Silent       float64   `json:"silent_s" doc:"time since the last message of its worker"`
	Elapsed      float64   `json:"elapsed_s" doc:"of the run, by the last message of its worker"`
	Lacks        string    `json:"lacks,omitempty" doc:"why no worker can run it; after two leases"`
}

// A Worker is a machine that makes runs.
type Worker struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Slots        int               `json:"slots"`
	Running      int               `json:"running"`
	Done         int               `json:"done" doc:"runs that it has ended since the server started"`
	Ratio        float64           `json:"ratio,omitempty" doc:"of its run times to its class; absent while unknown"`
	Apps         []string          `json:"apps" nullable:"false"`
	Labels       map[string]string `json:"labels,omitempty"`
	MachineClass string            `json:"class"`
	Machine      string            `json:"machine" doc:"the class in words"`
	State        string            `json:"state" enum:"ready,draining,evicted,aside,away"`
	Why          string            `json:"why,omitempty" doc:"why it is not ready"`
	Since        *time.Time        `json:"since,omitempty" doc:"when it was ordered so or last called, or its token ended"`
	Silent       float64           `json:"silent_s" doc:"time since its last message"`
	Lost         float64           `json:"lost_s" doc:"in attempts that do not count, since the server started"`
	LostAt       *time.Time        `json:"lost_at,omitempty" doc:"when the last of these attempts was found"`
	LostWhy      string            `json:"lost_why,omitempty" doc:"why the last of these attempts does not count"`
}

// Reasons returns for people why the worker is not ready, and why it lost time.
func (w Worker) Reasons() (lines []string) {
	at := func(t *time.Time) string { return t.Local().Format(time.DateTime) }
	if w.Why != "" {
		line := w.Name + " is " + w.State
		if w.Since != nil {
			line += " since " + at(w.Since)
		}
		if line += ": " + w.Why; w.State == "aside" {
			line += "; assay workers resume " + w.Name + " has it go on"
		}
		lines = append(lines, line)
	}
	if w.LostAt != nil {
		lines = append(lines, fmt.Sprintf("%s lost %s in attempts that do not count, the last at %s: %s", w.Name,
			report.Seconds(w.Lost), at(w.LostAt), w.LostWhy))
	}
	return lines
}

// Workers are machines.
type Workers struct {
	Workers []Worker `json:"workers" nullable:"false"`
}

// entryOf returns a run of the queue as data.
func entryOf(e queue.Entry) Entry {
	return Entry{
		Study: e.Study, Trial: e.ID.Trial, Repeat: e.ID.Repeat, Attempt: e.ID.Attempt, App: e.App,
		MachineClass: e.MachineClass,
		Config:       e.Config, Priority: e.Priority, State: e.State, Worker: e.Worker, Since: e.Since,
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

// A Queue lists the waiting and running attempts in the order of claims.
type Queue struct {
	Total     int         `json:"total" doc:"how many entries there are, those that are left out too"`
	Entries   []Entry     `json:"entries" nullable:"false"`
	Discarded []Discarded `json:"discarded" nullable:"false" doc:"withdrawn trials that can be restored"`
}

// discarded returns the withdrawn trials that the caller may restore.
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

// workers returns the worker of that name or ID, or all if it is "".
func (s *Server) workers(who string) Workers {
	out := Workers{[]Worker{}}
	for _, w := range s.o.Fleet.Workers() {
		if who != "" && w.ID != who && w.Name != who {
			continue
		}
		state, why, since := standing(w)
		out.Workers = append(out.Workers, Worker{
			ID: w.ID, Name: w.Label(), Version: w.Version, Slots: w.Slots, Running: w.Running, Done: w.Done,
			Apps: append([]string{}, w.Apps...), Labels: w.Labels, MachineClass: w.MachineClass, Machine: w.Machine,
			State: state, Why: why, Since: stamped(since), Silent: w.Silent.Seconds(), Ratio: w.Ratio,
			Lost: w.Lost.Elapsed.Seconds(), LostAt: stamped(w.Lost.Last), LostWhy: w.Lost.Why,
		})
	}
	return out
}

// standing returns the state of a worker, and why and since when it is not ready. The time is 0 if it is not known, or
// the reason has it.
func standing(w queue.WorkerState) (state, why string, since time.Time) {
	ordered := "ordered"
	if w.By != "" {
		ordered = "ordered by " + w.By
	}
	switch {
	case w.Away && !w.ShutOut.IsZero():
		return "away", "its token was revoked or expired", w.ShutOut
	case w.Away && w.Drain:
		return "away", "silent, " + ordered + " to end", w.Heard
	case w.Away:
		return "away", "silent", w.Heard
	case w.Evict:
		return "evicted", ordered, w.At
	case w.Drain:
		return "draining", ordered, w.At
	case w.Quarantine:
		return "aside", w.Why, time.Time{}
	}
	return "ready", "", time.Time{}
}

// stamped returns the time in whole seconds, nil for the zero time.
func stamped(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

type listedIn struct {
	Study string `query:"study" minLength:"1" maxLength:"1024" doc:"only of that study"`
	Limit int    `query:"limit" minimum:"1" maximum:"100000" default:"1000"`
}

// fleetRoutes answer requests for the queue and the workers.
type fleetRoutes struct{ *Server }

func (s fleetRoutes) getQueue(ctx context.Context, in *listedIn) (*plain[Queue], error) {
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

func (s fleetRoutes) getWorkers(context.Context, *struct{}) (*plain[Workers], error) {
	return &plain[Workers]{s.workers("")}, nil
}

type orderIn struct {
	Written
	Worker string `path:"worker" minLength:"1" maxLength:"200" doc:"its id or its name"`
}

func (s fleetRoutes) resumeWorker(ctx context.Context, in *orderIn) (*plain[Workers], error) {
	return s.order(ctx, in.Worker, queue.Order{})
}

func (s fleetRoutes) drainWorker(ctx context.Context, in *orderIn) (*plain[Workers], error) {
	return s.order(ctx, in.Worker, queue.Order{Drain: true})
}

func (s fleetRoutes) evictWorker(ctx context.Context, in *orderIn) (*plain[Workers], error) {
	return s.order(ctx, in.Worker, queue.Order{Drain: true, Evict: true})
}

// order gives a worker an order, with who gave it and when.
func (s fleetRoutes) order(ctx context.Context, worker string, o queue.Order) (*plain[Workers], error) {
	who := whoOf(ctx)
	if who.Role != Admin && len(who.Scope) > 0 {
		return nil, refuse(http.StatusForbidden, "workers make the runs of all studies; %s has only some", who.Name)
	}
	if o != (queue.Order{}) { // the zero Order has the worker go on
		o.By, o.At = who.Name, time.Now().UTC().Truncate(time.Second)
	}
	if err := s.o.Fleet.Order(worker, o); err != nil {
		return nil, err
	}
	return &plain[Workers]{s.workers(worker)}, nil
}

// Queue returns waiting and running attempts, and the trials that can be restored.
func (c *Client) Queue(ctx context.Context, study string, limit int) (Queue, error) {
	return body(call(ctx, c, fleetRoutes.getQueue, &listedIn{study, limit}))
}

// Workers returns the workers of the server.
func (c *Client) Workers(ctx context.Context) ([]Worker, error) {
	out, err := body(call(ctx, c, fleetRoutes.getWorkers, &struct{}{}))
	return out.Workers, err
}

// Order gives a worker an order: resume, drain or evict.
func (c *Client) Order(ctx context.Context, worker, verb string) ([]Worker, error) {
	do, ok := map[string]handler[fleetRoutes, orderIn, plain[Workers]]{
		"resume": fleetRoutes.resumeWorker, "drain": fleetRoutes.drainWorker, "evict": fleetRoutes.evictWorker,
	}[verb]
	if !ok {
		return nil, assay.Errorf(assay.ClassUsage, "a worker has no order %q: resume, drain or evict", verb)
	}
	out, err := body(call(ctx, c, do, &orderIn{Worker: worker}))
	return out.Workers, err
}
