// This file checks a database of studies: the events are verified, and everything that follows from them is made
// again and compared. It knows three things that belong together:
//   - the chain of the records, which shows whether the events are whole
//   - record 0, from which a row of studies can be made again
//   - heads and trials, which are a projection of the events

package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-run/assay"
)

// FsckOptions are the options of a check of a store.
type FsckOptions struct {
	// Repair writes everything again that follows from the events: the names and specifications, the states of the
	// trials, the summaries and the indices. A study with a damaged event is left as it is; see [Salvage].
	Repair bool
}

// A Problem is one difference between the file and the written data.
type Problem struct {
	Study string // "" if it is not of one study
	Place string // "events 17", "trials 4", "heads", "integrity_check", ...
	What  string
	// Repaired is true if the repair has removed the problem.
	Repaired bool
}

// String returns the problem for people.
func (p Problem) String() string {
	s := p.Place + ": " + p.What
	if p.Study != "" {
		s = fmt.Sprintf("study %q: %s", p.Study, s)
	}
	if p.Repaired {
		s += " (repaired)"
	}
	return s
}

// A Report is the result of a check of a store.
type Report struct {
	// Events is the sum of the numbers of the last verified events, Trials the number of the trials made from them.
	Studies, Events, Trials int64 // that were checked
	Problems                []Problem
}

// OK reports whether no problem is left.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.Repaired })
}

// Add adds a problem.
func (r *Report) Add(study, place, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Study: study, Place: place, What: fmt.Sprintf(format, args...)})
}

// A Checker compares the projections of a database with its events, and writes them again. It belongs to one
// goroutine, and sees one moment of the database: DB is in a transaction. The queries use the tables in
// docs/format/store.md.
type Checker struct {
	DB interface {
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	}
	Report *Report
	Repair bool
	// Damage returns err, in the class [ErrDamaged] if the content of the database causes it.
	Damage func(err error) error
	// Text returns a text as the database can hold it; nil for a database that can hold any.
	Text func(string) string
	// PutTrial and PutHead write a row, for a repair.
	PutTrial func(ctx context.Context, study int64, c TrialColumns) error
	PutHead  func(ctx context.Context, study int64, hash []byte, sum assay.Summary) error
}

// Fault adds err to the report if it is damage, and returns it otherwise.
// Damage does not end the check: one run should find all there is.
func (f *Checker) Fault(study, place string, err error) error {
	err = f.Damage(err)
	if err == nil || !errors.Is(err, ErrDamaged) {
		return err
	}
	f.Report.Add(study, place, "%v", err)
	return nil
}

// Rows calls g for each row of the query; damage ends it with a problem.
// The rows behind the damage are not seen. An error of g that is not damage ends the check.
func (f *Checker) Rows(
	ctx context.Context, study, place string, g func(*sql.Rows) error, text string, args ...any,
) error {
	rows, err := f.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return f.Fault(study, place, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := g(rows); err != nil {
			return f.Fault(study, place, err)
		}
	}
	return f.Fault(study, place, rows.Err())
}

// Orphans looks for rows of studies that do not exist. Foreign keys prevent such rows, so they are damage. A repair
// leaves them: their study is unknown.
func (f *Checker) Orphans(ctx context.Context) error {
	for _, table := range []string{"events", "heads", "trials"} {
		err := f.Rows(ctx, "", table, func(rows *sql.Rows) error {
			var study, n int64
			err := rows.Scan(&study, &n)
			if err == nil {
				f.Report.Add("", table, "%d rows of study %d, which has no row in studies", n, study)
			}
			return err
		}, `SELECT study, count(*) FROM `+table+` WHERE study NOT IN (SELECT id FROM studies) GROUP BY study`)
		if err != nil {
			return err
		}
	}
	return nil
}

// A studyRow is a row of studies.
type studyRow struct {
	id            int64
	name, created string
	spec          []byte
}

