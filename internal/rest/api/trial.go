package api

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// A TrialDetail is everything on record about a trial, and the latest reports of its runs.
type TrialDetail struct {
	Study     string            `json:"study"`
	Trial     view.Trial        `json:"trial"`
	Objective string            `json:"objective"`
	Metric    string            `json:"metric" doc:"the one of the objective"`
	Units     map[string]string `json:"units" doc:"of metrics"`
	Levels    bool              `json:"levels,omitempty" doc:"there are runs below a full level, which are infeasible"`
	// Attempts are ordered by start; an open attempt is not listed.
	Attempts  []Attempt   `json:"attempts" nullable:"false" doc:"by start, including repeated runs"`
	Repeats   []Repeat    `json:"repeats" nullable:"false" doc:"further runs of its configuration"`
	Decisions []TrialMove `json:"decisions" nullable:"false" doc:"decisions of people about it"`
	Restores  int64       `json:"restores,omitempty" doc:"the trial in whose place it is run"`
	Restored  int64       `json:"restored,omitempty" doc:"the trial that is run in its place"`
	Command   string      `json:"command" doc:"a shell line that repeats it; empty for an application of the workers"`
	Files     []string    `json:"files" nullable:"false" doc:"the files that a run is given"`
}

// An Attempt is one attempt at a run.
type Attempt struct {
	Repeat       int        `json:"repeat" doc:"how often the configuration was run before"`
	Attempt      int        `json:"attempt"`
	State        string     `json:"state" enum:"placed,counts,lost" doc:"placed: it is running; lost: it does not count"`
	Worker       string     `json:"worker"`
	MachineClass string     `json:"class" doc:"of the machine"`
	Began        time.Time  `json:"began"`
	Ended        *time.Time `json:"ended" doc:"when its end reached the server; null while it runs"`
	Elapsed      float64    `json:"elapsed_s"`
	Silent       float64    `json:"silent_s,omitempty" doc:"time since the last message of its worker"`
	Why          string     `json:"why" doc:"limit, stop, cancel, lost, duplicate, tainted, setup, error or empty"`
	Reason       string     `json:"reason"`
	Curve        *Reports   `json:"curve,omitempty" doc:"its reports; absent after a restart of the server"`
}

// Reports are the reports of an attempt over its time, as lists of equal length.
type Reports struct {
	At      []float64             `json:"at_s" nullable:"false" doc:"seconds since it began"`
	Metrics map[string][]*float64 `json:"metrics" doc:"a list for each metric; null where it was not reported"`
}

// A Repeat is a further run of a trial's configuration.
type Repeat struct {
	State   string    `json:"state"`
	Value   *float64  `json:"value"`
	Elapsed float64   `json:"elapsed_s"`
	Race    bool      `json:"race" doc:"run to find the best; others compare the best with the first"`
	Ended   time.Time `json:"ended"`
}

// A TrialMove is a user's decision about a trial.
type TrialMove struct {
	Do     string    `json:"do" enum:"first,last,discard,restore" doc:"last: an order was taken back"`
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
}

// trialDetail returns the details of one trial.
func (s *Server) trialDetail(ctx context.Context, study string, id int64) (out TrialDetail, err error) {
	r, err := result.Read(ctx, s.o.Store, study)
	if err != nil {
		return out, err
	}
	found := false
	for row, err := range s.o.Store.Trials(ctx, study, id-1, 1) {
		if err == nil {
			err = r.Fits(row.Trial)
		}
		if err != nil {
			return out, err
		}
		if found = row.Trial.ID == id; found {
			out.describe(r, row.Trial)
		}
	}
	if !found {
		return out, assay.Errorf(assay.ClassNotFound, "study %q has no trial %d", study, id)
	}
	out.Study = study
	t := &history{TrialDetail: &out, goal: r.Goal, id: id}
	if out.Restores, out.Restored, err = s.tallies.about(ctx, r, id, t.note); err != nil {
		return out, err
	}
	s.live(&out, id)
	return out, nil
}

// describe fills in the fields of the trial itself.
func (d *TrialDetail) describe(r *result.Record, t assay.Trial) {
	d.Trial = r.Trial(t)
	d.Objective, d.Metric, d.Units = result.GoalText(r.Goal), r.Goal.Metric, r.Definition.Units()
	d.Attempts, d.Repeats, d.Decisions, d.Files = []Attempt{}, []Repeat{}, []TrialMove{}, []string{}
	d.Levels = r.Goal.Level != nil
	recipe, ok, err := r.Recipe(t.ID, t.Config)
	if err != nil || !ok {
		return // the study would not have begun, or runs nothing here
	}
	d.Command = recipe.Line()
	files, _ := recipe.Files()
	for _, f := range files {
		d.Files = append(d.Files, f.Name)
	}
}

