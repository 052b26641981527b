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
)

// An Attachment follows a study on a server until it is over. The record is copied as it
// comes, so that what the study came to is told as of a study of this machine.
type Attachment struct {
	Client *Client
	Study  string
	// Before is how many events were on record when somebody began to look: they are told at once.
	Before int64
	// Notify is told how far the study has come. What is on record before comes at once, with
	// Replay set.
	Notify func(study.Progress)
	// Away is told of a server that does not answer, and of nil when it is back.
	Away func(error)
	// Lacks is told, once, why no worker can run what is open of the study; it may be nil.
	Lacks func(string)
}

// Run follows until the study has ended or was stopped, and returns what it came to. If ctx
// is done first, the study goes on, and what it has come to is returned with the cause.
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
	lacks := func(text string) { // a stream that begins anew says it again
		if text != "" && text != said && a.Lacks != nil {
			a.Lacks(text)
		}
		said = text
	}
	for e, err := range a.Client.follow(ctx, a.Study, 0, a.Away, lacks) {
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

// ends reports whether an event is the last of the study. Only the server knows: what has ended
// may be resumed, and what is to stop has runs that end before it.
func (a *Attachment) ends(ctx context.Context, e Numbered, first bool) (bool, error) {
	last := e.Ended != nil || e.Steered != nil && e.Steered.Do == "stop"
	for wait := firstWait; last || first; wait = min(2*wait, mostWait) {
		now, err := a.Client.insist(ctx, a.Study, a.Away)
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

// insist returns a study, however long the server is away.
func (c *Client) insist(ctx context.Context, study string, away func(error)) (Study, error) {
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		d, err := c.Study(ctx, study)
		if err == nil || assay.ClassOf(err) != assay.ClassUnavailable {
			return d.Study, err
		}
		if wait == firstWait && away != nil {
			away(err)
		}
		select {
		case <-ctx.Done():
			return Study{}, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// over reports whether a study makes no more runs by itself.
func over(s Study) bool { return s.State == "ended" || s.State == "stopped" }

// SendInputs has the server keep the files that a study reads, those that it does not have, and the definition say what
// they are. It comes before [Submitted].
func (c *Client) SendInputs(ctx context.Context, def *spec.Study) error {
	files, err := setup.Stage(ctx, def)
	if err != nil {
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(files)) {
		has, err := c.HasBlob(ctx, hash)
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