// Studies checks each study. It reads the list first, because a repair changes the table.
func (f *Checker) Studies(ctx context.Context) error {
	var all []studyRow
	err := f.Rows(ctx, "", "studies", func(rows *sql.Rows) error {
		var st studyRow
		err := rows.Scan(&st.id, &st.name, &st.spec, &st.created)
		all = append(all, st)
		return err
	}, `SELECT id, name, spec, created FROM studies ORDER BY id`)
	if err != nil {
		return err
	}
	for _, st := range all {
		if err := f.study(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// A replayed is the projection of the events of one study.
type replayed struct {
	// creation has no name if record 0 is damaged or missing.
	creation Creation
	hash     []byte // of the last record
	// sum.Events is the number of the last event that was verified and decoded.
	sum    assay.Summary
	trials map[int64]TrialColumns
	states map[int64]assay.Trial // the same trials, for project
}

// study checks one study, and repairs it if its events are whole.
func (f *Checker) study(ctx context.Context, st studyRow) error {
	f.Report.Studies++
	before := len(f.Report.Problems)
	want, err := f.replay(ctx, st)
	if err != nil {
		return err
	}
	// Only a problem that replay has found makes a study impossible to repair: compare checks data that follow from the
	// events, and that can be written again.
	whole := len(f.Report.Problems) == before
	lost, err := f.compare(ctx, st, want)
	if err != nil {
		return err
	}
	problems := f.Report.Problems[before:]
	if !f.Repair || !whole || lost || len(problems) == 0 {
		return nil
	}
	// If the rewriting meets damage, the study may be left half rewritten. Its events are
	// untouched, and its problems stay unrepaired in the report.
	if err := f.rewrite(ctx, st.id, want); err != nil {
		return f.Fault(st.name, "repair", err)
	}
	for i := range problems {
		problems[i].Repaired = true
	}
	return nil
}

// replay verifies the records of a study and makes its projection. A record that does not verify is reported and left
// out; later records count. Every problem that replay adds means that the events are not whole.
func (f *Checker) replay(ctx context.Context, st studyRow) (replayed, error) {
	v, first := NewVerifier(0), false
	p := replayed{
		sum:    assay.NewSummary(st.name, ParseTimeOr(st.created)),
		trials: map[int64]TrialColumns{}, states: map[int64]assay.Trial{},
	}
	err := f.Rows(ctx, st.name, "events", func(rows *sql.Rows) error {
		r := Record{Study: st.id}
		var at string
		if err := rows.Scan(&r.Seq, &at, &r.Payload, &r.CRC, &r.Hash); err != nil {
			return err
		}
		// A study without any row of events gives the verifier nothing to find fault with. A repair
		// would give it the name "".
		first = first || r.Seq == 0
		place := fmt.Sprint("events ", r.Seq)
		if err := v.Check(r); err != nil {
			return f.Fault(st.name, place, err)
		}
		if err := p.apply(r, at); err != nil {
			f.Report.Add(st.name, place, "%v", err)
		}
		return nil
	}, `SELECT seq, at, payload, crc, hash FROM events WHERE study = $1 ORDER BY seq`, st.id)
	if !first {
		f.Report.Add(st.name, "events 0", "the creation of the study is missing")
	}
	f.Report.Events += p.sum.Events
	f.Report.Trials += int64(len(p.trials))
	p.hash = v.Hash
	return p, err
}

// apply goes on by the verified record r. at is the column of that name, which no checksum covers. The projection has
// taken in the event even if at is wrong.
func (p *replayed) apply(r Record, at string) (err error) {
	if r.Seq == 0 {
		if p.creation, err = DecodeCreation(r.Payload); err != nil {
			return err
		}
		p.sum.Study, p.sum.Created = p.creation.Study, p.creation.Created
		if at != TimeText(p.creation.Created) {
			err = fmt.Errorf("column at is %q", at)
		}
		return err
	}
	e, err := DecodeEvent(r.Payload)
	if err != nil {
		return err
	}
	id, _ := assay.TrialOf(e)
	old, known := p.states[id]
	p.sum.Events = r.Seq - 1 // also behind a record that was left out
	if row, changed := assay.Project(&p.sum, e, old, known); changed {
		// Project needs no more of a trial than this, and the rest may be large.
		p.states[id] = assay.Trial{Proposal: row.Trial.Proposal, State: row.Trial.State, Started: row.Trial.Started}
		if p.trials[id], err = NewTrialColumns(row); err != nil {
			return err
		}
	}
	if at != TimeText(e.At) {
		return fmt.Errorf("column at is %q", at)
	}
	return nil
}

// compare reports where the projection differs from the events. lost means that the projection knows of events that are
// not there, so that it must be kept. The creation is not compared if record 0 is damaged.
func (f *Checker) compare(ctx context.Context, st studyRow, want replayed) (lost bool, err error) {
	if c := want.creation; c.Study != "" {
		if c.Study != st.name || !bytes.Equal(c.Spec, st.spec) || TimeText(c.Created) != st.created {
			f.Report.Add(st.name, "studies", "name, specification or time differs from the creation of %q", c.Study)
		}
	}
	rows := 0
	err = f.Rows(ctx, st.name, "heads", func(r *sql.Rows) error {
		rows++
		_, hash, _, sum, err := ScanHead(r)
		if err != nil {
			return err
		}
		if sum.Events != want.sum.Events || !bytes.Equal(hash, want.hash) {
			// With the same number, the chain shows that the events are right. With the same hash, only the head's number is
			// wrong.
			lost = sum.Events != want.sum.Events && !bytes.Equal(hash, want.hash)
			f.Report.Add(st.name, "heads", "%d events with the hash %.8x were appended; there are %d with %.8x",
				sum.Events, hash, want.sum.Events, want.hash)
		} else if got, w := NewHeadColumns(sum), NewHeadColumns(want.sum).In(f.Text); got != w {
			f.Report.Add(st.name, "heads", "the summary is %v, not %v", got, w)
		}
		return nil
	}, `SELECT s.id, s.name, s.created, h.seq, h.hash, h.hash, `+SummaryColumns+`
		FROM heads h JOIN studies s ON s.id = h.study WHERE h.study = $1`, st.id)
	if err != nil {
		return lost, err
	}
	if rows == 0 {
		f.Report.Add(st.name, "heads", "the row is missing")
	}
	return lost, f.compareTrials(ctx, st, maps.Clone(want.trials))
}

// compareTrials empties want. The rest of want has no row. If damage ends the reading, the later rows count as
// missing.
func (f *Checker) compareTrials(ctx context.Context, st studyRow, want map[int64]TrialColumns) error {
	err := f.Rows(ctx, st.name, "trials", func(r *sql.Rows) error {
		var c TrialColumns
		err := r.Scan(&c.ID, &c.Seq, &c.State, &c.Value, &c.Config, &c.Metrics, &c.Reason, &c.Started, &c.Ended, &c.Attempts)
		if err != nil {
			return err
		}
		place := fmt.Sprint("trials ", c.ID)
		if w, ok := want[c.ID]; !ok {
			f.Report.Add(st.name, place, "no event is about this trial")
		} else if w = w.In(f.Text); c != w {
			f.Report.Add(st.name, place, "the row is %v, not %v", c, w)
		}
		delete(want, c.ID)
		return nil
	}, `SELECT id, seq, state, value, config, metrics, reason, started, ended, attempts FROM trials WHERE study = $1`,
		st.id)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		f.Report.Add(st.name, fmt.Sprint("trials ", id), "the row is missing")
	}
	return err
}

// rewrite writes the projection of a study again. It is for a study whose events are whole, in the transaction of a
// repair, on the connection that writes. All rows of trials are made anew, so one that no event is about goes.
func (f *Checker) rewrite(ctx context.Context, id int64, p replayed) error {
	c := p.creation
	if _, err := f.DB.ExecContext(ctx, `UPDATE studies SET name = $1, spec = $2, created = $3 WHERE id = $4`,
		c.Study, append([]byte{}, c.Spec...), TimeText(c.Created), id); err != nil {
		return err
	}
	if _, err := f.DB.ExecContext(ctx, `DELETE FROM trials WHERE study = $1`, id); err != nil {
		return err
	}
	for _, trial := range slices.Sorted(maps.Keys(p.trials)) {
		if err := f.PutTrial(ctx, id, p.trials[trial]); err != nil {
			return err
		}
	}
	return f.PutHead(ctx, id, p.hash, p.sum)
}
