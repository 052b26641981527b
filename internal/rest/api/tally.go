package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// gaps are numbers, some of which may be null.
type gaps []float64

// Schema implements [huma.SchemaProvider].
func (gaps) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeNumber, Nullable: true}}
}

// A field is a column that a request may leave out.
type field string

// Schema implements [huma.SchemaProvider].
func (field) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range view.Fields() {
		s.Enum = append(s.Enum, name)
	}
	return s
}

// namesOf returns fields as texts.
func namesOf(fields []field) (names []string) {
	for _, f := range fields {
		names = append(names, string(f))
	}
	return names
}

// describeViews describes the types of package view, which has no knowledge of schemas.
func describeViews(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[view.Numbers](), reflect.TypeFor[gaps]())
}

// A tally is the table of a study up to a position of its record, with the positions of other events about each trial.
// It is updated with new events, so that repeated requests do not read the whole record again.
type tally struct {
	mu    sync.Mutex
	rec   *result.Record
	table *assay.Table
	past  []moment
	restores
	used uint64 // guarded by tallies.mu
	rows int    // guarded by tallies.mu
}

// mostTallied limits the trials of idle studies that are kept in memory, over all studies together.
const mostTallied = 400_000

// tallies are the tallies of a server.
type tallies struct {
	store interface {
		assay.Store
		assay.Projector
	}
	mu    sync.Mutex
	of    map[string]*tally
	clock uint64
}

// columns returns rows of a study behind an id, at most limit of them, and the id behind which there are more, or 0.
func (ts *tallies) columns(
	ctx context.Context, r *result.Record, after int64, limit int, want []string,
) (*view.Columns, int64, error) {
	t, err := ts.lock(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	defer t.mu.Unlock()
	lines := t.table.Lines
	a, _ := slices.BinarySearchFunc(lines, after+1, func(l assay.Line, id int64) int { return cmp.Compare(l.ID, id) })
	b, next := len(lines), int64(0)
	if b-a > limit {
		b = a + limit
		next = lines[b-1].ID
	}
	return view.NewColumns(t.table, view.Places(a, b), want), next, nil
}

// update returns the changes made by events that end with number seq: the current state of the rows they concern.
func (ts *tallies) update(
	ctx context.Context, r *result.Record, seq int64, events []assay.Event,
) (*view.Update, error) {
	u := &view.Update{Events: seq}
	trials := map[int64]bool{}
	for _, e := range events {
		u.At, u.Spent, u.Ended = e.At, max(u.Spent, e.Spent.Seconds()), e.Ended != nil
		u.Answer = u.Answer || e.Steered != nil || e.Ended != nil || e.Checked != nil || e.Pruned != nil
		u.Queue = u.Queue || e.Started != nil || e.Booked != nil || e.Ordered != nil
		id, is := assay.TrialOf(e)
		if e.Started != nil {
			id, is = e.Started.Trial, true
		}
		if is {
			trials[id] = true
		}
	}
	if len(trials) == 0 {
		return u, nil
	}
	now := *r
	now.Summary.Events = seq
	t, err := ts.lock(ctx, &now)
	if err != nil {
		return nil, err
	}
	defer t.mu.Unlock()
	var places []int
	for id := range trials {
		if k, ok := t.table.Place(id); ok {
			places = append(places, k)
		}
	}
	if slices.Sort(places); len(places) > 0 {
		u.Trials, u.Queue = view.NewColumns(t.table, places, nil), true
	}
	return u, nil
}

// rowNotes returns an encoder that sends events of a study as rows.
func (ts *tallies) rowNotes(ctx context.Context, study string) (encoder, error) {
	r, err := result.Read(ctx, ts.store, study)
	return func(ctx context.Context, seq int64, events []assay.Event) (note, error) {
		u, err := ts.update(ctx, r, seq, events)
		if err != nil {
			return note{}, err
		}
		b, err := json.Marshal(u)
		return note{seq, fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", seq, rowsKind, b)}, err
	}, err
}

// lock returns the tally of a study, up to date with r. The caller unlocks it.
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
	if t.rec == nil || !t.rec.Summary.Created.Equal(r.Summary.Created) {
		t.begin(r) // it is new, or another one of that name
	}
	if at := t.table.Summary.Events; at < r.Summary.Events {
		for e, err := range ts.store.Events(ctx, r.Name, assay.Position(at)) {
			if err == nil {
				err = t.take(e)
			}
			if err != nil {
				t.rec = nil
				t.mu.Unlock()
				return nil, err
			}
		}
	}
	ts.keep(r.Name, t, len(t.table.Lines))
	return t, nil
}

// keep drops the least recently used tallies if too many trials are in memory.
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

// begin resets the tally.
func (t *tally) begin(r *result.Record) {
	t.rec, t.table, t.past = r, r.NewTable(), nil
	t.restores = restores{of: map[int64]int64{}, by: map[int64]int64{}}
}

// take takes the next event in.
func (t *tally) take(e assay.Event) error {
	if _, _, err := t.table.Take(e); err != nil {
		return fmt.Errorf("study %q: %w", t.rec.Name, err)
	}
	t.restores.take(e)
	for _, trial := range assay.About(e) {
		t.past = append(t.past, moment{trial, assay.Position(t.table.Summary.Events)})
	}
	return nil
}
