package api

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// An Attachment follows a study on a server until it is over. It copies the record as it arrives, so the result is
// presented like the result of a local study.
type Attachment struct {
	Client *Client
	Study  string
	// Before is the number of events on record when the client attached. They are delivered at once.
	Before int64
	// Notify receives the progress of the study. Progress on record before is delivered at once, with Replay set.
	Notify func(study.Progress)
	// Away is called with the error of a server that does not answer, and with nil when it is back.
	Away func(error)
	// Lacks is called, once, with the reason why no worker can run the open trials; it may be nil.
	Lacks func(string)
}

// Run follows until the study has ended or was stopped, and returns its result. If ctx is done first, the study
// continues, and Run returns the result so far with the cause.
func (a *Attachment) Run(ctx context.Context) (study.Result, error) {
	d, err := a.Client.Study(ctx, a.Study)
	if err != nil {
		return study.Result{}, err
	}
	def, err := spec.Decode(d.Spec)
	if err != nil {
		return study.Result{}, err
	}
	copied := store.NewMem()
	if err := copied.Create(ctx, a.Study, d.Spec); err != nil {
		return study.Result{}, err
	}
	err = a.copy(ctx, copied)
	res, rerr := result.Recall(context.WithoutCancel(ctx), copied, a.Study, def)
	if err == nil {
		err = rerr
	}
	return res, err
}

// copy copies events until the study is over.
func (a *Attachment) copy(ctx context.Context, to *store.Mem) error {
	var f result.Follower
	said := ""
	lacks := func(text string) { // a restarted stream repeats it
		if text != "" && text != said && a.Lacks != nil {
			a.Lacks(text)
		}
		said = text
	}
	for e, err := range (&eventStream{client: a.Client, study: a.Study, lacks: lacks}).follow(ctx, a.Away) {
		if err != nil {
			return err
		}
		if _, err := to.Append(ctx, a.Study, assay.Position(e.Seq-1), e.Event); err != nil {
			return err
		}
		p := f.Add(e.Event)
		if e.Seq < a.Before {
			continue
		}
		if p.Replay = e.Seq == a.Before; a.Notify != nil {
			a.Notify(p)
		}
		if end, err := a.ends(ctx, e, p.Replay); err != nil || end {
			return err
		}
	}
	return context.Cause(ctx)
}

// ends reports whether an event is the last of the study. Only the server knows: an ended study may be resumed, and a
// study that is being stopped has runs that end first.
func (a *Attachment) ends(ctx context.Context, e Numbered, first bool) (bool, error) {
	last := e.Ended != nil || e.Steered != nil && e.Steered.Do == "stop"
	for wait := firstWait; last || first; wait = min(2*wait, mostWait) {
		now, err := a.insist(ctx)
		switch {
		case err != nil:
			return false, err
		case now.Events > e.Seq:
			return false, nil
		case over(now):
			return true, nil
		case !last:
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return false, nil
}

// insist returns the study, however long the server is away.
func (a *Attachment) insist(ctx context.Context) (view.Study, error) {
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		d, err := a.Client.Study(ctx, a.Study)
		if err == nil || assay.ClassOf(err) != assay.ClassUnavailable {
			return d.Study, err
		}
		if wait == firstWait && a.Away != nil {
			a.Away(err)
		}
		select {
		case <-ctx.Done():
			return view.Study{}, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// over reports whether a study makes no more runs by itself.
func over(s view.Study) bool { return s.State == "ended" || s.State == "stopped" }

// SendInputs uploads the input files of a study that the server lacks, and records their hashes in the definition. It
// must be called before [Submitted].
func SendInputs(ctx context.Context, c *Client, def *spec.Study) error {
	files, err := setup.Stage(ctx, def)
	if err != nil {
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(files)) {
		has, err := hasBlob(ctx, c, hash)
		if err == nil && !has {
			err = c.PutBlob(ctx, hash, files[hash], "", "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Submitted is the definition of a study as a server takes it. The study file belongs to the
// machine that read it: the server sees its content alone.
func Submitted(def *spec.Study, name string) (Submission, error) {
	stored, err := setup.Encode(def, name, nil)
	if err != nil {
		return Submission{}, err
	}
	return Submission{Name: name, Spec: json.RawMessage(stored)}, nil
}

// ParseTrials reads trials as they are written on a command line: STUDY/17, or
// STUDY/30..39. A study may have a slash in its name: the last one counts. It returns the
// studies in the order in which they were named, and their trials.
func ParseTrials(texts []string) (studies []string, trials map[string][]int64, err error) {
	trials = map[string][]int64{}
	for _, text := range texts {
		study, from, to, ok := parseTrials(text)
		if !ok {
			return nil, nil, assay.Errorf(assay.ClassUsage,
				"%q names no trials: they are written STUDY/17 or STUDY/30..39", text)
		}
		if to-from >= 10_000 {
			return nil, nil, assay.Errorf(assay.ClassUsage, "%s: at most 10,000 trials at once", text)
		}
		if trials[study] == nil {
			studies = append(studies, study)
		}
		for id := from; id <= to; id++ {
			trials[study] = append(trials[study], id)
		}
	}
	return studies, trials, nil
}

// parseTrials reads one text of [ParseTrials].
func parseTrials(text string) (study string, from, to int64, ok bool) {
	i := strings.LastIndexByte(text, '/')
	if i < 1 {
		return "", 0, 0, false
	}
	first, last, many := strings.Cut(text[i+1:], "..")
	if !many {
		last = first
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return "", 0, 0, false
	}
	to, err = strconv.ParseInt(last, 10, 64)
	return text[:i], from, to, err == nil && from >= 1 && to >= from
}
