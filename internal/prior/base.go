package prior

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/prune"
	"github.com/assay-run/assay/spec"
)

// This file makes the knowledge base from the record. Two numbers of a study's summary show whether its entry is up to
// date: the time of its creation and the number of ended trials. So an unchanged record costs one query and no event is
// read.

// An entry is the index entry of a recorded study: enough to decide whether it serves another study, and how similar
// they are. An entry is written to index.json as it is: a change of its fields needs another indexVersion. It is not
// changed once learn has returned it.
type entry struct {
	Name string `json:"name"`
	// Created is in nanoseconds since 1970. It distinguishes a study from an earlier one of the same name.
	Created int64 `json:"created_ns"`
	Told    int   `json:"told"` // trials in a final state
	// Program is as programOf has it.
	Program string        `json:"program,omitempty"`
	Space   int           `json:"space"` // index in the file's spaces
	Params  []assay.Param `json:"-"`     // one slice for all studies of a space
	// Metric, Maximize and Unit are the goal of the study.
	Metric   string    `json:"metric"`
	Maximize bool      `json:"maximize,omitempty"`
	Unit     string    `json:"unit,omitempty"`
	Print    []float32 `json:"print,omitempty"` // prune.Fingerprint, or nil
	Flaw     string    `json:"flaw,omitempty"`  // why it serves no study
}

// goal returns the part of the goal that studies must share. It has no limits on other metrics: each study has its own.
func (k *entry) goal() assay.Goal {
	return assay.Goal{Metric: k.Metric, Maximize: k.Maximize, Unit: k.Unit}
}

// A Record is the source of a knowledge base. A store and its projection satisfy it together. Nothing is written to it.
type Record interface {
	Spec(ctx context.Context, study string) ([]byte, error)
	Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error]
	Summaries(ctx context.Context, after string, n int) iter.Seq2[assay.Summary, error]
}

// A Base is the recorded studies, in a form that is read quickly. It keeps an index and the trials of each study in a
// directory. The events are the truth: missing, old or damaged files are made again. It is not safe for concurrent use.
type Base struct {
	record Record
	dir    string // "" if nothing is kept
	// studies holds every study on record by its name, those with a flaw too.
	studies map[string]*entry
	// spaces holds each list of parameters once. It only grows while the base is open.
	spaces [][]assay.Param
}

// intern returns the number of a list of parameters, and the one slice that stands
// for all equal lists.
// The slice params belongs to the base from then on.
func (kb *Base) intern(params []assay.Param) (int, []assay.Param) {
	for i, s := range kb.spaces {
		if sameParams(s, params) {
			return i, s
		}
	}
	kb.spaces = append(kb.spaces, params)
	return len(kb.spaces) - 1, params
}

// Dir returns where the knowledge base of a store in a file is kept.
// It is a directory beside the store, which may be removed at any time.
func Dir(store string) string { return store + ".knowledge" }

// Open returns the knowledge base of a record, up to date. It is kept in a
// directory, which need not exist; "" keeps nothing. That it cannot be kept is no
// error: then the events are read again.
// A study whose import did not end is left out.
// An error is one of reading the record. A study whose definition cannot be used is no error:
// its entry has a flaw.
func Open(ctx context.Context, r Record, dir string) (*Base, error) {
	kb := &Base{record: r, dir: dir, studies: map[string]*entry{}}
	old := kb.readIndex()
	changed := false
	for sum, err := range r.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		// Withdrawn trials have no result. They are left out here as in Base.told, or the two numbers would never agree.
		told := 0
		for s, n := range sum.Counts {
			if s.Final() && s != assay.Withdrawn {
				told += int(n)
			}
		}
		if sum.Ended == "" { // a study that goes on, or half a table, of which nothing is to be learned
			if st, err := kb.definition(ctx, sum.Study); err == nil && st.HalfImport(sum) {
				continue
			}
		}
		if k := old[sum.Study]; k != nil && k.Created == sum.Created.UnixNano() && k.Told == told {
			kb.studies[k.Name] = k
			continue
		}
		k, err := kb.learn(ctx, sum.Study, sum.Created.UnixNano())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		kb.studies[k.Name] = k
		changed = true
	}
	for name := range old {
		if kb.studies[name] == nil {
			changed = true
			if kb.dir != "" {
				_ = os.Remove(kb.trialsFile(name)) // a file that remains does no harm
			}
		}
	}
	if changed {
		kb.writeIndex()
	}
	return kb, nil
}

