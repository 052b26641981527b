package batch

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// atOnce is how many jobs one question to the accounting is about.
const atOnce = 500

// account queries the accounting for attempts without news for which it was not queried before, and returns its jobs by
// name.
func (r *Runner) account(doubted []*attempt) map[string][]Job {
	var names []string
	for _, a := range doubted {
		if r.visit(a) {
			continue
		}
		r.mu.Lock()
		asked := a.asked
		a.asked = true
		r.mu.Unlock()
		if !asked {
			_ = os.WriteFile(a.dir().path(askedFile), nil, 0o600)
			names = append(names, a.name())
		}
	}
	found := map[string][]Job{}
	for some := range slices.Chunk(names, atOnce) {
		ctx, cancel := context.WithTimeout(r.ctx, callLimit)
		jobs, err := r.o.System.Find(ctx, some...)
		cancel()
		if err != nil {
			continue // it is not asked again
		}
		for _, j := range jobs {
			found[j.Name] = append(found[j.Name], j)
		}
	}
	return found
}

// doubt decides the fate of an attempt that the system does not list any more, given the jobs found in its accounting.
func (r *Runner) doubt(a *attempt, found []Job) {
	if len(found) > 0 {
		r.mu.Lock()
		i := slices.IndexFunc(found, func(j Job) bool { return j.State != Over })
		alive := i >= 0 && a.State != ledger.Ended
		if alive {
			a.absent, a.number, a.State = 0, found[i].ID, ledger.Placed
		} else {
			a.said = found[0]
		}
		r.mu.Unlock()
		if alive {
			return
		}
	}
	if r.visit(a) { // it has ended, or has shown a sign of life
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case a.State == ledger.Ended:
	case a.begun:
		a.lose("its job is gone, and left no result" + a.hearsay())
	case a.State == ledger.Unclear && a.tries < tries && a.run.Want == "":
		a.State, a.absent = ledger.Open, 0 // whichever of its jobs begins first makes the run
		nudge(r.kick)
	default:
		r.reclaim(a)
	}
}

// reclaim takes an attempt back that no job has begun, and ends it.
func (r *Runner) reclaim(a *attempt) {
	mine, err := a.takeBack(assay.WhyLost)
	// it has begun just now, or the spool is away: it is looked at again
	if err != nil || !mine || a.State == ledger.Ended {
		return
	}
	if !r.claimed && a.said.State == Over && a.said.Said == "FAILED" {
		err := fmt.Errorf("%w: the job %s ended without having begun the run%s", assay.ErrSetup, a.name(), a.hearsay())
		a.close(result{Why: assay.WhySetup, Reason: "the job did not begin the run"}, assay.Measurement{},
			assay.WithHint(err, "the spool "+r.o.Dir+" must be on a file system that the machines of the jobs share; "+
				"the output of a job is in "+a.dir().path(printedFile)))
		return
	}
	a.lose("its job is gone, and did not begin the run" + a.hearsay())
}

// hearsay returns the system's last report of a job, for people.
func (a *attempt) hearsay() string {
	if a.said.Said == "" {
		return ""
	}
	return " (the batch system reports " + a.said.Said + ")"
}
