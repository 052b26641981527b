package planning

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
)

// Sites is the plan of one workflow over sites, as it is shown.
type Sites struct {
	*site.Plans
	Workflow *workflow.Workflow
	Network  *site.Network
	Notes    []string // as of a [Plan]
}

// Note adds a note.
func (r *Sites) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// WriteSitesText writes the plans for people.
func WriteSitesText(w io.Writer, all []*Sites) error {
	var b strings.Builder
	for i, r := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := r.text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxSiteRows is how many plans are shown beside the best.
const maxSiteRows = 8

// text writes one plan: the plans beside each other, the impossible ones, the work of each site, and the
// steps if they are few.
func (r *Sites) text(b *strings.Builder) error {
	s, best := r.Plans, r.Best
	fmt.Fprintf(b, "%s: %d tasks, %s of work (%s), over %d sites\n", cmp.Or(r.Workflow.Name, "workflow"),
		len(r.Workflow.Tasks), clock(r.Workflow.Work()), r.Workflow.Format, len(r.Network.Sites()))
	t := report.NewTable(report.Palette{}, "plan", ">time", "interval", ">staged", ">remote", "why")
	row := func(p *site.Plan, why string) {
		interval := ""
		if p.Low < p.High {
			interval = clock(p.Low) + " to " + clock(p.High)
		}
		t.Add(p.Name, clock(p.Makespan), interval, amountText(p.Staged), amountText(p.Remote), why)
	}
	row(best, "<- best: "+best.Why)
	shown, hidden := 0, 0
	for _, p := range s.Others {
		// A dominated plan is shown only if there is room.
		if shown == maxSiteRows || p.Dominated && shown >= maxSiteRows/2 {
			hidden++
			continue
		}
		shown++
		row(p, r.loses(p))
	}
	if err := t.Write(b); err != nil {
		return err
	}
	if hidden > 0 {
		fmt.Fprintf(b, "and %d more\n", hidden)
	}
	for i, u := range s.Unfits {
		if i == maxSiteRows {
			fmt.Fprintf(b, "not possible: %d more\n", len(s.Unfits)-i)
			break
		}
		fmt.Fprintf(b, "not possible: %s: %s\n", u.Name, u.Why)
	}
	b.WriteByte('\n')
	if err := r.siteTable(b); err != nil {
		return err
	}
	r.steps(b)
	p := best.Path
	fmt.Fprintf(b, "Take it: %s, of which %s computing, %s local I/O, %s remote I/O, %s staging, %s waiting "+
		"for slots; at least %s in any plan.\n",
		clock(best.Makespan), clock(p.Compute), clock(p.Local), clock(p.Remote),
		clock(p.Staging), clock(p.Waiting), clock(s.Bound))
	for _, n := range r.Notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
	return nil
}

// loses describes by how much a plan is behind the best, and why.
func (r *Sites) loses(p *site.Plan) string {
	gap := p.Makespan - r.Best.Makespan
	if gap <= 0 {
		return p.Why
	}
	return fmt.Sprintf("%s slower: %s", clock(gap), p.Why)
}

// siteTable lists the work of the best plan at each site.
func (r *Sites) siteTable(b *strings.Builder) error {
	best := r.Best
	t := report.NewTable(report.Palette{}, "site", ">tasks", ">busy", ">staged in", ">stored")
	for i, u := range best.Usage() {
		c := &r.Network.Sites()[i]
		share := ""
		if c.Slots > 0 && best.Makespan > 0 {
			share = percentText(u.Load(c, best.Makespan))
		}
		t.Add(c.Name, fmt.Sprint(u.Tasks), share, amountText(u.StagedIn), amountText(u.Stored))
	}
	return t.Write(b)
}

// maxSiteSteps is up to how many tasks the text has a line for each.
const maxSiteSteps = 12

// steps lists the steps of the best plan, if there are few.
func (r *Sites) steps(b *strings.Builder) {
	best := r.Best
	if len(best.Decisions) > maxSiteSteps {
		fmt.Fprintf(b, "%d tasks and %d staging tasks between them: see --json\n", len(best.Decisions),
			len(best.Stagings))
		return
	}
	name := func(i int) string { return r.Network.Sites()[i].Name }
	for _, d := range best.Decisions {
		for _, x := range best.Stagings {
			if x.For == d.Task {
				fmt.Fprintf(b, "%s to %s: stage %s for %s from %s to %s\n", clock(x.Start), clock(x.End),
					amountText(x.Bytes), r.Workflow.Tasks[x.For].ID, name(x.From), name(x.To))
			}
		}
		data := ""
		if d.Storage != d.Compute {
			data = ", data at " + name(d.Storage)
		}
		fmt.Fprintf(b, "%s to %s: run %s at %s%s\n", clock(d.Start), clock(d.End), r.Workflow.Tasks[d.Task].ID,
			name(d.Compute), data)
	}
}

// amountText returns an amount of data, or nothing.
func amountText(n float64) string {
	if n == 0 {
		return "0"
	}
	return report.Bytes(n)
}
