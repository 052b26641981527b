package api

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/store"
)

// Columns are trials as one list a field, each in order of the ids.
type Columns struct {
	ID        []int64            `json:"id" nullable:"false"`
	State     []string           `json:"state" nullable:"false"`
	Config    map[string][]any   `json:"config" doc:"a list for each parameter; null where it is not active"`
	Value     Numbers            `json:"value,omitempty"`
	Elapsed   Numbers            `json:"elapsed_s,omitempty"`
	Spent     Numbers            `json:"spent_s,omitempty" doc:"of the time budget when it ended"`
	Predicted Numbers            `json:"predicted,omitempty" doc:"what an early stop expected of the metric"`
	Reason    []string           `json:"reason,omitempty" nullable:"false"`
	Started   []int64            `json:"started_ms,omitempty" nullable:"false" doc:"Unix time"`
	Ended     Numbers            `json:"ended_ms,omitempty" doc:"Unix time"`
	Worker    []string           `json:"worker,omitempty" nullable:"false" doc:"the machine of its last attempt, if known"`
	Class     []string           `json:"class,omitempty" nullable:"false" doc:"of that machine"`
	Metrics   map[string]Numbers `json:"metrics,omitempty" doc:"a list for each metric; null where it was not measured"`
}

// Numbers are numbers of which some may be missing: NaN, null in JSON.
type Numbers []float64

// MarshalJSON implements [json.Marshaler].
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 1, 2+12*len(n))
	b[0] = '['
	for i, x := range n {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			b = append(b, "null"...)
		case x == math.Trunc(x) && math.Abs(x) < 1<<53:
			b = strconv.AppendInt(b, int64(x), 10)
		default:
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Numbers) UnmarshalJSON(b []byte) error {
	var list []*float64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = make(Numbers, len(list))
	for i, x := range list {
		if (*n)[i] = math.NaN(); x != nil {
			(*n)[i] = *x
		}
	}
	return nil
}

// Schema implements [huma.SchemaProvider].
func (Numbers) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeNumber, Nullable: true}}
}

// of returns the rows from a to b, with the fields that are wanted. It shares memory with c.
func (c *Columns) of(a, b int, want []string) *Columns {
	has := func(name string) bool { return len(want) == 0 || slices.Contains(want, name) }
	out := &Columns{ID: c.ID[a:b:b], State: c.State[a:b:b], Config: make(map[string][]any, len(c.Config))}
	for name, list := range c.Config {
		out.Config[name] = list[a:b:b]
	}
	for name, f := range map[string]struct{ to, from *Numbers }{
		"value": {&out.Value, &c.Value}, "elapsed": {&out.Elapsed, &c.Elapsed}, "spent": {&out.Spent, &c.Spent},
		"predicted": {&out.Predicted, &c.Predicted}, "ended": {&out.Ended, &c.Ended},
	} {
		if has(name) {
			*f.to = (*f.from)[a:b:b]
		}
	}
	if has("reason") {
		out.Reason = c.Reason[a:b:b]
	}
	if has("started") {
		out.Started = c.Started[a:b:b]
	}
	if has("worker") {
		out.Worker, out.Class = c.Worker[a:b:b], c.Class[a:b:b]
	}
	if has("metrics") {
		out.Metrics = make(map[string]Numbers, len(c.Metrics))
		for name, list := range c.Metrics {
			out.Metrics[name] = list[a:b:b]
		}
	}
	return out
}

// A tally is the columns of a study up to a place of its record. It is made of the events, as the
// projection of the store is, and goes on with those that have come since: who looks at a study
// again and again does not have all of it read again and again.
type tally struct {
	mu   sync.Mutex
	rec  *result.Record
	at   int64 // events taken in
	sum  assay.Summary
	all  Columns
	conf []assay.Config
	row  map[int64]int // of an id
	past []moment
	restores
	used uint64 // guarded by tallies.mu
	rows int    // guarded by tallies.mu
}

// mostTallied is how many trials there are in memory of all studies together that nobody asks for
// at the moment.
const mostTallied = 400_000

// tallies are those of a server.
type tallies struct {
	store interface {
		assay.Store
		assay.Projector
	}
	mu    sync.Mutex
	of    map[string]*tally
	clock uint64
}

