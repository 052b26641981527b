package assaytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A ProjectingStore is a Store that is a Projector too.
type ProjectingStore interface {
	assay.Store
	assay.Projector
}

// TestProjector checks the contract of [assay.Projector]. newStore returns an empty store and ends it with t.Cleanup.
func TestProjector(t *testing.T, newStore func(t *testing.T) ProjectingStore) {
	for _, c := range []struct {
		name, rule string
		run        func(t *testing.T, s ProjectingStore)
	}{
		{"Random", "the projection equals the one computed from all events, for any events", testProjectionRandom},
		{"Known", "a trial is running until its result or withdrawal; its first final state stays", testProjectionKnown},
		{"Trials", "Trials begins behind an ID and ends after n", testProjectionTrials},
		{"Summaries", "Summaries begins behind a name and ends after n", testProjectionSummaries},
		{"NotExist", "a study that does not exist is an error that matches fs.ErrNotExist", testProjectionNotExist},
		{"Cancelled", "a cancelled context ends a call with its error", testProjectionCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, newStore(t))
			if t.Failed() {
				t.Logf("the rule: %s", c.rule)
			}
		})
	}
}

// projected is the expected projection of a study's events: a second, simpler implementation of the contract.
type projected struct {
	sum  assay.Summary
	rows map[int64]assay.TrialRow
}

func projectAll(study string, events []assay.Event) projected {
	p := projected{assay.Summary{Study: study, Value: math.Inf(1)}, map[int64]assay.TrialRow{}}
	for i, e := range events {
		if i == 0 {
			p.sum.First = e.At
		}
		p.sum.Events, p.sum.Last, p.sum.Spent = int64(i+1), e.At, e.Spent
		if e.Booked == nil && (e.Steered == nil || e.Steered.Do == "run") {
			p.sum.Ended = ""
		}
		p.add(e)
	}
	p.sum.Counts = map[assay.State]int64{}
	for _, row := range p.rows {
		p.sum.Counts[row.Trial.State]++
	}
	return p
}

// add adds the event that the summary has counted last.
func (p *projected) add(e assay.Event) {
	over := func(id int64) bool { return p.rows[id].Trial.State.Final() }
	switch {
	case e.Asked != nil:
		if _, known := p.rows[e.Asked.ID]; !known {
			p.set(assay.Trial{Proposal: *e.Asked, Value: math.NaN(), Started: e.At})
		}
	case e.Told != nil && !over(e.Told.ID):
		p.set(*e.Told)
	case e.Withdrawn != nil && !over(e.Withdrawn.Trial):
		if row, known := p.rows[e.Withdrawn.Trial]; known {
			p.set(assay.Trial{
				Proposal: row.Trial.Proposal, State: assay.Withdrawn, Value: math.Inf(1),
				Reason: e.Withdrawn.Reason, Started: row.Trial.Started, Ended: e.At,
			})
		}
	case e.Checked != nil:
		p.sum.Checks++
	case e.Ended != nil:
		p.sum.Ended = e.Ended.By
	case e.Steered != nil && e.Steered.Do == "priority":
		p.sum.Priority = e.Steered.Priority
	case e.Steered != nil && e.Steered.Do != "budget":
		p.sum.Steered = e.Steered.Do
	case e.Booked != nil:
		p.sum.Lost += e.Booked.Lost()
	}
}

// set sets the row of a trial, by the event that the summary has counted last.
func (p *projected) set(t assay.Trial) {
	p.rows[t.ID] = assay.TrialRow{Seq: p.sum.Events, Trial: t}
	if t.State == assay.Done && t.Value < p.sum.Value {
		p.sum.Best, p.sum.Value = t.ID, t.Value
	}
}

// check fails unless the store returns the same projection.
func (p projected) check(t *testing.T, s ProjectingStore) {
	t.Helper()
	study := p.sum.Study
	got, err := s.Summary(t.Context(), study)
	noStoreErr(t, err)
	p.checkSummary(t, got)
	rows, err := collectPairs(s.Trials(t.Context(), study, 0, 0))
	noStoreErr(t, err)
	checkRows(t, study, rows, p.sorted())
	var trials []assay.Trial
	for _, row := range rows {
		trials = append(trials, row.Trial)
	}
	// The result of the root package for the same trials. Ties go to the trial with the first result here, and to the
	// first in the list there.
	best, ok := assay.Best(trials)
	if ok != (got.Best != 0) || ok && got.Value != best.Value {
		t.Errorf("study %q: best: got %d with %v, want %d with %v", study, got.Best, got.Value, best.ID, best.Value)
	}
	if got.Trials() != int64(len(rows)) {
		t.Errorf("study %q: got %d trials in the summary, want %d", study, got.Trials(), len(rows))
	}
}