// learn reads a study from its events and keeps its trials.
// An entry with a flaw has no trials in the cache, and is learned again only when the study
// has grown. The error is one of reading the record; it matches fs.ErrNotExist if the study
// was removed meanwhile.
func (kb *Base) learn(ctx context.Context, name string, created int64) (*entry, error) {
	k := &entry{Name: name, Created: created}
	trials, err := kb.told(ctx, name)
	if err != nil {
		return nil, err
	}
	// The number is of the trials that were read, which may be more than the summary counted: then the next Open reads the
	// study only if it has grown still further.
	k.Told = len(trials)
	st, err := kb.definition(ctx, name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		k.Flaw = err.Error()
		return k, nil
	}
	goal, err := st.Goal()
	if err != nil {
		k.Flaw = err.Error()
		return k, nil
	}
	k.Metric, k.Maximize, k.Unit, k.Program = goal.Metric, goal.Maximize, goal.Unit, programOf(st)
	var params []assay.Param // without conditions: inactive parameters are at rest in the trials
	for _, p := range st.Params {
		params = append(params, p.Param())
	}
	k.Space, k.Params = kb.intern(params)
	if slices.ContainsFunc(trials, func(t assay.Trial) bool { return len(t.Config) != len(k.Params) }) {
		k.Flaw = "its trials are not of its parameters (see assay study fsck)"
		return k, nil
	}
	print, err := prune.Fingerprint(prune.Study{Name: name, Params: k.Params, Goal: goal, Trials: trials})
	if err != nil {
		k.Flaw = err.Error()
		return k, nil
	}
	for _, x := range print {
		k.Print = append(k.Print, float32(x))
	}
	if kb.dir != "" {
		// The cache may be on a disk that is full, or read-only: then it is slow.
		_ = writeWhole(kb.trialsFile(name), encodeTrials(trials, len(k.Params)))
	}
	return k, nil
}

// definition returns the definition of a study on record.
// An error that matches fs.ErrNotExist means that there is no such study. Any other may also
// be one of a definition that this version cannot read.
func (kb *Base) definition(ctx context.Context, name string) (*spec.Study, error) {
	stored, err := kb.record.Spec(ctx, name)
	if err != nil {
		return nil, err
	}
	return spec.Decode(stored)
}

// programOf returns the name of the program that a study runs, "" for a table, and
// the mode of a study that is tuned on line.
// The directory is left out, so that one program in two places is the same. A shell line
// counts as a whole.
func programOf(st *spec.Study) string {
	switch {
	case st.Mode() == spec.ModeOnline:
		return string(spec.ModeOnline)
	case st.Mode() == spec.ModeAsked:
		return string(spec.ModeAsked)
	case len(st.Command) == 0:
		return ""
	case st.Shell:
		return st.Command[0]
	}
	return filepath.Base(st.Command[0])
}

// told returns the trials of a study that ended by themselves, in the order of their ends. It copies only the fields
// from which a study learns: neither measurements nor outputs are kept.
func (kb *Base) told(ctx context.Context, name string) ([]assay.Trial, error) {
	var trials []assay.Trial
	for e, err := range kb.record.Events(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		if e.Told != nil && e.Told.State != assay.Withdrawn {
			trials = append(trials, assay.Trial{Proposal: e.Told.Proposal, State: e.Told.State, Value: e.Told.Value})
		}
	}
	return trials, nil
}

// trials returns the first n ended trials of a study, and their digest. n < 0 stands for all. It returns an error that
// matches fs.ErrNotExist if the study does not exist. With fewer than n trials all are returned; the digest then
// differs from the digest of the requested ones. The digest is the first 8 bytes of the SHA-256 of the encoded trials,
// in hexadecimal.
func (kb *Base) trials(ctx context.Context, name string, n int) ([]assay.Trial, string, error) {
	k := kb.studies[name]
	if k == nil {
		return nil, "", fmt.Errorf("study %q: %w", name, fs.ErrNotExist)
	}
	trials, ok := kb.cached(k)
	if !ok {
		var err error
		if trials, err = kb.told(ctx, name); err != nil {
			return nil, "", err
		}
	}
	if n < 0 {
		n = len(trials)
	}
	trials = trials[:min(n, len(trials))]
	sum := sha256.Sum256(encodeTrials(trials, len(k.Params)))
	return trials, hex.EncodeToString(sum[:8]), nil
}

// cached returns the trials that are kept beside the store, if they are whole and up to date. A file with another
// number of trials than the entry is of another time and is not used.
func (kb *Base) cached(k *entry) ([]assay.Trial, bool) {
	if kb.dir == "" {
		return nil, false
	}
	b, err := os.ReadFile(kb.trialsFile(k.Name))
	if err != nil {
		return nil, false
	}
	trials, ok := decodeTrials(b, len(k.Params))
	return trials, ok && len(trials) == k.Told
}

// study returns an earlier study with its first n trials. Errors are as for trials. The slice of parameters is shared
// and must not be changed.
func (kb *Base) study(ctx context.Context, name string, n int) (prune.Study, string, error) {
	trials, digest, err := kb.trials(ctx, name, n)
	if err != nil {
		return prune.Study{}, "", err
	}
	k := kb.studies[name]
	return prune.Study{Name: name, Params: k.Params, Goal: k.goal(), Trials: trials}, digest, nil
}
