package api

import (
	"context"
	"net/http"
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
	Priority int       `json:"priority" doc:"of the study"`
	State    string    `json:"state" enum:"open,placed" doc:"open: it waits; placed: a worker is at it"`
	Worker   string    `json:"worker,omitempty" doc:"the name of the one that is at it"`
	Since    time.Time `json:"since" doc:"when it came to wait, or began"`
	Silent   float64   `json:"silent_s" doc:"how long its worker has not been heard of"`
	Elapsed  float64   `json:"elapsed_s" doc:"of the run, as its worker last said"`
}

// A Worker is a machine that makes runs.
type Worker struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Slots   int               `json:"slots"`
	Running int               `json:"running"`
	Done    int64             `json:"done" doc:"runs that it has ended"`
	Apps    []string          `json:"apps" nullable:"false"`
	Labels  map[string]string `json:"labels,omitempty"`
	Class   string            `json:"class"`
	Machine string            `json:"machine" doc:"the class in words"`
	State   string            `json:"state" doc:"ready, draining, evicted, silent or set aside"`
	Note    string            `json:"note,omitempty" doc:"why it is set aside"`
	Silent  float64           `json:"silent_s" doc:"how long it has not been heard of"`
}

// fleet registers the routes of the queue and of the workers.
func (s *Server) fleet() {
	type queueIn struct {
		Study string `query:"study" maxLength:"1024" doc:"only of that study"`
		Limit int    `query:"limit" minimum:"1" maximum:"100000" default:"1000"`
	}
	type queueOut struct {
		Body struct {
			Total   int     `json:"total" doc:"how many there are, those that are left out too"`
			Entries []Entry `json:"entries" nullable:"false"`
		}
	}
	handle(s, http.MethodGet, prefix+"/queue", func(ctx context.Context, in *queueIn) (*queueOut, error) {
		all, err := s.o.Fleet.Queue(ctx)
		if err != nil {
			return nil, err
		}
		out := &queueOut{}
		out.Body.Entries = []Entry{}
		for _, e := range all {
			if !whoOf(ctx).sees(e.Study) || in.Study != "" && in.Study != e.Study {
				continue
			}
			if out.Body.Total++; out.Body.Total <= in.Limit {
				out.Body.Entries = append(out.Body.Entries, e)
			}
		}
		return out, nil
	})

	type workersOut struct {
		Body struct {
			Workers []Worker `json:"workers" nullable:"false"`
		}
	}
	handle(s, http.MethodGet, prefix+"/workers", func(ctx context.Context, _ *struct{}) (*workersOut, error) {
		all, err := s.o.Fleet.Workers(ctx)
		out := &workersOut{}
		out.Body.Workers = append([]Worker{}, all...)
		return out, err
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
			if err := s.o.Fleet.Order(ctx, in.Worker, o); err != nil {
				return nil, err
			}
			all, err := s.o.Fleet.Workers(ctx)
			out := &workersOut{}
			out.Body.Workers = []Worker{}
			for _, w := range all {
				if w.ID == in.Worker || w.Name == in.Worker {
					out.Body.Workers = append(out.Body.Workers, w)
				}
			}
			return out, err
		})
	}
	order("/workers/{worker}/drain", queue.Order{Drain: true})
	order("/workers/{worker}/evict", queue.Order{Drain: true, Evict: true})
}

// A Token says who may do what, without its secret.
type Token struct {
	Name    string     `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9][A-Za-z0-9_-]*$"`
	Role    Role       `json:"role" enum:"worker,viewer,operator,author,admin"`
	Studies []string   `json:"studies,omitempty" maxItems:"100" nullable:"false" doc:"beginnings of the names of the studies that it is for; all by default"`
	Apps    []string   `json:"apps,omitempty" maxItems:"100" nullable:"false" doc:"of a worker: beginnings of the applications that it may offer"`
	Expires *time.Time `json:"expires,omitempty"`
	Created *time.Time `json:"created,omitempty" readOnly:"true"`
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
		Body Token
	}
	type addOut struct {
		Body Secret
	}
	handle(s, http.MethodPost, prefix+"/tokens", func(ctx context.Context, in *addIn) (*addOut, error) {
		k, err := s.keys()
		if err != nil {
			return nil, err
		}
		if e := in.Body.Expires; e != nil && !e.After(s.o.Now()) {
			return nil, assay.Errorf(assay.ClassUsage, "expires: %s is over", e.Format(time.RFC3339))
		}
		secret, err := k.Add(ctx, in.Body)
		return &addOut{Secret{in.Body, secret}}, err
	})
	type endIn struct {
		Written
		Token string `path:"token" minLength:"1" maxLength:"64" doc:"its name"`
	}
	handle(s, http.MethodDelete, prefix+"/tokens/{token}", func(ctx context.Context, in *endIn) (*struct{}, error) {
		k, err := s.keys()
		if err != nil {
			return nil, err
		}
		return nil, k.Revoke(ctx, in.Token)
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
