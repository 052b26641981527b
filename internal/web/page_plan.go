package web

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

const (
	// maxPlan is the largest form with workflows; the API has its own limit.
	maxPlan = 9 << 20
	// mostPasted is how much of a workflow a page repeats in its form.
	mostPasted = 256 << 10
	// pasted is the name of the text typed into the form.
	pasted = "workflow"
)

// A planPage is the data of the page of plans.
type planPage struct {
	Form   url.Values // as submitted
	Text   string     // the workflow, if it is short
	Wrong  string     // why no plan exists
	Answer *api.PlanAnswer
	Act    Act
}

// planForm shows the form.
func (s *site) planForm(v *visit) error {
	return v.render("plan.html", "Plan", planPage{Form: url.Values{}})
}

// plan shows the plan of a submitted workflow, with the form as submitted.
func (s *site) plan(v *visit) error {
	p := planPage{Form: v.r.PostForm}
	q, names, err := planRequest(v.r)
	if text := q.Files[names[0]]; len(names) == 1 && len(text) <= mostPasted {
		p.Text = text
	}
	if err == nil {
		var a api.PlanAnswer
		if a, err = v.API.Plan(v.ctx, q); err == nil {
			p.Answer = &a
		}
	}
	p.Act = planAct(q, names)
	if err == nil {
		return v.render("plan.html", "Plan of "+p.Answer.Plan.Workflow, p)
	}
	if assay.ClassOf(err) != assay.ClassUsage {
		return err
	}
	p.Wrong = err.Error()
	return v.show("plan.html", "Plan", p, http.StatusUnprocessableEntity)
}

// planRequest reads the request of a form, and the names of the files of the workflow, at least one.
func planRequest(r *http.Request) (q api.PlanRequest, names []string, err error) {
	f := r.PostForm
	is := func(name string) bool { return f.Get(name) != "" }
	q = api.PlanRequest{
		Files: map[string]string{}, Slots: f.Get("slots"), Levels: strings.Join(f["levels"], ","), Price: f.Get("price"),
		Deadline: f.Get("deadline"), Delay: f.Get("delay"),
		Simulate: is("simulate"), Fill: is("fill"), Longest: is("longest"),
	}
	for _, n := range []struct {
		name string
		to   *float64
		by   float64
	}{{"budget", &q.Budget, 1}, {"error", &q.Error, 100}} {
		if text := strings.TrimSuffix(strings.TrimSpace(f.Get(n.name)), "%"); text != "" {
			x, ok := assay.Number(strings.TrimSpace(text))
			if !ok || !(x >= 0) {
				return q, []string{pasted}, assay.Errorf(assay.ClassUsage,
					"%s %q: not a number of at least 0", n.name, f.Get(n.name))
			}
			*n.to = x / n.by
		}
	}
	var files map[string][]*multipart.FileHeader
	if r.MultipartForm != nil {
		files = r.MultipartForm.File
	}
	if names, err = take(q.Files, files["files"], ""); err != nil {
		return q, []string{pasted}, err
	}
	if q.Calibrate, err = take(q.Files, files["calibrate"], "calibrate/"); err != nil {
		return q, []string{pasted}, err
	}
	if len(names) == 0 {
		names = []string{pasted}
		if strings.TrimSpace(f.Get("text")) == "" {
			return q, names, assay.Errorf(assay.ClassUsage, "no workflow: choose a file, or paste one")
		}
		q.Files[pasted] = f.Get("text")
	}
	q.Workflow = strings.Join(names, ",")
	return q, names, nil
}

// take adds uploaded files to the files of a request, and returns their names there. An empty file input has no name
// and is skipped.
func take(to map[string]string, sent []*multipart.FileHeader, folder string) (names []string, err error) {
	for _, h := range sent {
		if h.Filename == "" || h.Size == 0 {
			continue
		}
		file, err := h.Open()
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(file)
		_ = file.Close() // it was read
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || !utf8.Valid(b) {
			return nil, assay.Errorf(assay.ClassUsage, "%s is no text: unpack it first", h.Filename)
		}
		name := folder + strings.ReplaceAll(path.Base(h.Filename), ",", "_")
		for n := 2; ; n++ {
			if _, taken := to[name]; !taken {
				break
			}
			name = folder + strconv.Itoa(n) + "-" + strings.ReplaceAll(path.Base(h.Filename), ",", "_")
		}
		to[name] = string(b)
		names = append(names, name)
	}
	return names, nil
}