func (p projected) checkSummary(t *testing.T, got assay.Summary) {
	t.Helper()
	want := p.sum
	if got.Created.IsZero() {
		t.Errorf("study %q: got no time of its creation", want.Study)
	}
	if !got.First.Equal(want.First) || !got.Last.Equal(want.Last) {
		t.Errorf("study %q: got the times %v to %v, want %v to %v",
			want.Study, got.First, got.Last, want.First, want.Last)
	}
	for _, s := range []*assay.Summary{&got, &want} {
		s.First, s.Last, s.Created = time.Time{}, time.Time{}, time.Time{}
	}
	if len(got.Counts) == 0 && len(want.Counts) == 0 {
		got.Counts, want.Counts = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got the summary %+v, want %+v", got, want)
	}
}

// sorted returns the rows in the order of their IDs.
func (p projected) sorted() (rows []assay.TrialRow) {
	for _, id := range slices.Sorted(maps.Keys(p.rows)) {
		rows = append(rows, p.rows[id])
	}
	return rows
}

func checkRows(t *testing.T, what string, got, want []assay.TrialRow) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d trials, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i].Seq != want[i].Seq || !sameTrial(got[i].Trial, want[i].Trial) {
			t.Errorf("%s: trial %d:\ngot  %d %+v\nwant %d %+v", what, i,
				got[i].Seq, got[i].Trial, want[i].Seq, want[i].Trial)
		}
	}
}

// randomEvent returns an event of a few trials, in any order: asked twice, ended before it is asked, ended or withdrawn
// after the end.
func randomEvent(rng *rand.Rand) assay.Event {
	id := 1 + rng.Int64N(8)
	e := askedEvent(id)
	e.At = e.At.Add(time.Duration(rng.Int64N(1e18)))
	e.Spent = time.Duration(rng.Int64())
	asked := e.Asked
	if rng.IntN(4) > 0 {
		e.Asked = nil
	}
	switch {
	case e.Asked != nil:
		e.Batch = rng.IntN(4) - 1
		return e
	case rng.IntN(8) == 0:
		e.Ended = &assay.End{By: "budget"}
		return e
	case rng.IntN(8) == 0:
		e.Started = &assay.Start{RunID: assay.RunID{Study: "a", Trial: id, Attempt: 1}, Worker: "here"}
		return e
	case rng.IntN(8) == 0:
		e.Ordered = &assay.Order{Trial: id, Priority: 3}
		return e
	case rng.IntN(3) == 0:
		e.Withdrawn = &assay.Withdrawal{Trial: id, By: "somebody", Reason: "not wanted"}
		return e
	}
	values := []float64{0, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), rng.NormFloat64()}
	e.Told = toldEvent(id, values[rng.IntN(len(values))]).Told
	e.Told.Proposal = *asked
	e.Told.State = assay.States()[rng.IntN(len(assay.States()))]
	if rng.IntN(6) == 0 {
		e.Checked, e.Told = e.Told, nil
	}
	return e
}

func testProjectionRandom(t *testing.T, s ProjectingStore) {
	rng := rand.New(rand.NewPCG(7, 11))
	for n := range 60 {
		study := fmt.Sprint("study ", n)
		noStoreErr(t, s.Create(t.Context(), study, nil))
		projectAll(study, nil).check(t, s)
		var all []assay.Event
		var at assay.Position
		for range rng.IntN(5) {
			var batch []assay.Event
			for range 1 + rng.IntN(9) {
				batch = append(batch, randomEvent(rng))
			}
			var err error
			at, err = s.Append(t.Context(), study, at, batch...)
			noStoreErr(t, err)
			all = append(all, batch...)
			projectAll(study, all).check(t, s)
		}
		if t.Failed() {
			for _, e := range all {
				t.Log(eventText(e))
			}
			return
		}
	}
}

