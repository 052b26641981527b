package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
)

// An asker is an external study, in a store or on a server.
type asker interface {
	// Ask returns n trials. If again is not negative, trials that were handed out at least that long ago come first.
	Ask(ctx context.Context, n int, again time.Duration) (api.AskAnswer, error)
	Open(ctx context.Context) ([]api.Asked, error)
	Withdraw(ctx context.Context, age time.Duration, reason string) ([]api.Asked, error)
	Tell(ctx context.Context, reports []study.Report) (api.Told, error)
	// Text returns the configuration of a trial in one line.
	Text(a api.Asked) string
}

// A nearDesk is the desk of a study in a store.
type nearDesk struct {
	d     *setup.ExternalSession
	texts map[int64]string // of the trials that it has returned
}

func (n nearDesk) Ask(ctx context.Context, want int, again time.Duration) (out api.AskAnswer, err error) {
	out.Study = n.d.Name
	if again >= 0 {
		old, err := n.d.Again(ctx, want, again)
		if err != nil {
			return out, err
		}
		if out.Trials, out.Open = n.asked(old.Trials), old.Open; len(out.Trials) == want {
			return out, nil
		}
	}
	a, err := n.d.Ask(ctx, want-len(out.Trials))
	out.Trials = append(out.Trials, n.asked(a.Trials)...)
	out.Open, out.EndedBy = a.Open, a.Ended
	return out, err
}

func (n nearDesk) asked(trials []study.Handed) []api.Asked {
	for _, h := range trials {
		n.texts[h.ID] = n.d.Problem.Space.Text(h.Config)
	}
	return api.NewAsked(n.d.Problem.Space, trials)
}

func (n nearDesk) Open(context.Context) ([]api.Asked, error) { return n.asked(n.d.Open()), nil }

func (n nearDesk) Withdraw(ctx context.Context, age time.Duration, reason string) ([]api.Asked, error) {
	back, err := n.d.Withdraw(ctx, age, "", reason)
	return n.asked(back), err
}

func (n nearDesk) Tell(ctx context.Context, reports []study.Report) (api.Told, error) {
	r, err := n.d.Tell(ctx, reports)
	if err != nil {
		return api.Told{}, err
	}
	return api.NewTold(n.d.Name, n.d.Problem.Space, n.d.Problem.Goal, r, n.d.Result()), nil
}

func (n nearDesk) Text(a api.Asked) string { return n.texts[a.ID] }

// A distantDesk is a study on a server.
type distantDesk struct {
	c      *api.Client
	name   string
	detail api.Detail
}

func (d *distantDesk) Ask(ctx context.Context, n int, again time.Duration) (api.AskAnswer, error) {
	return d.c.Ask(ctx, d.name, n, again)
}

func (d *distantDesk) Open(ctx context.Context) ([]api.Asked, error) { return d.c.Asked(ctx, d.name) }

func (d *distantDesk) Withdraw(ctx context.Context, age time.Duration, reason string) ([]api.Asked, error) {
	return d.c.Recall(ctx, d.name, age, reason)
}

func (d *distantDesk) Tell(ctx context.Context, reports []study.Report) (api.Told, error) {
	return d.c.Tell(ctx, d.name, reports)
}

func (d *distantDesk) Text(a api.Asked) string {
	var texts []string
	for _, p := range d.detail.Params {
		switch v := a.Config[p.Name].(type) {
		case nil: // it is not in force
		case float64:
			texts = append(texts, p.Name+"="+assay.FormatNumber(v))
		default:
			texts = append(texts, fmt.Sprintf("%s=%v", p.Name, v))
		}
	}
	return strings.Join(texts, " ")
}

// at has do use a study on a server, which a study file makes there.
func (f *deskFlags) at(ctx context.Context, s streams, at string, do func(*distantDesk) error) error {
	if f.store != "" {
		return usagef("--store and --server: a study is in one of them")
	}
	def, err := f.load(s, at)
	if err != nil {
		return err
	}
	c, err := f.remote.client()
	if err != nil {
		return err
	}
	defer c.Close()
	d := &distantDesk{c: c, name: at}
	if def == nil {
		if d.detail, err = c.Brief(ctx, at); assay.ClassOf(err) == assay.ClassNotFound {
			return usagef("no study %q on the server (see assay study ls --server)", at)
		} else if err != nil {
			return err
		}
		return do(d)
	}
	p, err := setup.New(def, setup.Options{Warn: warnings(s.err)})
	if err != nil {
		return err
	}
	d.name = cmp.Or(f.study, p.Name())
	spec, err := setup.Encode(def, d.name, nil)
	if err != nil {
		return err
	}
	if d.detail, err = c.Submit(ctx, api.Submission{Name: d.name, Spec: spec}); err != nil {
		if assay.ClassOf(err) == assay.ClassConflict {
			err = usageError(err)
		}
		return fmt.Errorf("%s: %w", report.Visible(at), err)
	}
	return do(d)
}
