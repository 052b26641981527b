package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
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
	Since    time.Time `json:"since" doc:"when it came to wait, or began"`
	Silent   float64   `json:"silent_s" doc:"how long its worker has not been heard of"`
	Elapsed  float64   `json:"elapsed_s" doc:"of the run, as its worker last said"`
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
	Ratio   float64           `json:"ratio,omitempty" doc:"of the times of its runs to those of all machines of its class in the same studies, as medians of the latest; not there while too little is known"`
	Apps    []string          `json:"apps" nullable:"false"`
	Labels  map[string]string `json:"labels,omitempty"`
	Class   string            `json:"class"`
	Machine string            `json:"machine" doc:"the class in words"`
	State   string            `json:"state" enum:"ready,draining,evicted,aside,away"`
	Why     string            `json:"why,omitempty" doc:"why it was set aside"`
	Silent  float64           `json:"silent_s" doc:"how long it has not been heard of"`
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
	Discarded []Discarded `json:"discarded" nullable:"false" doc:"what was taken back before it began, and can be restored: at most as many as entries, the latest"`
}

// discarded returns what who can have restored.
func (s *Server) discarded(who Who, study string, limit int) []Discarded {
	out := []Discarded{}
	for _, d := range s.o.Host.Discarded() {
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

// fleet registers the routes of the queue and of the workers.
func (s *Server) fleet() {
	type queueIn struct {
		Study string `query:"study" minLength:"1" maxLength:"1024" doc:"only of that study"`
		Limit int    `query:"limit" minimum:"1" maximum:"100000" default:"1000"`
	}
	type queueOut struct{ Body Queue }
	handle(s, http.MethodGet, prefix+"/queue", func(ctx context.Context, in *queueIn) (*queueOut, error) {
		out := &queueOut{}
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
	})

	type workersOut struct{ Body Workers }
	handle(s, http.MethodGet, prefix+"/workers", func(context.Context, *struct{}) (*workersOut, error) {
		return &workersOut{s.workers("")}, nil
	})

	type orderIn struct {
		Written
		Worker string `path:"worker" minLength:"1" maxLength:"200" doc:"its id or its name"`
	}
	order := func(path string, o queue.Order) {
		handle(s, http.MethodPost, prefix+path, func(ctx context.Context, in *orderIn) (*workersOut, error) {
			if who := whoOf(ctx); who.Role != Admin && len(who.Scope) > 0 {
				return nil, refuse(http.StatusForbidden, "workers make the runs of all studies; %s has only some", who.Name)
			}
			if err := s.o.Fleet.Order(in.Worker, o); err != nil {
				return nil, err
			}
			return &workersOut{s.workers(in.Worker)}, nil
		})
	}
	order("/workers/{worker}/resume", queue.Order{})
	order("/workers/{worker}/drain", queue.Order{Drain: true})
	order("/workers/{worker}/evict", queue.Order{Drain: true, Evict: true})
}

// A Token says who may do what, without its secret.
type Token struct {
	Name    string     `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]*$"`
	Role    Role       `json:"role" enum:"worker,viewer,operator,author,admin"`
	Studies []string   `json:"studies,omitempty" maxItems:"100" nullable:"false" doc:"beginnings of the names of the studies that it is for; all by default"`
	Apps    []string   `json:"apps,omitempty" maxItems:"100" nullable:"false" doc:"of a worker: the applications that it may offer; all by default"`
	Expires *time.Time `json:"expires,omitempty"`
}

// A Me is who asks.
type Me struct {
	Name    string   `json:"name"`
	Role    Role     `json:"role" enum:"viewer,operator,author,admin"`
	Studies []string `json:"studies,omitempty" nullable:"false" doc:"beginnings of the names of the studies that they may see; all by default"`
}

// A NewToken is a token to make.
type NewToken struct {
	Name    string   `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]*$"`
	Role    Role     `json:"role" enum:"worker,viewer,operator,author,admin"`
	Studies []string `json:"studies,omitempty" maxItems:"100" nullable:"false" doc:"beginnings of the names of the studies that it is for; all by default"`
	Apps    []string `json:"apps,omitempty" maxItems:"100" nullable:"false" doc:"of a worker: the applications that it may offer; all by default"`
	Lasts   Whole    `json:"lasts_s,omitempty" minimum:"1" maximum:"3153600000" doc:"for ever by default"`
}

// admin registers the routes of the server itself.
func (s *Server) admin() {
	type healthOut struct {
		Body struct {
			OK bool `json:"ok"`
		}
	}
	handle(s, http.MethodGet, "/healthz", func(context.Context, *struct{}) (*healthOut, error) {
		out := &healthOut{}
		out.Body.OK = true
		return out, nil
	})
	type meOut struct{ Body Me }
	handle(s, http.MethodGet, prefix+"/me", func(ctx context.Context, _ *struct{}) (*meOut, error) {
		who := whoOf(ctx)
		return &meOut{Me{who.Name, who.Role, who.Scope}}, nil
	})
	type aboutOut struct{ Body About }
	handle(s, http.MethodGet, prefix+"/server", func(context.Context, *struct{}) (*aboutOut, error) {
		return &aboutOut{s.o.About}, nil
	})

	type tokensOut struct {
		Body struct {
			Tokens []Token `json:"tokens" nullable:"false"`
		}
	}
	handle(s, http.MethodGet, prefix+"/tokens", func(ctx context.Context, _ *struct{}) (*tokensOut, error) {
		k, err := s.keys()
		if err != nil {
			return nil, err
		}
		all, err := k.Tokens(ctx)
		out := &tokensOut{}
		out.Body.Tokens = append([]Token{}, all...)
		return out, err
	})
	type addIn struct {
		Written
		Body NewToken
	}
	type addOut struct {
		Body Secret
	}
	handle(s, http.MethodPost, prefix+"/tokens", func(ctx context.Context, in *addIn) (*addOut, error) {
		k, err := s.keys()
		if err != nil {
			return nil, err
		}
		t := Token{Name: in.Body.Name, Role: in.Body.Role, Studies: in.Body.Studies, Apps: in.Body.Apps}
		if in.Body.Lasts > 0 {
			end := s.o.Now().Add(time.Duration(in.Body.Lasts) * time.Second).UTC().Truncate(time.Second)
			t.Expires = &end
		}
		secret, err := k.Add(ctx, t, whoOf(ctx).Name)
		return &addOut{Secret{t, secret}}, err
	})
	s.audit()
	type endIn struct {
		Written
		Token string `path:"token" minLength:"1" maxLength:"64" doc:"its name"`
	}
	handle(s, http.MethodDelete, prefix+"/tokens/{token}", func(ctx context.Context, in *endIn) (*struct{}, error) {
		k, err := s.keys()
		if err != nil {
			return nil, err
		}
		return nil, k.Revoke(ctx, in.Token, whoOf(ctx).Name)
	})
}

// A Decision is a decision about who may do what, or what is offered.
type Decision = access.Decision

// audit registers the route of the audit.
func (s *Server) audit() {
	type in struct {
		Limit int `query:"limit" minimum:"1" maximum:"100000" default:"1000" doc:"the last so many"`
	}
	type out struct {
		Body struct {
			Entries []Decision `json:"entries" nullable:"false"`
		}
	}
	handle(s, http.MethodGet, prefix+"/audit", func(_ context.Context, in *in) (*out, error) {
		o := &out{}
		o.Body.Entries = []Decision{}
		if s.o.Audit == nil {
			return o, nil
		}
		all, err := s.o.Audit(in.Limit)
		o.Body.Entries = append(o.Body.Entries, all...)
		return o, err
	})
}

// A Secret is a token as it is shown once.
type Secret struct {
	Token  Token  `json:"token"`
	Secret string `json:"secret" doc:"what is to be kept in a file that nobody else can read; it cannot be asked for again"`
}

// keys returns the tokens of a server that has them.
func (s *Server) keys() (Keys, error) {
	if s.o.Keys == nil {
		return nil, assay.Errorf(assay.ClassUsage, "this server has no tokens")
	}
	return s.o.Keys, nil
}