// columns returns rows of a study behind an id, at most limit of them, and the id behind which there
// are more, 0 if there are none.
func (ts *tallies) columns(
	ctx context.Context, r *result.Record, after int64, limit int, want []string,
) (*Columns, int64, error) {
	t, err := ts.lock(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	defer t.mu.Unlock()
	n := len(t.all.ID)
	a, _ := slices.BinarySearch(t.all.ID, after+1)
	b, next := n, int64(0)
	if n-a > limit {
		b = a + limit
		next = t.all.ID[b-1]
	}
	// What is handed out is not changed: rows that change are in a copy from now on.
	return t.all.of(a, b, want).clone(t.open(a)), next, nil
}

// lock returns the tally of a study with all that is on record now. Who has it unlocks it.
func (ts *tallies) lock(ctx context.Context, r *result.Record) (*tally, error) {
	ts.mu.Lock()
	t := ts.of[r.Name]
	if t == nil {
		t = &tally{}
		ts.of[r.Name] = t
	}
	ts.clock++
	t.used = ts.clock
	ts.mu.Unlock()

	t.mu.Lock()
	if t.rec == nil || !t.rec.Summary.Created.Equal(r.Summary.Created) || t.at > r.Summary.Events {
		t.begin(r) // it is new, or another one of that name
	}
	for e, err := range ts.store.Events(ctx, r.Name, assay.Position(t.at)) {
		if err == nil {
			err = t.take(e)
		}
		if err != nil {
			t.rec = nil
			t.mu.Unlock()
			return nil, err
		}
	}
	ts.keep(r.Name, t, len(t.all.ID))
	return t, nil
}

// keep forgets the tallies that were used least recently if there are too many trials.
func (ts *tallies) keep(name string, t *tally, rows int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.rows = rows
	sum := 0
	for _, o := range ts.of {
		sum += o.rows
	}
	for sum > mostTallied && len(ts.of) > 1 {
		var old string
		for n, o := range ts.of {
			if n != name && (old == "" || o.used < ts.of[old].used) {
				old = n
			}
		}
		sum -= ts.of[old].rows
		delete(ts.of, old)
	}
}

// begin starts anew.
func (t *tally) begin(r *result.Record) {
	t.rec, t.at, t.row, t.conf, t.past = r, 0, map[int64]int{}, nil, nil
	t.restores = restores{of: map[int64]int64{}, by: map[int64]int64{}}
	t.sum = store.NewSummary(r.Name, r.Summary.Created)
	t.all = Columns{
		ID: []int64{}, State: []string{}, Config: map[string][]any{}, Value: Numbers{}, Elapsed: Numbers{}, Spent: Numbers{},
		Predicted: Numbers{}, Reason: []string{}, Started: []int64{}, Ended: Numbers{}, Worker: []string{}, Class: []string{},
		Metrics: map[string]Numbers{},
	}
	for _, p := range r.Params {
		t.all.Config[p.Name] = []any{}
	}
}

// open returns the first row, from a on, that may change still, counted from a.
func (t *tally) open(a int) int {
	for k := a; k < len(t.all.State); k++ {
		if t.all.State[k] == assay.Running.String() {
			return k - a
		}
	}
	return len(t.all.State) - a
}

// clone returns columns of which the rows from the k-th on are no longer shared. Columns whose rows
// have all ended are handed out as they are.
func (c *Columns) clone(k int) *Columns {
	if k >= len(c.ID) {
		return c
	}
	out := *c
	out.State, out.Reason = slices.Clone(c.State), slices.Clone(c.Reason)
	out.Started, out.Worker, out.Class = slices.Clone(c.Started), slices.Clone(c.Worker), slices.Clone(c.Class)
	for _, f := range []*Numbers{&out.Value, &out.Elapsed, &out.Spent, &out.Predicted, &out.Ended} {
		*f = slices.Clone(*f)
	}
	if c.Metrics != nil {
		out.Metrics = make(map[string]Numbers, len(c.Metrics))
		for name, list := range c.Metrics {
			out.Metrics[name] = slices.Clone(list)
		}
	}
	return &out
}

// old returns the trial of a row as far as [store.Project] needs it.
func (t *tally) old(k int) assay.Trial {
	state := assay.Done
	switch t.all.State[k] {
	case assay.Running.String():
		state = assay.Running
	case assay.Withdrawn.String():
		state = assay.Withdrawn
	}
	return assay.Trial{
		Proposal: assay.Proposal{ID: t.all.ID[k], Config: t.conf[k]}, State: state,
		Started: time.UnixMilli(t.all.Started[k]).UTC(),
	}
}

// take takes the next event in.
func (t *tally) take(e assay.Event) error {
	t.at++
	t.restores.take(e)
	for _, trial := range concerns(e) {
		t.past = append(t.past, moment{trial, assay.Position(t.at)})
	}
	id, about := store.TrialOf(e)
	if s := e.Started; s != nil {
		if k, ok := t.row[s.Trial]; ok && t.all.State[k] == assay.Running.String() {
			t.all.Worker[k], t.all.Class[k] = s.Where, s.Class
		}
	}
	k, known := t.row[id]
	var before assay.Trial
	if about && known {
		before = t.old(k)
	}
	row, changed := store.Project(&t.sum, e, before, known)
	if !changed {
		return nil
	}
	if err := t.rec.Fits(row.Trial); err != nil {
		return err
	}
	if !known {
		k = t.grow(id)
	}
	t.put(k, row.Trial, e)
	return nil
}

// grow makes the row of a trial of which nothing is known, in order of the ids.
func (t *tally) grow(id int64) int {
	k := len(t.all.ID)
	if k > 0 && t.all.ID[k-1] > id {
		k, _ = slices.BinarySearch(t.all.ID, id)
		t.all = *t.all.clone(0) // rows move, and some may be in somebody's hands
		t.all.ID = slices.Clone(t.all.ID)
		for name, list := range t.all.Config {
			t.all.Config[name] = slices.Clone(list)
		}
	}
	nan := math.NaN()
	c := &t.all
	c.ID, c.State = slices.Insert(c.ID, k, id), slices.Insert(c.State, k, "")
	c.Reason, c.Started = slices.Insert(c.Reason, k, ""), slices.Insert(c.Started, k, 0)
	c.Worker, c.Class = slices.Insert(c.Worker, k, ""), slices.Insert(c.Class, k, "")
	for _, f := range []*Numbers{&c.Value, &c.Elapsed, &c.Spent, &c.Predicted, &c.Ended} {
		*f = slices.Insert(*f, k, nan)
	}
	for name, list := range c.Config {
		c.Config[name] = slices.Insert(list, k, any(nil))
	}
	for name, list := range c.Metrics {
		c.Metrics[name] = slices.Insert(list, k, nan)
	}
	t.conf = slices.Insert(t.conf, k, assay.Config(nil))
	t.row[id] = k
	for i := k + 1; i < len(c.ID); i++ {
		t.row[c.ID[i]] = i
	}
	return k
}

// put fills a row.
func (t *tally) put(k int, trial assay.Trial, e assay.Event) {
	j, c := t.rec.Trial(trial), &t.all
	if fresh := t.conf[k] == nil; fresh { // it is that of the proposal ever after
		t.conf[k] = trial.Config
		for name, list := range c.Config {
			list[k] = j.Config[name] // nil, which is null, if it is not there
		}
	}
	c.State[k], c.Reason[k], c.Started[k] = j.State.String(), j.Reason, j.Started.UnixMilli()
	c.Elapsed[k] = trial.Measurement.Elapsed.Seconds()
	if j.Value != nil {
		c.Value[k] = *j.Value
	}
	if j.Ended != nil {
		c.Ended[k] = float64(j.Ended.UnixMilli())
	}
	if e.Told != nil {
		c.Spent[k] = e.Spent.Seconds()
	}
	if d := trial.Decision; d != nil {
		c.Predicted[k] = t.rec.Goal.Show(d.Predicted)
	}
	for name, x := range j.Metrics {
		if assay.Finite(x) == nil {
			continue
		}
		if c.Metrics[name] == nil {
			c.Metrics[name] = make(Numbers, len(c.ID))
			for i := range c.Metrics[name] {
				c.Metrics[name][i] = math.NaN()
			}
		}
		c.Metrics[name][k] = x
	}
}
