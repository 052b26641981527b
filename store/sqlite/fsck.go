// This file checks a file as a whole and writes again what the events imply. The order of
// trust is:
//   - events, whose checksums and hashes are verified; nothing here changes them
//   - record 0, from which a row of studies can be made again
//   - heads and trials, which are a projection of the events

package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// FsckOptions are the options of [Store.Fsck].
type FsckOptions struct {
	// Repair writes what can be derived from the events again: the names and
	// specifications, the states of the trials, the summaries and the indices.
	// A study with a damaged event is left as it is; see [Salvage].
	Repair bool
}

// A Problem is one difference between the file and what was written.
type Problem struct {
	Study string // "" if it is not of one study
	Place string // "events 17", "trials 4", "heads", "integrity_check", ...
	What  string
	// Repaired says that the repair has removed the problem.
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

// A Report is what [Store.Fsck] found.
type Report struct {
	// Events is the sum of the numbers of the last verified events, Trials that of the trials
	// made from them.
	Studies, Events, Trials int64 // that were checked
	Problems                []Problem
}

// OK reports whether no problem is left.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool { return !p.Repaired })
}

func (r *Report) add(study, place, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Study: study, Place: place, What: fmt.Sprintf(format, args...)})
}

// Fsck reads the whole file: it runs SQLite's own check, verifies checksum and
// hash of every event, makes the states of all trials from the events again and
// compares them row by row. The problems of the file are in the report; an
// error means that the check itself could not be done. It sees one moment of
// the file, and keeps other processes from writing only to repair. It holds the
// trials of one study in memory.
// With Repair, the check and the repair are one transaction. If it fails, it is undone, and
// what the report calls repaired is not. Without it, the transaction only reads, on a
// connection of its own.
func (s *Store) Fsck(ctx context.Context, opts FsckOptions) (r Report, err error) {
	f := &checker{s: s, report: &r, repair: opts.Repair}
	if opts.Repair {
		err = s.alone(ctx, func() error {
			f.c = s.conn
			return f.file(ctx)
		})
		return r, err
	}
	if err := cmp.Or(ctx.Err(), s.usable(ctx)); err != nil {
		return r, err
	}
	if f.c, err = s.reads.Load().Conn(ctx); err != nil {
		return r, classify(err)
	}
	defer f.c.Close()
	if _, err := f.c.ExecContext(ctx, "BEGIN"); err != nil {
		return r, classify(err)
	}
	defer func() { _, _ = f.c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	return r, f.file(ctx)
}

// A checker is one run of Fsck. It belongs to one goroutine.
type checker struct {
	s *Store
	// c is in a transaction. For a repair it is the connection that writes, and the run has the
	// turn.
	c      *sql.Conn
	report *Report
	repair bool
}

// fault adds err to the report if it is damage, and returns it otherwise.
// Damage does not end the check: one run should find all there is.
func (f *checker) fault(study, place string, err error) error {
	err = scanError(classify(err))
	if err == nil || !errors.Is(err, ErrDamaged) {
		return err
	}
	f.report.add(study, place, "%v", err)
	return nil
}

func (f *checker) file(ctx context.Context) error {
	if f.repair {
		// The indices come first: the queries that follow may use them, and a wrong one hides
		// rows. What REINDEX has put right is not in the report.
		if _, err := f.c.ExecContext(ctx, "REINDEX"); err != nil {
			if err := f.fault("", "indices", err); err != nil {
				return err
			}
		}
	}
	for _, check := range []func(context.Context) error{f.schema, f.integrity, f.orphans, f.studies} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rows calls g for each row of the query; damage ends it with a problem.
// The rows behind the damage are not seen. An error of g that is not damage ends the check.
func (f *checker) rows(
	ctx context.Context, study, place string, g func(*sql.Rows) error, text string, args ...any,
) error {
	rows, err := f.c.QueryContext(ctx, text, args...)
	if err != nil {
		return f.fault(study, place, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := g(rows); err != nil {
			return f.fault(study, place, err)
		}
	}
	return f.fault(study, place, rows.Err())
}

// schema compares the definitions of the tables with those of a new file.
// It compares the text as SQLite keeps it, so a new file must be made by the same migrations.
func (f *checker) schema(ctx context.Context) error {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	// Each connection to :memory: has a database of its own, so the two uses share one.
	fresh, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer fresh.Close()
	if err := migrate(ctx, fresh, f.s.opts.migrations, nil); err != nil {
		return err
	}
	want, err := schemaText(ctx, fresh)
	if err != nil {
		return err
	}
	got, err := schemaText(ctx, f.c)
	if err != nil {
		return f.fault("", "sqlite_schema", err)
	}
	for name := range want {
		if got[name] != want[name] {
			f.report.add("", "sqlite_schema", "the definition of %s is %q, not %q", name, got[name], want[name])
		}
		delete(got, name)
	}
	for name := range got {
		f.report.add("", "sqlite_schema", "%s is not ours", name)
	}
	return nil
}

// integrity runs SQLite's own check of b-trees, indices and constraints. Its 1000 is the most
// problems that it lists; SQLite's default is 100.
func (f *checker) integrity(ctx context.Context) error {
	return f.rows(ctx, "", "integrity_check", func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if text != "ok" {
			f.report.add("", "integrity_check", "%s", text)
		}
		return nil
	}, "PRAGMA integrity_check(1000)")
}

// orphans looks for rows of studies that there are not.
// Foreign keys prevent such rows, so they are damage. A repair leaves them: nothing says what
// they were.
func (f *checker) orphans(ctx context.Context) error {
	for _, table := range []string{"events", "heads", "trials"} {
		err := f.rows(ctx, "", table, func(rows *sql.Rows) error {
			var study, n int64
			err := rows.Scan(&study, &n)
			if err == nil {
				f.report.add("", table, "%d rows of study %d, which has no row in studies", n, study)
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

// studies checks each study. It reads the list first, because a repair changes the table.
func (f *checker) studies(ctx context.Context) error {
	var all []studyRow
	err := f.rows(ctx, "", "studies", func(rows *sql.Rows) error {
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

// A replayed is what the events of one study say.
type replayed struct {
	// creation has no name if record 0 is damaged or missing.
	creation store.Creation
	hash     []byte // of the last record
	// sum.Events is the number of the last event that was verified and decoded.
	sum    assay.Summary
	trials map[int64]trialColumns
	states map[int64]assay.Trial // the same trials, for project
}

// study checks one study, and repairs it if its events are whole.
func (f *checker) study(ctx context.Context, st studyRow) error {
	f.report.Studies++
	before := len(f.report.Problems)
	want, err := f.replay(ctx, st)
	if err != nil {
		return err
	}
	// Only what replay has found makes a study impossible to repair: compare finds what follows
	// from the events, and that can be written again.
	whole := len(f.report.Problems) == before
	lost, err := f.compare(ctx, st, want)
	if err != nil {
		return err
	}
	problems := f.report.Problems[before:]
	if !f.repair || !whole || lost || len(problems) == 0 {
		return nil
	}
	// If the rewriting meets damage, the study may be left half rewritten. Its events are
	// untouched, and its problems stay unrepaired in the report.
	if err := f.rewrite(ctx, st.id, want); err != nil {
		return f.fault(st.name, "repair", err)
	}
	for i := range problems {
		problems[i].Repaired = true
	}
	return nil
}

// replay verifies the records of a study and makes its projection.
// A record that does not verify is reported and left out; those behind it count. Every problem
// that replay adds says that the events are not whole.
func (f *checker) replay(ctx context.Context, st studyRow) (replayed, error) {
	v, first := store.NewVerifier(0), false
	p := replayed{
		sum:    store.NewSummary(st.name, parseTimeOr(st.created)),
		trials: map[int64]trialColumns{}, states: map[int64]assay.Trial{},
	}
	err := f.rows(ctx, st.name, "events", func(rows *sql.Rows) error {
		r := store.Record{Study: st.id}
		var at string
		if err := rows.Scan(&r.Seq, &at, &r.Payload, &r.CRC, &r.Hash); err != nil {
			return err
		}
		// A study without any row of events gives the verifier nothing to find fault with. A repair
		// would give it the name "".
		first = first || r.Seq == 0
		place := fmt.Sprint("events ", r.Seq)
		if err := v.Check(r); err != nil {
			return f.fault(st.name, place, err)
		}
		if err := p.apply(r, at); err != nil {
			f.report.add(st.name, place, "%v", err)
		}
		return nil
	}, `SELECT seq, at, payload, crc, hash FROM events WHERE study = ? ORDER BY seq`, st.id)
	if !first {
		f.report.add(st.name, "events 0", "the creation of the study is missing")
	}
	f.report.Events += p.sum.Events
	f.report.Trials += int64(len(p.trials))
	p.hash = v.Hash
	return p, err
}

// apply goes on by the verified record r.
// at is the column of that name, which no checksum covers. The projection has taken in the
// event even if at is wrong.
func (p *replayed) apply(r store.Record, at string) (err error) {
	if r.Seq == 0 {
		if p.creation, err = store.DecodeCreation(r.Payload); err != nil {
			return err
		}
		p.sum.Study, p.sum.Created = p.creation.Study, p.creation.Created
		if at != timeText(p.creation.Created) {
			err = fmt.Errorf("column at is %q", at)
		}
		return err
	}
	e, err := store.DecodeEvent(r.Payload)
	if err != nil {
		return err
	}
	id, _ := store.TrialOf(e)
	old, known := p.states[id]
	p.sum.Events = r.Seq - 1 // also behind a record that was left out
	if row, changed := store.Project(&p.sum, e, old, known); changed {
		// Project needs no more of a trial than this, and the rest may be large.
		p.states[id] = assay.Trial{Proposal: row.Trial.Proposal, State: row.Trial.State, Started: row.Trial.Started}
		if p.trials[id], err = newTrialColumns(row); err != nil {
			return err
		}
	}
	if at != timeText(e.At) {
		return fmt.Errorf("column at is %q", at)
	}
	return nil
}

// compare reports where the projection differs from the events. lost means that
// the projection knows of events that are not there, so that it must be kept.
// The creation is not compared if record 0 is damaged.
func (f *checker) compare(ctx context.Context, st studyRow, want replayed) (lost bool, err error) {
	if c := want.creation; c.Study != "" {
		if c.Study != st.name || !bytes.Equal(c.Spec, st.spec) || timeText(c.Created) != st.created {
			f.report.add(st.name, "studies", "name, specification or time differs from the creation of %q", c.Study)
		}
	}
	rows := 0
	err = f.rows(ctx, st.name, "heads", func(r *sql.Rows) error {
		rows++
		_, hash, _, sum, err := scanHead(r)
		if err != nil {
			return err
		}
		if sum.Events != want.sum.Events || !bytes.Equal(hash, want.hash) {
			// With the same number, the chain says that the events are right.
			// With the same hash, only the head's number is wrong.
			lost = sum.Events != want.sum.Events && !bytes.Equal(hash, want.hash)
			f.report.add(st.name, "heads", "%d events with the hash %.8x were appended; there are %d with %.8x",
				sum.Events, hash, want.sum.Events, want.hash)
		} else if got := newHeadColumns(sum); got != newHeadColumns(want.sum) {
			f.report.add(st.name, "heads", "the summary is %v, not %v", got, newHeadColumns(want.sum))
		}
		return nil
	}, `SELECT s.id, s.name, s.created, h.seq, h.hash, h.hash, `+summaryColumns+`
		FROM heads h JOIN studies s ON s.id = h.study WHERE h.study = ?`, st.id)
	if err != nil {
		return lost, err
	}
	if rows == 0 {
		f.report.add(st.name, "heads", "the row is missing")
	}
	return lost, f.compareTrials(ctx, st, maps.Clone(want.trials))
}

// compareTrials empties want.
// What is left of want has no row. If damage ends the reading, the rows behind it count as
// missing.
func (f *checker) compareTrials(ctx context.Context, st studyRow, want map[int64]trialColumns) error {
	err := f.rows(ctx, st.name, "trials", func(r *sql.Rows) error {
		var c trialColumns
		err := r.Scan(&c.id, &c.seq, &c.state, &c.value, &c.config, &c.metrics, &c.reason, &c.started, &c.ended, &c.attempts)
		if err != nil {
			return err
		}
		place := fmt.Sprint("trials ", c.id)
		if w, ok := want[c.id]; !ok {
			f.report.add(st.name, place, "no event is about this trial")
		} else if c != w {
			f.report.add(st.name, place, "the row is %v, not %v", c, w)
		}
		delete(want, c.id)
		return nil
	}, `SELECT id, seq, state, value, config, metrics, reason, started, ended, attempts FROM trials WHERE study = ?`,
		st.id)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		f.report.add(st.name, fmt.Sprint("trials ", id), "the row is missing")
	}
	return err
}

// rewrite writes the projection of a study again.
// It is for a study whose events are whole, in the transaction of a repair, on the connection
// that writes. All rows of trials are made anew, so one that no event is about goes.
func (f *checker) rewrite(ctx context.Context, id int64, p replayed) error {
	c := p.creation
	if _, err := f.c.ExecContext(ctx, `UPDATE studies SET name = ?, spec = ?, created = ? WHERE id = ?`,
		c.Study, append([]byte{}, c.Spec...), timeText(c.Created), id); err != nil {
		return err
	}
	if _, err := f.c.ExecContext(ctx, `DELETE FROM trials WHERE study = ?`, id); err != nil {
		return err
	}
	for _, trial := range slices.Sorted(maps.Keys(p.trials)) {
		if _, err := f.s.stmts.trial.ExecContext(ctx, append([]any{id}, p.trials[trial].args()...)...); err != nil {
			return err
		}
	}
	return f.s.advance(id, p.hash, p.sum)
}
