package web

import (
	"fmt"
	"strconv"

	"github.com/assay-run/assay/rest/api"
)

// mostRows is how many trials a page has without a script.
const mostRows = 50

// A studyPage is what the page of a study shows without a script; the rest is drawn by modules.
type studyPage struct {
	Study   api.Study
	Trials  []api.Trial
	After   int64 // the trials shown are those behind it
	Earlier string
	Later   string
	Queue   []api.Entry
}

// study shows a study.
func (s *site) study(v *visit) error {
	name := v.r.PathValue("study")
	d, err := v.API.Study(v.ctx, name)
	if err != nil {
		return err
	}
	p := studyPage{Study: d.Study}
	if p.Queue, _, err = v.API.Queue(v.ctx, name, 200); err != nil {
		return err
	}
	p.After = max(0, d.Study.Trials-mostRows)
	if at, err := strconv.ParseInt(v.r.URL.Query().Get("after"), 10, 64); err == nil && at >= 0 {
		p.After = at
	}
	var next int64
	if p.Trials, next, err = v.API.Trials(v.ctx, name, p.After, mostRows); err != nil {
		return err
	}
	if p.After > 0 {
		p.Earlier = fmt.Sprintf("?after=%d#trials", max(0, p.After-mostRows))
	}
	if next > 0 {
		p.Later = fmt.Sprintf("?after=%d#trials", next)
	}
	return v.render("study.html", name, p)
}

// changeTrials has a trial run first, or discards it.
func (s *site) changeTrials(v *visit) error {
	name := v.r.PathValue("study")
	var ids []int64
	for _, text := range v.r.PostForm["trial"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return refusal{422, "no trial is called " + text}
		}
		ids = append(ids, id)
	}
	do := api.Change{Do: v.r.PostFormValue("do"), Reason: v.r.PostFormValue("reason")}
	if _, err := v.API.Move(v.ctx, name, ids, do); err != nil {
		return err
	}
	said := map[string]string{"first": "goes first", "discard": "is discarded"}[do.Do]
	return v.done("/s/"+pathEscape(name), fmt.Sprintf("%s %s", trialsText(name, ids), said))
}

// changeState has a study run, pause or stop.
func (s *site) changeState(v *visit) error {
	name := v.r.PathValue("study")
	st, err := v.API.SetState(v.ctx, name, v.r.PostFormValue("state"), v.r.PostFormValue("reason"))
	if err != nil {
		return err
	}
	return v.done("/s/"+pathEscape(name), fmt.Sprintf("%s is %s", name, st.State))
}

func trialsText(study string, ids []int64) string {
	if len(ids) == 1 {
		return fmt.Sprintf("trial %d of %s", ids[0], study)
	}
	return fmt.Sprintf("%d trials of %s", len(ids), study)
}
