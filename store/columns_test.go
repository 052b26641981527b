package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A value that is no number is NULL, and a metric for which JSON has no number is text.
func TestTrialColumns(t *testing.T) {
	row := assay.TrialRow{Seq: 7, Trial: assay.Trial{Proposal: assay.Proposal{ID: 3}, Value: math.NaN(), Attempts: 2}}
	c, err := NewTrialColumns(row)
	if err != nil || c.Value.Valid || c.Config != "[]" || c.Metrics != "{}" || c.Started != "" || c.Ended != "" {
		t.Errorf("of a trial that runs: %+v, %v", c, err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	row.Trial.Config, row.Trial.Value, row.Trial.State = assay.Config{1, 0.5}, -2, assay.Done
	row.Trial.Started, row.Trial.Reason = at, "why"
	row.Trial.Measurement.Metrics = map[string]float64{"a": 1, "b": math.Inf(-1), "c": math.NaN()}
	c, err = NewTrialColumns(row)
	want := TrialColumns{
		ID: 3, Seq: 7, State: "done", Value: nullable(-2, true), Config: "[1,0.5]", Metrics: `{"a":1,"b":"-Inf","c":"NaN"}`,
		Reason: "why", Started: "2026-01-02T03:04:05.000000006Z", Attempts: 2,
	}
	if err != nil || c != want {
		t.Errorf("got %+v, %v, want %+v", c, err, want)
	}
	shout := func(s string) string { return s + "!" }
	if got := c.In(shout).Reason; got != "why!" {
		t.Errorf("the reason of a database that cannot hold it is %q", got)
	}
	if c.In(nil) != c {
		t.Error("a database that can hold any text has another one")
	}
	row.Trial.Config[1] = math.Inf(1)
	if _, err := NewTrialColumns(row); err == nil {
		t.Error("a coordinate that is not finite has been taken")
	}
}

// A scanned gives the columns of a row to Scan.
type scanned []any

var errScan = errors.New("no such column")

func (s scanned) Scan(to ...any) error {
	if len(to) != len(s) {
		return errScan
	}
	for i := range to {
		switch to := to[i].(type) {
		case *int64:
			*to = s[i].(int64)
		case *string:
			*to = s[i].(string)
		case *[]byte:
			*to = s[i].([]byte)
		case interface{ Scan(any) error }:
			if err := to.Scan(s[i]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: %T", errScan, to)
		}
	}
	return nil
}

// A summary is read as it was written, and any other columns are damage.
func TestScanHead(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sum := assay.Summary{
		Study: "a", Created: at, Events: 9, Counts: map[assay.State]int64{assay.Done: 3, assay.Failed: 1},
		Best: 2, Value: 0.5, Spent: 8 * time.Second, First: at.Add(1), Last: at.Add(2), Checks: 4, Ended: "budget",
		Steered: "paused", Priority: -5, Lost: time.Minute,
	}
	row := func(sum assay.Summary) scanned {
		head := scanned{int64(17), "a", TimeText(sum.Created), sum.Events, []byte("hash"), []byte("last")}
		for _, x := range NewHeadColumns(sum).Args() {
			if v, ok := x.(driver.Valuer); ok {
				x, _ = v.Value()
			}
			head = append(head, x)
		}
		return head
	}
	check := func(sum assay.Summary) {
		t.Helper()
		id, hash, last, got, err := ScanHead(row(sum))
		if err != nil || id != 17 || string(hash) != "hash" || string(last) != "last" {
			t.Errorf("got %d, %q, %q, %v", id, hash, last, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(sum) {
			t.Errorf("got %+v, want %+v", got, sum)
		}
	}
	check(sum)
	none := assay.NewSummary("a", at)
	check(none) // without a best trial the value is +Inf
	if c := NewHeadColumns(none); c.Counts != "{}" || c.Value.Valid {
		t.Errorf("of nothing: %+v", c)
	}
	c := NewHeadColumns(sum).In(func(s string) string { return s + "!" })
	if c.Ended != "budget!" || c.Steered != "paused!" {
		t.Errorf("as a database has it: %+v", c)
	}
	sum.Counts[assay.Censored] = 0
	if c := NewHeadColumns(sum); c.Counts != `{"done":3,"failed":1}` {
		t.Errorf("a state of which there are none is written: %s", c.Counts)
	}
	zeros := row(none)
	zeros[6] = `{"done":0}`
	if _, _, _, got, err := ScanHead(zeros); err != nil || len(got.Counts) != 0 {
		t.Errorf("numbers of format 1: %v, %v", got.Counts, err)
	}
	for column, text := range map[int]string{2: "noon", 6: `{"well":1}`, 10: "noon", 11: "noon"} {
		damaged := row(sum)
		damaged[column] = text
		if _, _, _, _, err := ScanHead(damaged); !errors.Is(err, ErrDamaged) {
			t.Errorf("column %d is %q: got %v, want ErrDamaged", column, text, err)
		}
	}
	if _, _, _, _, err := ScanHead(scanned{}); !errors.Is(err, errScan) || errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want what Scan said", err)
	}
}

// A list is the same in pages of any size, and no page is asked for behind the last.
func TestPaged(t *testing.T) {
	for _, there := range []int{0, 1, PageRows - 1, PageRows, PageRows + 1, 3 * PageRows} {
		for _, n := range []int{0, 1, PageRows, PageRows + 1, 2 * PageRows} {
			asked := 0
			page := func(after, most int) ([]int, error) {
				asked++
				if most > PageRows || most < 1 {
					t.Errorf("%d of %d: a page of %d", n, there, most)
				}
				var p []int
				for i := after + 1; i <= there && len(p) < most; i++ {
					p = append(p, i)
				}
				return p, nil
			}
			want := there
			if n > 0 {
				want = min(n, there)
			}
			last := 0
			for i, err := range Paged(0, n, page, func(i int) int { return i }) {
				if err != nil || i != last+1 {
					t.Fatalf("%d of %d: %d follows %d, %v", n, there, i, last, err)
				}
				last = i
			}
			// A full page may have been the last, unless n shows that it was.
			pages := want/PageRows + 1
			if n > 0 && want == n && want%PageRows == 0 {
				pages--
			}
			if last != want || asked != pages {
				t.Errorf("%d of %d: got %d in %d pages, want %d in %d", n, there, last, asked, want, pages)
			}
		}
	}
	errPage := errors.New("damaged")
	var got []int
	half := func(int, int) ([]int, error) { return []int{1, 2}, errPage }
	for i, err := range Paged(0, 0, half, func(i int) int { return i }) {
		if err != nil && (i != 0 || !errors.Is(err, errPage)) {
			t.Errorf("got %d, %v", i, err)
		}
		got = append(got, i)
	}
	if !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("before the error there was %v", got)
	}
}

// A row is the trial of its record, and the row of a withdrawal is the trial as it was before.
func TestDecodeRow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record := func(e assay.Event) Record {
		b, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		return Record{Study: 2, Seq: 5, Payload: b, CRC: Checksum(2, 5, b)}
	}
	p := assay.Proposal{ID: 4, Config: assay.Config{1}}
	never := func() (assay.Trial, error) {
		t.Error("asked for a trial that was not withdrawn")
		return assay.Trial{}, nil
	}
	told := record(assay.Event{At: at, Told: &assay.Trial{Proposal: p, State: assay.Done, Value: 3}})
	row, err := DecodeRow(told, never)
	if err != nil || row.Seq != 5 || row.Trial.ID != 4 || row.Trial.State != assay.Done || row.Trial.Value != 3 {
		t.Errorf("told: %+v, %v", row, err)
	}
	asked := record(assay.Event{At: at, Asked: &p})
	if row, err = DecodeRow(asked, never); err != nil || row.Seq != 5 || row.Trial.State != assay.Running ||
		!row.Trial.Started.Equal(at) || row.Trial.Config[0] != 1 {
		t.Errorf("asked: %+v, %v", row, err)
	}
	gone := record(assay.Event{At: at, Withdrawn: &assay.Withdrawal{Trial: 4, By: "somebody", Reason: "too dear"}})
	before := func() (assay.Trial, error) { return AskedBefore(4, assay.Running, "[1]", "2026-01-01T00:00:00Z") }
	if row, err = DecodeRow(gone, before); err != nil || row.Trial.State != assay.Withdrawn || row.Trial.Config[0] != 1 ||
		row.Trial.Reason != "too dear" || row.Trial.Started.Day() != 1 || !row.Trial.Ended.Equal(at) {
		t.Errorf("withdrawn: %+v, %v", row, err)
	}
	damaged := func() (assay.Trial, error) { return AskedBefore(4, assay.Running, "[1", "") }
	if _, err := DecodeRow(gone, damaged); err == nil {
		t.Error("a withdrawal of a trial whose columns are damaged is read")
	}
	told.CRC++
	if _, err := DecodeRow(told, never); err == nil {
		t.Error("a record with a wrong checksum is read")
	}
	odd := Record{Study: 2, Seq: 5, Payload: []byte(`{}`), CRC: Checksum(2, 5, []byte(`{}`))}
	if _, err := DecodeRow(odd, never); err == nil {
		t.Error("an event of no kind is read")
	}
}

// The creation of a study is record 0, and has the name and the specification.
func TestCheckCreation(t *testing.T) {
	record := func(c Creation) Record {
		b, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return Record{Study: 2, Payload: b, CRC: Checksum(2, 0, b), Hash: link(Genesis(), 0, b)}
	}
	r := record(Creation{Study: "a", Spec: []byte("spec")})
	if err := CheckCreation(r, "a", []byte("spec")); err != nil {
		t.Error(err)
	}
	other := r
	other.CRC++
	for what, err := range map[string]error{
		"name":     CheckCreation(r, "b", []byte("spec")),
		"spec":     CheckCreation(r, "a", nil),
		"checksum": CheckCreation(other, "a", []byte("spec")),
		"no name":  CheckCreation(record(Creation{}), "", nil),
	} {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("another %s: got %v, want ErrDamaged", what, err)
		}
	}
}

// Coordinates are numbers that can be tried, whichever event has them.
func TestEncodeEventRefuses(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := assay.Proposal{ID: 1, Config: assay.Config{0, x}}
		for _, e := range []assay.Event{{Asked: &p}, {Told: &assay.Trial{Proposal: p}}} {
			want := fmt.Sprintf("coordinate 2 of the configuration is %v", x)
			if _, err := EncodeEvent(e); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}