// planAct is the same as a command and as a request.
func planAct(q api.PlanRequest, names []string) Act {
	argv := slices.Concat([]string{"assay", "plan"}, []string{strings.Join(names, ",")})
	body := "{\"files\": {…}"
	add := func(flag, key, value string) {
		if value != "" {
			argv = append(argv, "--"+flag, value)
			body += fmt.Sprintf(", %q: %q", key, value)
		}
	}
	set := func(flag, key string, on bool) {
		if on {
			argv = append(argv, "--"+flag)
			body += fmt.Sprintf(", %q: true", key)
		}
	}
	number := func(flag string, x float64) {
		if x != 0 {
			argv = append(argv, "--"+flag, assay.FormatNumber(x))
			body += fmt.Sprintf(", %q: %s", flag, assay.FormatNumber(x))
		}
	}
	add("slots", "slots", q.Slots)
	add("levels", "levels", q.Levels)
	add("price", "price", q.Price)
	add("deadline", "deadline", q.Deadline)
	number("budget", q.Budget)
	number("error", q.Error)
	add("delay", "delay", q.Delay)
	set("simulate", "simulate", q.Simulate)
	set("longest-path", "longest_path", q.Longest)
	set("fill", "fill", q.Fill)
	if len(q.Calibrate) > 0 {
		argv = append(argv, "--calibrate", strings.Join(q.Calibrate, ","))
		body += `, "calibrate": […]`
	}
	return Act{report.ShellQuote(argv), "POST", "/api/v1/plan", body + "}"}
}

// mostDAG is how many tasks are listed on the page.
const mostDAG = 200

// A task is one row of the table of tasks.
type task struct {
	ID, Kind string
	Run      float64
	Level    int32
	After    []string
}

// Tasks are the first tasks of the workflow and the tasks that each waits for.
func (p planPage) Tasks() (all []task) {
	g := p.Answer.Graph
	for i := range g.ID[:min(len(g.ID), mostDAG)] {
		t := task{ID: g.ID[i], Kind: g.Kind[i], Run: g.Run[i], Level: g.Level[i] + 1}
		for k, to := range g.To {
			if int(to) == i {
				t.After = append(t.After, g.ID[g.From[k]])
			}
		}
		all = append(all, t)
	}
	return all
}

// Front reports whether no other estimate is both faster and cheaper.
func (p planPage) Front(r planning.PlanRow) bool { return slices.Contains(p.Answer.Plan.Pareto, r) }

// Taken reports whether an estimate is the recommended one.
func (p planPage) Taken(r planning.PlanRow) bool {
	c := p.Answer.Plan.Recommendation
	return r.Slots == c.Slots && r.Method == c.Method
}

// Bound returns the lower bound of the makespan of any schedule on that many slots.
func (p planPage) Bound(slots int) string {
	for _, b := range p.Answer.Plan.Bounds {
		if b.Slots == slots {
			return report.Seconds(max(b.Path, b.Area))
		}
	}
	return "–"
}

// Cost writes money, or slot-seconds where no price was given.
func (p planPage) Cost(x float64) string { return report.Number(x, 4) }

// Priced reports whether costs are money.
func (p planPage) Priced() bool { return p.Form.Get("price") != "" }

// Share writes a share.
func (p planPage) Share(x float64) string { return report.Number(100*x, 3) + " %" }

// On reports whether a box of the form is checked.
func (p planPage) On(name string) bool { return p.Form.Get(name) != "" }

// Methods are the ways to count levels.
func (p planPage) Methods() []string { return []string{"tda", "bua", "slack"} }

// Leveled reports whether levels are counted in a way; the two usual ones are by default.
func (p planPage) Leveled(name string) bool {
	if p.Answer == nil && p.Wrong == "" {
		return name != "slack"
	}
	return slices.Contains(p.Form["levels"], name)
}