// A history collects the events of a study that concern one trial.
type history struct {
	*TrialDetail
	goal assay.Goal
	id   int64
}

// note takes in an event.
func (h *history) note(e assay.Event) {
	switch {
	case e.Started != nil && e.Started.Trial == h.id:
		h.Attempts = append(h.Attempts, Attempt{
			Repeat: e.Started.Repeat, Attempt: e.Started.Attempt, State: "placed", Worker: e.Started.Worker,
			MachineClass: e.Started.MachineClass, Began: e.At,
		})
	case e.Booked != nil && e.Booked.Trial == h.id:
		h.booked(e.At, *e.Booked)
	case e.Checked != nil && e.Checked.ID == h.id:
		h.Repeats = append(h.Repeats, Repeat{
			e.Checked.State.String(), view.Finite(h.goal.Show(e.Checked.Value)), e.Checked.Measurement.Elapsed.Seconds(), e.Race,
			e.At,
		})
	case e.Ordered != nil && e.Ordered.Trial == h.id:
		do := "first"
		if e.Ordered.Priority <= 0 {
			do = "last"
		}
		h.Decisions = append(h.Decisions, TrialMove{do, e.At, e.Ordered.By, ""})
	case e.Withdrawn != nil && e.Withdrawn.Trial == h.id:
		h.Decisions = append(h.Decisions, TrialMove{"discard", e.At, e.Withdrawn.By, e.Withdrawn.Reason})
	case e.Given != nil:
		h.Decisions = append(h.Decisions, TrialMove{"restore", e.At, e.Given.By, ""})
	}
}

// booked notes the end of an attempt. The last booking of one holds.
func (h *history) booked(at time.Time, b assay.AttemptEnd) {
	i := slices.IndexFunc(h.Attempts, func(a Attempt) bool { return a.Repeat == b.Repeat && a.Attempt == b.Attempt })
	if i < 0 {
		return
	}
	a := &h.Attempts[i]
	a.State, a.Ended, a.Why, a.Reason, a.Elapsed = "lost", &at, b.Why, b.Reason, b.Measurement.Elapsed.Seconds()
	if b.Counts() {
		a.State = "counts"
	}
}

// live adds the fleet's knowledge of the attempts.
func (s *Server) live(d *TrialDetail, trial int64) {
	at := func(id assay.RunID) *Attempt {
		for i, a := range d.Attempts {
			if a.Repeat == id.Repeat && a.Attempt == id.Attempt {
				return &d.Attempts[i]
			}
		}
		return nil
	}
	for _, r := range s.o.Runs.Reported(d.Study, trial) {
		a := at(r.ID)
		if a == nil {
			continue
		}
		if r.Placed && a.State == "placed" {
			a.Elapsed, a.Silent, a.Worker = r.So.Elapsed.Seconds(), r.Silent.Seconds(), cmp.Or(r.Worker, a.Worker)
		}
		if len(r.Curve.At) == 0 {
			continue
		}
		a.Curve = &Reports{At: []float64{}, Metrics: map[string][]*float64{}}
		for _, t := range r.Curve.At {
			a.Curve.At = append(a.Curve.At, t.Seconds())
		}
		for name, list := range r.Curve.Metrics {
			column := make([]*float64, len(list))
			for i, x := range list {
				if !math.IsNaN(x) && !math.IsInf(x, 0) {
					column[i] = &x
				}
			}
			a.Curve.Metrics[name] = column
		}
	}
}

const aboutTrials = "An attempt is placed while a worker runs it. Then it counts, if its measurement is the result " +
	"of the run, or is lost. A repeat is a further run of the configuration, and no trial. A verdict with stop false " +
	"was ignored, to test the stopping rule."

type trialIn struct {
	StudyPath
	Trial int64 `path:"trial" minimum:"1" doc:"the id of the trial"`
}

func (s studyRoutes) getTrial(ctx context.Context, in *trialIn) (*tagged[TrialDetail], error) {
	i, err := s.see(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	body, err := s.trialDetail(ctx, in.Study, in.Trial)
	return &tagged[TrialDetail]{tag(i.Events), body}, err
}

// Trial returns the record of one trial.
func (c *Client) Trial(ctx context.Context, study string, id int64) (TrialDetail, error) {
	return body(call(ctx, c, studyRoutes.getTrial, &trialIn{StudyPath{study}, id}))
}
