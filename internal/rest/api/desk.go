package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/study"
)

// A Desk is an external study, in a store or on a server.
type Desk interface {
	// Ask returns n trials. If again is not negative, trials that were handed out at least that long ago come first.
	Ask(ctx context.Context, n int, again time.Duration) (AskAnswer, error)
	Open(ctx context.Context) ([]Asked, error)
	Withdraw(ctx context.Context, age time.Duration, reason string) ([]Asked, error)
	Tell(ctx context.Context, reports []study.Report) (Told, error)
	// Text returns the configuration of a trial in one line.
	Text(a Asked) string
}

// NewDesk returns the desk of a study in a store.
func NewDesk(d *setup.ExternalSession) Desk { return nearDesk{d, map[int64]string{}} }

// A nearDesk is the desk of a study in a store.
type nearDesk struct {
	d     *setup.ExternalSession
	texts map[int64]string // of the trials that it has returned
}

func (n nearDesk) Ask(ctx context.Context, want int, again time.Duration) (out AskAnswer, err error) {
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

func (n nearDesk) asked(trials []study.Handed) []Asked {
	for _, h := range trials {
		n.texts[h.ID] = n.d.Problem.Space.Text(h.Config)
	}
	return NewAsked(n.d.Problem.Space, trials)
}

func (n nearDesk) Open(context.Context) ([]Asked, error) { return n.asked(n.d.Open()), nil }

func (n nearDesk) Withdraw(ctx context.Context, age time.Duration, reason string) ([]Asked, error) {
	back, err := n.d.Withdraw(ctx, age, "", reason)
	return n.asked(back), err
}

func (n nearDesk) Tell(ctx context.Context, reports []study.Report) (Told, error) {
	r, err := n.d.Tell(ctx, reports)
	if err != nil {
		return Told{}, err
	}
	return NewTold(n.d.Name, n.d.Problem.Space, n.d.Problem.Goal, r, n.d.Result()), nil
}

func (n nearDesk) Text(a Asked) string { return n.texts[a.ID] }

// A farDesk is the desk of a study on a server.
type farDesk struct {
	*Client
	name   string
	detail Detail
}

// OpenDesk returns the desk of a study on a server. An error is of the class usage if there is none of that name.
func OpenDesk(ctx context.Context, c *Client, name string) (Desk, error) {
	detail, err := c.Brief(ctx, name)
	if assay.ClassOf(err) == assay.ClassNotFound {
		return nil, assay.Errorf(assay.ClassUsage, "no study %q on the server (see assay study ls --server)", name)
	}
	return &farDesk{c, name, detail}, err
}

// SubmitDesk submits an external study to a server, and returns its desk. A name that is taken is an error of the class
// usage. The study has the name of the problem if name is "".
func SubmitDesk(ctx context.Context, c *Client, p *setup.Problem, name string) (Desk, error) {
	name = cmp.Or(name, p.Name())
	sub, err := Submitted(p.Definition, name)
	if err != nil {
		return nil, err
	}
	detail, err := c.Submit(ctx, sub)
	if assay.ClassOf(err) == assay.ClassConflict {
		err = assay.WithClass(assay.ClassUsage, err)
	}
	return &farDesk{c, name, detail}, err
}

func (d *farDesk) Ask(ctx context.Context, n int, again time.Duration) (AskAnswer, error) {
	return d.Client.Ask(ctx, d.name, n, again)
}

func (d *farDesk) Open(ctx context.Context) ([]Asked, error) { return d.Asked(ctx, d.name) }

func (d *farDesk) Withdraw(ctx context.Context, age time.Duration, reason string) ([]Asked, error) {
	return d.Recall(ctx, d.name, age, reason)
}

func (d *farDesk) Tell(ctx context.Context, reports []study.Report) (Told, error) {
	return d.Client.Tell(ctx, d.name, reports)
}

func (d *farDesk) Text(a Asked) string {
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

// WriteFewer writes the reason why fewer trials were returned than requested.
func (a AskAnswer) WriteFewer(w io.Writer) {
	name := report.Visible(a.Study)
	switch {
	case a.EndedBy != "":
		fmt.Fprintf(w, "study %s is over: %s\n", name, result.EndText(a.EndedBy))
	case a.Open > 0:
		fmt.Fprintf(w, "study %s: nothing more to propose before the next result (trials in flight: %d; "+
			"assay ask %s --open lists them)\n", name, a.Open, report.ShellQuote([]string{name}))
	}
}

// Write writes the receipt for people.
func (t Told) Write(w io.Writer, _ report.Palette) error {
	more := ""
	if t.Known > 0 {
		more += fmt.Sprintf(", %d known before", t.Known)
	}
	if t.Withdrawn > 0 {
		more += fmt.Sprintf(", %d withdrawn", t.Withdrawn)
	}
	fmt.Fprintf(w, "study %s: %d recorded%s, %d in flight\n", report.Visible(t.Study), t.Told, more, t.Open)
	if t.Best != nil {
		value := report.Metric(t.Best.Value, t.Objective.Unit)
		fmt.Fprintf(w, "best: trial %d, %s %s\n", t.Best.Trial, t.Objective.Metric, value)
	}
	if t.EndedBy != "" {
		fmt.Fprintf(w, "the study is over: %s\n", result.EndText(t.EndedBy))
	}
	return nil
}
