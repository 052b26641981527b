package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/sitemodel"
	"github.com/assay-run/assay/internal/traces"
	"github.com/assay-run/assay/workflow"
	"github.com/assay-run/assay/workflow/site"
)

// otherFlags are the flags of assay plan that do not go with a file of sites.
var otherFlags = []string{"slots", "levels", "simulate", "delay", "start", "calibrate", "save-calibration", "price", "prices", "deadline", "budget", "svg", "machines", "longest-path"}

// isNetwork reports whether a file of --sites describes sites with their links
// rather than a JSON list of sites to compare.
func isNetwork(name string) bool {
	if name == "" {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	return !bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n\ufeff"), []byte("["))
}

// runPlanSites plans workflows over the sites of a file.
func runPlanSites(cmd *cobra.Command, args []string, f *planFlags) error {
	for _, name := range otherFlags {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does not go with a file of sites that has slots and links", name)
		}
	}
	if err := f.check(); err != nil {
		return err
	}
	sites, err := config.LoadSites(f.sites)
	if err != nil {
		return err
	}
	network, err := sites.Network()
	if err != nil {
		return err
	}
	times, err := f.kindTimes()
	if err != nil {
		return inputError(err)
	}
	var reports []*sitesReport
	for _, arg := range args {
		r := &sitesReport{sites: sites, network: network}
		if err := r.plan(cmd, arg, f, times); err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if f.json {
		return writeOneOrMany(cmd.OutOrStdout(), reports, (*sitesReport).json)
	}
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := r.text(&b); err != nil {
			return err
		}
	}
	_, err = io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// sitesReport is the plan of one workflow over sites.
type sitesReport struct {
	*site.Plans
	w       *workflow.Workflow
	sites   *config.Sites
	network *site.Network
	notes   []string
}

func (r *sitesReport) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *sitesReport) plan(cmd *cobra.Command, arg string, f *planFlags, times *workflow.KindModel) error {
	w, err := traces.Read(arg, cmd.InOrStdin(), workflow.FillOptions{Fill: f.fill, Allow: times != nil})
	if err != nil {
		return inputError(err)
	}
	if r.w, r.notes, err = f.refine(w, times); err != nil {
		return err
	}
	opt := site.Options{Error: f.errorPart, Samples: f.samples, Seed: f.seed, Data: r.sites.Holds}
	if len(f.models) > 0 {
		l, err := learnedTasks(f.models)
		if err != nil {
			return err
		}
		opt.Model = l
		if n := l.Unknown(r.w); n > 0 {
			r.note("%d of %d tasks are of a kind without --model: their times are the recorded ones by the speed of a site", n, len(r.w.Tasks))
		}
	}
	if !cmd.Flags().Changed("error") {
		opt.Error = site.AssumedError
		r.note("intervals assume that the run times of a kind of task at a site are right to ±%.0f %% (--error)", 100*opt.Error)
	}
	if !site.TellsData(r.w) {
		r.note("the workflow says nothing about the size of data: they are planned as if they were none")
	}
	r.Plans, err = site.MakePlans(r.w, r.network, opt)
	return r.sites.Located(err)
}

// learnedTasks reads the models of --model KIND=FILE.
func learnedTasks(texts []string) (*sitemodel.Tasks, error) {
	models := map[string]*costmodel.Model{}
	for _, text := range texts {
		kind, file, ok := strings.Cut(text, "=")
		if !ok || kind == "" || file == "" {
			return nil, usagef("--model %s: a model is given as KIND=FILE", text)
		}
		m, err := readModel(file)
		if err != nil {
			return nil, err
		}
		if err := sitemodel.Check(m); err != nil {
			return nil, usagef("--model %s: %v", text, err)
		}
		models[kind] = m
	}
	return sitemodel.New(models), nil
}

// maxSiteRows is how many plans are shown beside the best.
const maxSiteRows = 8

func (r *sitesReport) text(b *strings.Builder) error {
	s, best := r.Plans, r.Best
	fmt.Fprintf(b, "%s: %d tasks, %s of work (%s), over %d sites\n", cmp.Or(r.w.Name, "workflow"), len(r.w.Tasks), clock(r.w.Work()), r.w.Format, len(r.sites.Sites))
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
		// What another plan beats in all is shown only if there is room.
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
	fmt.Fprintf(b, "Take it: %s, of which %s computing, %s local I/O, %s remote I/O, %s staging, %s waiting for slots; at least %s in any plan.\n",
		clock(best.Makespan), clock(p.Compute), clock(p.Local), clock(p.Remote), clock(p.Staging), clock(p.Waiting), clock(s.Bound))
	for _, n := range r.notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
	return nil
}

// loses says by how much a plan is behind the best, and why.
func (r *sitesReport) loses(p *site.Plan) string {
	gap := p.Makespan - r.Best.Makespan
	if gap <= 0 {
		return p.Why
	}
	return fmt.Sprintf("%s slower: %s", clock(gap), p.Why)
}

// siteTable says what the best plan does at each site.
func (r *sitesReport) siteTable(b *strings.Builder) error {
	best := r.Best
	t := report.NewTable(report.Palette{}, "site", ">tasks", ">busy", ">staged in", ">stored")
	for i, u := range best.Usage() {
		c := &r.sites.Sites[i]
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

// steps lists what the best plan does, if it is short.
func (r *sitesReport) steps(b *strings.Builder) {
	best := r.Best
	if len(best.Decisions) > maxSiteSteps {
		fmt.Fprintf(b, "%d tasks and %d staging tasks between them: see --json\n", len(best.Decisions), len(best.Stagings))
		return
	}
	name := func(i int) string { return r.sites.Sites[i].Name }
	for _, d := range best.Decisions {
		for _, x := range best.Stagings {
			if x.For == d.Task {
				fmt.Fprintf(b, "%s to %s: stage %s for %s from %s to %s\n", clock(x.Start), clock(x.End), amountText(x.Bytes), r.w.Tasks[x.For].ID, name(x.From), name(x.To))
			}
		}
		data := ""
		if d.Storage != d.Compute {
			data = ", data at " + name(d.Storage)
		}
		fmt.Fprintf(b, "%s to %s: run %s at %s%s\n", clock(d.Start), clock(d.End), r.w.Tasks[d.Task].ID, name(d.Compute), data)
	}
}

// amountText returns an amount of data, or nothing.
func amountText(n float64) string {
	if n == 0 {
		return "0"
	}
	return report.Bytes(n)
}

// The JSON of a plan over sites; see docs/format/sites.md.
type (
	sitesJSON struct {
		Workflow    string         `json:"workflow"`
		Tasks       int            `json:"tasks"`
		Best        sitesPlanJSON  `json:"best"`
		Others      []sitesRowJSON `json:"others"`
		NotPossible []sitesNotJSON `json:"not_possible"`
		Bound       float64        `json:"bound_s"`
		Exact       bool           `json:"exact"`
		Nodes       int            `json:"nodes"`
		Cut         int            `json:"cut"`
		Notes       []string       `json:"notes,omitempty"`
	}
	sitesRowJSON struct {
		Name      string        `json:"name"`
		Makespan  float64       `json:"makespan_s"`
		Low       float64       `json:"low_s"`
		High      float64       `json:"high_s"`
		Staged    float64       `json:"staged_B"`
		Remote    float64       `json:"remote_B"`
		Dominated bool          `json:"dominated"`
		Path      sitesPathJSON `json:"path"`
		Why       string        `json:"why"`
	}
	sitesPathJSON struct {
		Compute float64 `json:"compute_s"`
		Local   float64 `json:"local_io_s"`
		Remote  float64 `json:"remote_io_s"`
		Staging float64 `json:"staging_s"`
		Waiting float64 `json:"waiting_s"`
	}
	sitesPlanJSON struct {
		sitesRowJSON
		Tasks    []sitesTaskJSON  `json:"tasks"`
		Stagings []sitesStageJSON `json:"stagings"`
	}
	sitesTaskJSON struct {
		ID      string  `json:"id"`
		Compute string  `json:"compute"`
		Data    string  `json:"data"`
		Ready   float64 `json:"ready_s"`
		Arrived float64 `json:"arrived_s"`
		Start   float64 `json:"start_s"`
		End     float64 `json:"end_s"`
	}
	sitesStageJSON struct {
		For   string  `json:"for"`
		From  string  `json:"from"`
		To    string  `json:"to"`
		Bytes float64 `json:"bytes_B"`
		Start float64 `json:"start_s"`
		End   float64 `json:"end_s"`
	}
	sitesNotJSON struct {
		Name string `json:"name"`
		Why  string `json:"why"`
	}
)

func sitesRow(p *site.Plan) sitesRowJSON {
	return sitesRowJSON{
		p.Name, p.Makespan, p.Low, p.High, p.Staged, p.Remote, p.Dominated,
		sitesPathJSON{p.Path.Compute, p.Path.Local, p.Path.Remote, p.Path.Staging, p.Path.Waiting},
		p.Why,
	}
}

func (r *sitesReport) json() sitesJSON {
	s := r.Plans
	name := func(i int) string { return r.sites.Sites[i].Name }
	j := sitesJSON{
		Workflow: r.w.Name, Tasks: len(r.w.Tasks), Best: sitesPlanJSON{sitesRowJSON: sitesRow(s.Best), Tasks: []sitesTaskJSON{}, Stagings: []sitesStageJSON{}},
		Others: []sitesRowJSON{}, NotPossible: []sitesNotJSON{}, Bound: s.Bound, Exact: s.Exact, Nodes: s.Nodes, Cut: s.Cut, Notes: r.notes,
	}
	for _, d := range s.Best.Decisions {
		j.Best.Tasks = append(j.Best.Tasks, sitesTaskJSON{r.w.Tasks[d.Task].ID, name(d.Compute), name(d.Storage), d.Ready, d.Arrived, d.Start, d.End})
	}
	for _, x := range s.Best.Stagings {
		j.Best.Stagings = append(j.Best.Stagings, sitesStageJSON{r.w.Tasks[x.For].ID, name(x.From), name(x.To), x.Bytes, x.Start, x.End})
	}
	for _, p := range s.Others {
		j.Others = append(j.Others, sitesRow(p))
	}
	for _, u := range s.Unfits {
		j.NotPossible = append(j.NotPossible, sitesNotJSON{u.Name, u.Why})
	}
	return j
}
