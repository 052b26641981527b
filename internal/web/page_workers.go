package web

import (
	"cmp"
	"net/url"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

type workersPage struct {
	Workers  []api.Worker
	Commands []Act
}

// workers shows the machines that make the runs.
func (s *site) workers(v *visit) error {
	all, err := v.API.Workers(v.ctx)
	if err != nil {
		return err
	}
	p := workersPage{Workers: all}
	name := "WORKER"
	if len(all) > 0 {
		name = workerRef(all[0], all)
	}
	for _, do := range []string{"drain", "evict", "resume"} {
		p.Commands = append(p.Commands, orderAct(do, name))
	}
	return v.render("workers.html", "Workers", p)
}

// workerRef returns the name of a worker for requests, or its ID if another worker has that name.
func workerRef(w api.Worker, all []api.Worker) string {
	for _, o := range all {
		if o.ID != w.ID && o.Name == w.Name {
			return w.ID
		}
	}
	return cmp.Or(w.Name, w.ID)
}

// orderAct is an order to a worker as a command and as a request.
func orderAct(do, worker string) Act {
	return Act{
		report.ShellQuote([]string{"assay", "workers", do, worker}), "POST",
		"/api/v1/workers/" + url.PathEscape(worker) + "/" + do, "",
	}
}

// orders maps orders to a worker to the words that report them.
var orders = map[string]string{
	"drain": "takes nothing more", "evict": "ends its runs", "resume": "goes on",
}

// orderWorker makes a worker drain, evict its runs, or resume. An eviction must be confirmed.
func (s *site) orderWorker(v *visit) error {
	id, do := v.r.PostFormValue("worker"), v.r.PostFormValue("do")
	if orders[do] == "" {
		return refusal{422, "the orders to a worker are drain, evict and resume"}
	}
	if do == "evict" && v.r.PostFormValue("sure") == "" {
		return v.render("confirm.html", "Evict", confirmPage{
			Question: "End what the worker runs?", Items: []string{v.r.PostFormValue("name")}, To: "/workers", Button: "evict",
			Note: "Its runs are lost, and other workers run them again. The worker takes no new runs, and ends.",
			Fields: [][2]string{
				{"worker", id},
				{"do", "evict"},
				{"sure", "yes"},
				{"name", v.r.PostFormValue("name")},
			},
			Back: "/workers", Act: orderAct("evict", id),
		})
	}
	if _, err := v.API.Order(v.ctx, id, do); err != nil {
		return err
	}
	return v.did("/workers", cmp.Or(v.r.PostFormValue("name"), id)+" "+orders[do], orderAct(do, id).Command)
}
