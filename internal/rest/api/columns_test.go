package api

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/view"
)

// Columns, which are kept in memory and go on with the events, agree with the rows of the store
// after every step of a record in which trials are asked, told in another order, told unasked and
// withdrawn. Rows that were handed out earlier do not change. A page, which reads the updates alone, has the same.
func TestColumnsFollowTheRecord(t *testing.T) {
	r := newRig(t)
	rng := rand.New(rand.NewPCG(3, 4))
	ctx := t.Context()
	at := time.Unix(1700001000, 0).UTC()
	next := int64(100)
	var open []int64
	type handed struct {
		columns *view.Columns
		text    string
	}
	var earlier []handed
	page := map[int64]string{}
	for step := range 120 {
		var e assay.Event
		c := assay.Config{float64(1 + rng.IntN(5))}
		at = at.Add(time.Second)
		pick := func() int64 {
			i := rng.IntN(len(open))
			id := open[i]
			open = append(open[:i], open[i+1:]...)
			return id
		}
		tell := func(id int64) *assay.Trial {
			state := []assay.State{assay.Done, assay.Censored, assay.Failed}[rng.IntN(3)]
			v := rng.Float64()
			if state == assay.Failed {
				v = math.Inf(1)
			}
			return &assay.Trial{
				Proposal: assay.Proposal{ID: id, Config: c}, State: state, Value: v, Started: at.Add(-time.Second), Ended: at,
				Measurement: assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{fmt.Sprint("m", rng.IntN(3)): v}},
			}
		}
		switch k := rng.IntN(10); {
		case k < 4 || len(open) == 0:
			next++
			open = append(open, next)
			e.Asked = &assay.Proposal{ID: next, Config: c}
		case k < 7:
			e.Told = tell(pick())
		case k < 8:
			e.Told = tell(next - 50 - int64(rng.IntN(40))) // unasked, and maybe told before
		case k < 9:
			e.Started = &assay.Start{RunID: assay.RunID{Trial: open[0]}, Worker: "w"}
		default:
			e.Withdrawn = &assay.Withdrawal{Trial: pick(), Reason: "no"}
		}
		e.At = at
		sum, err := r.store.Summary(ctx, "tuned")
		if err != nil {
			t.Fatal(err)
		}
		if k := e.Told; k != nil { // the configuration of a trial is that of its proposal
			for row, err := range r.store.Trials(ctx, "tuned", k.ID-1, 1) {
				if err == nil && row.Trial.ID == k.ID {
					k.Config = row.Trial.Config
				}
			}
		}
		if _, err := r.store.Append(ctx, "tuned", assay.Position(sum.Events), e); err != nil {
			t.Fatal(err)
		}
		rec, err := result.Read(ctx, r.store, "tuned")
		if err != nil {
			t.Fatal(err)
		}
		u, err := r.tallies.update(ctx, rec, sum.Events+1, []assay.Event{e})
		if err != nil || u.Events != rec.Summary.Events || !u.At.Equal(at) {
			t.Fatalf("step %d: %+v, %v", step, u, err)
		}
		if u.Trials != nil {
			for k, id := range u.Trials.ID {
				page[id] = rowText(t, u.Trials, k)
			}
		}
		got, err := r.Server.trials(ctx, "tuned", 0, 1000, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, handed{got.Columns, fmt.Sprintf("%v", *got.Columns)})
		rows, err := r.Server.trials(ctx, "tuned", 0, 1000, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows.Rows) != len(got.Columns.ID) {
			t.Fatalf("step %d: %d rows, %d in columns", step, len(rows.Rows), len(got.Columns.ID))
		}
		for k, row := range rows.Rows {
			if now := rowText(t, got.Columns, k); page[row.ID] != now && row.ID > 100 {
				t.Fatalf("step %d: the page has %s, columns %s", step, page[row.ID], now)
			}
			row.Output, row.Step = nil, "" // columns have none
			a, err1 := json.Marshal(rowOf(got.Columns, k))
			b, err2 := json.Marshal(row)
			if err1 != nil || err2 != nil || string(a) != string(b) {
				t.Fatalf("step %d: columns say %s, rows %s", step, a, b)
			}
		}
	}
	for i, h := range earlier {
		if now := fmt.Sprintf("%v", *h.columns); now != h.text {
			t.Fatalf("what was handed out at step %d has changed:\n%s\n%s", i, h.text, now)
		}
	}
}

// rowText returns the k-th trial of columns as a text, with the fields that rows lack.
func rowText(t *testing.T, c *view.Columns, k int) string {
	t.Helper()
	b, err := json.Marshal(rowOf(c, k))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %d %v %v %s %s", b, c.Nth[k], c.Spent[k], c.Predicted[k], c.Worker[k], c.MachineClass[k])
}

// rowOf returns the k-th trial of columns as a row has it.
func rowOf(c *view.Columns, k int) view.Trial {
	out := view.Trial{
		ID: c.ID[k], State: c.State[k], Reason: c.Reason[k], Elapsed: c.Elapsed[k],
		Started: time.UnixMilli(c.Started[k]).UTC(),
		Config:  map[string]any{}, Metrics: map[string]float64{},
	}
	for name, list := range c.Config {
		out.Config[name] = list[k]
	}
	for name, list := range c.Metrics {
		if !math.IsNaN(list[k]) {
			out.Metrics[name] = list[k]
		}
	}
	if v := c.Value[k]; !math.IsNaN(v) {
		out.Value = &v
	}
	if ms := c.Ended[k]; !math.IsNaN(ms) {
		t := time.UnixMilli(int64(ms)).UTC()
		out.Ended = &t
	}
	return out
}
