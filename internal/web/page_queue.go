package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

// mostListed is how many entries of the queue a page shows.
const mostListed = 500

// A queuePage lists running and waiting trials, of all studies or of one.
type queuePage struct {
	Study        string
	Placed, Open []api.Entry
	Discarded    []api.Discarded // the latest first
	Total, Shown int
	Lacks        []string // work that no worker can run, and why
	Commands     []Act
}

// queue shows running and waiting trials in the order of claims.
func (s *site) queue(v *visit) error {
	p := queuePage{Study: v.r.URL.Query().Get("study")}
	q, err := v.API.Queue(v.ctx, p.Study, mostListed)
	if err != nil {
		return err
	}
	p.Total, p.Shown = q.Total, len(q.Entries)
	some := "STUDY/TRIAL"
	for _, e := range q.Entries {
		if line := e.Study + " waits: " + e.Lacks; e.Lacks != "" && !slices.Contains(p.Lacks, line) {
			p.Lacks = append(p.Lacks, line)
		}
		if e.State == "placed" {
			p.Placed = append(p.Placed, e)
			continue
		}
		if p.Open = append(p.Open, e); len(p.Open) == 1 {
			some = ref(e.Study, e.Trial)
		}
	}
	slices.Reverse(q.Discarded)
	p.Discarded = q.Discarded
	for _, do := range []string{"first", "discard", "restore"} {
		study, trial, _ := cutRef(some)
		p.Commands = append(p.Commands, moveAct(do, study, []string{trial}, ""))
	}
	return v.render("queue.html", "Queue", p)
}

// ref names a trial as the command line does.
func ref(study string, trial int64) string { return study + "/" + strconv.FormatInt(trial, 10) }

func cutRef(ref string) (study, trial string, ok bool) {
	i := strings.LastIndexByte(ref, '/')
	if i < 0 {
		return "", "", false
	}
	return ref[:i], ref[i+1:], true
}

// moveAct is a change of trials of a study as a command and as a request. trials are numbers or
// ranges.
func moveAct(do, study string, trials []string, reason string) Act {
	words := []string{"assay", "queue", do}
	for _, t := range trials {
		words = append(words, study+"/"+t)
	}
	body := `{"trials":[` + strings.Join(trials, ",") + `],"do":` + strconv.Quote(do)
	if reason != "" {
		words = append(words, "--reason", reason)
		body += `,"reason":` + jsonText(reason)
	}
	return Act{report.ShellQuote(words), "PATCH", "/api/v1/queue/" + url.PathEscape(study), body + "}"}
}

// verbs maps acts on trials to the words that report them.
var verbs = map[string]string{"first": "next", "discard": "discarded", "restore": "restored"}

// wanted returns the act of a form and its trials: a button has the value "*" for the checked ones, or names one.
func wanted(form map[string][]string) (do string, refs []string, err error) {
	for verb := range verbs {
		if values := form[verb]; len(values) > 0 {
			if do = verb; values[0] == "*" {
				return do, form["trial"], nil
			}
			return do, values, nil
		}
	}
	return "", nil, assay.Errorf(assay.ClassUsage, "nothing was chosen to be done")
}

// changeQueue has trials of any studies run first, discards them after it has asked for the reason,
// or undoes that: one request for each study.
func (s *site) changeQueue(v *visit) error {
	do, refs, err := wanted(v.r.PostForm)
	if err == nil && len(refs) == 0 {
		err = assay.Errorf(assay.ClassUsage, "no trials are chosen: check those that are meant")
	}
	if err != nil {
		return err
	}
	studies, trials, err := api.ParseTrials(refs)
	if err != nil {
		return err
	}
	reason := v.r.PostFormValue("reason")
	if do == "discard" && v.r.PostFormValue("sure") == "" {
		return v.askDiscard(refs)
	}
	var said, commands []string
	for _, name := range studies {
		if _, err := v.API.Move(v.ctx, name, trials[name], api.Change{Do: do, Reason: reason}); err != nil {
			if len(said) > 0 {
				err = fmt.Errorf("%s; then: %w", strings.Join(said, ", "), err)
			}
			return err
		}
		said = append(said, trialsText(name, trials[name])+": "+verbs[do])
		commands = append(commands, moveAct(do, name, ranges(trials[name]), reason).Command)
	}
	return v.did("/queue", strings.Join(said, ", "), strings.Join(commands, "\n"))
}

// ranges writes numbers as they are on a command line: 3 5..9.
func ranges(ids []int64) (texts []string) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	for i := 0; i < len(ids); {
		k := i
		for k+1 < len(ids) && ids[k+1] == ids[k]+1 {
			k++
		}
		text := strconv.FormatInt(ids[i], 10)
		if k > i {
			text += ".." + strconv.FormatInt(ids[k], 10)
		}
		texts = append(texts, text)
		i = k + 1
	}
	return texts
}

// A confirmPage asks before something is done that cannot be undone, or for its reason.
type confirmPage struct {
	Question string
	Items    []string
	Note     string
	Reason   bool // is asked for
	To       string
	Fields   [][2]string // that the form sends again
	Button   string
	Back     string
	Act      Act
}

// askDiscard asks why trials are discarded.
func (v *visit) askDiscard(refs []string) error {
	studies, trials, err := api.ParseTrials(refs)
	if err != nil {
		return err
	}
	p := confirmPage{
		Question: "Discard trials?", Items: refs, Reason: true, To: "/queue", Button: "× discard",
		Note: "One that waits never runs, and can be restored; one that runs is ended. None uses up the budget of trials.",
		Back: cmp.Or(v.back(), "/queue"), Fields: [][2]string{{"discard", "*"}, {"sure", "yes"}},
		Act: moveAct("discard", studies[0], ranges(trials[studies[0]]), "REASON"),
	}
	for _, r := range refs {
		p.Fields = append(p.Fields, [2]string{"trial", r})
	}
	return v.render("confirm.html", "Discard", p)
}