func testProjectionKnown(t *testing.T, s ProjectingStore) {
	withdrawn := func(id int64) assay.Event {
		e := askedEvent(id)
		e.Asked, e.Withdrawn = nil, &assay.Withdrawal{Trial: id, Reason: "why"}
		return e
	}
	failed := toldEvent(3, 1)
	failed.Told.State = assay.Failed
	noStoreErr(t, s.Create(t.Context(), "a", nil))
	_, err := s.Append(t.Context(), "a", 0,
		askedEvent(1), askedEvent(2), askedEvent(3), askedEvent(4), askedEvent(5),
		toldEvent(2, 7), failed, withdrawn(4), // events 6 to 8
		toldEvent(3, 1), toldEvent(4, 1), withdrawn(2), withdrawn(9), // that change nothing
	)
	noStoreErr(t, err)
	rows, err := collectPairs(s.Trials(t.Context(), "a", 0, 0))
	noStoreErr(t, err)
	want := []struct {
		seq   int64
		state assay.State
	}{{1, assay.Running}, {6, assay.Done}, {7, assay.Failed}, {8, assay.Withdrawn}, {5, assay.Running}}
	if len(rows) != len(want) {
		t.Fatalf("got %d trials, want %d", len(rows), len(want))
	}
	for i, w := range want {
		asked := askedEvent(int64(i + 1)).Asked
		if got := rows[i]; got.Seq != w.seq || got.Trial.State != w.state || !got.Trial.Config.Equal(asked.Config) {
			t.Errorf("trial %d: got %+v, want event %d and %v", i+1, got, w.seq, w.state)
		}
	}
	if got := rows[3].Trial; !math.IsInf(got.Value, 1) || got.Reason != "why" || !got.Started.Equal(askedEvent(4).At) {
		t.Errorf("the withdrawn trial: got %+v", got)
	}
	sum, err := s.Summary(t.Context(), "a")
	counts := map[assay.State]int64{assay.Running: 2, assay.Done: 1, assay.Failed: 1, assay.Withdrawn: 1}
	if err != nil || !maps.Equal(sum.Counts, counts) || sum.Best != 2 || sum.Value != 7 || sum.Events != 12 {
		t.Errorf("got the summary %+v, %v", sum, err)
	}
}

func testProjectionTrials(t *testing.T, s ProjectingStore) {
	const trials = 600
	fillStudy(t, s, "a", trials)
	for _, c := range []struct {
		after int64
		n     int
	}{
		{0, 0},
		{0, 1},
		{1, 1},
		{5, 300},
		{255, 2},
		{256, 256},
		{590, 0},
		{590, 100},
		{599, 1},
		{600, 0},
		{700, 3},
		{math.MaxInt64, 0},
	} {
		rows, err := collectPairs(s.Trials(t.Context(), "a", c.after, c.n))
		noStoreErr(t, err)
		want := int(max(0, trials-c.after))
		if c.n > 0 {
			want = min(want, c.n)
		}
		if len(rows) != want {
			t.Errorf("after %d, at most %d: got %d trials, want %d", c.after, c.n, len(rows), want)
			continue
		}
		for i, row := range rows {
			if row.Trial.ID != c.after+int64(i)+1 || row.Seq != row.Trial.ID {
				t.Errorf("after %d, at most %d: got trial %d of event %d in place %d",
					c.after, c.n, row.Trial.ID, row.Seq, i)
			}
		}
	}
	for row, err := range s.Trials(t.Context(), "a", 7, 0) { // a caller may stop at any time
		noStoreErr(t, err)
		if row.Trial.ID != 8 {
			t.Errorf("got trial %d first, want 8", row.Trial.ID)
		}
		break
	}
}

func testProjectionSummaries(t *testing.T, s ProjectingStore) {
	var names []string
	for i := range 300 {
		name := fmt.Sprintf("s%03d", i)
		noStoreErr(t, s.Create(t.Context(), name, nil))
		if i%100 == 0 {
			noStoreErr(t, add(t.Context(), s, name, askedEvent(1)))
		}
		names = append(names, name)
	}
	for _, c := range []struct {
		after string
		n     int
	}{{"", 0}, {"", 1}, {"s000", 2}, {"s0", 257}, {"s100", 0}, {"s2985", 0}, {"s299", 0}, {"z", 5}} {
		sums, err := collectPairs(s.Summaries(t.Context(), c.after, c.n))
		noStoreErr(t, err)
		i, found := slices.BinarySearch(names, c.after)
		if found {
			i++
		}
		want := names[i:]
		if c.n > 0 {
			want = want[:min(c.n, len(want))]
		}
		if !slices.EqualFunc(sums, want, func(sum assay.Summary, name string) bool { return sum.Study == name }) {
			t.Errorf("after %q, at most %d: got %d summaries, want %d", c.after, c.n, len(sums), len(want))
		}
		for _, sum := range sums {
			var events []assay.Event
			if sum.Events > 0 {
				events = []assay.Event{askedEvent(1)}
			}
			projectAll(sum.Study, events).checkSummary(t, sum)
		}
	}
}

func testProjectionNotExist(t *testing.T, s ProjectingStore) {
	noStoreErr(t, s.Create(t.Context(), "there", nil))
	if _, err := s.Summary(t.Context(), "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Summary: got %v, want fs.ErrNotExist", err)
	}
	rows, err := collectPairs(s.Trials(t.Context(), "missing", 0, 0))
	if len(rows) != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Trials: got %d trials and %v, want fs.ErrNotExist", len(rows), err)
	}
}

func testProjectionCancelled(t *testing.T, s ProjectingStore) {
	fillStudy(t, s, "a", 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Summary(ctx, "a")
	_, err1 := collectPairs(s.Trials(ctx, "a", 0, 0))
	_, err2 := collectPairs(s.Summaries(ctx, "", 0))
	for _, err := range []error{err, err1, err2} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}
