package assaytest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// StoreOptions describe further promises of a store. The zero value is a store that is lost with the process.
type StoreOptions struct {
	// Reopen closes the store and returns another on the same studies; nil for a store that is lost when it is closed.
	Reopen func(t *testing.T, s assay.Store) assay.Store
}

// TestStore checks the contract of [assay.Store], and the contracts of [assay.Remover] and [assay.Locker] if the store
// implements them. newStore returns an empty store and ends it with t.Cleanup.
func TestStore(t *testing.T, newStore func(t *testing.T) assay.Store, opts StoreOptions) {
	for _, c := range storeCases() {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			c.run(t, s, opts)
			if t.Failed() {
				t.Logf("the rule: %s", c.rule)
			}
		})
	}
}

type storeCase struct {
	name, rule string
	run        func(t *testing.T, s assay.Store, opts StoreOptions)
}

func storeCases() []storeCase {
	return []storeCase{
		{
			"Create", "Create makes a study with no events; a second of that name matches fs.ErrExist and " +
				"changes nothing", testCreate,
		},
		{"NotExist", "a study that does not exist is an error that matches fs.ErrNotExist", testNotExist},
		{"Spec", "Spec returns the bytes given to Create, unchanged", testSpec},
		{
			"Names", "any text of up to 200 characters is a name, the empty one is not; Studies yields them in " +
				"lexical order", testNames,
		},
		{"RoundTrip", "an event is read back as it was appended, without the output of the trial", testRoundTrip},
		{"Order", "Events yields the events in the order of their Append", testOrder},
		{"Conflict", "Append at another place than the end is ErrConflict and adds nothing", testConflict},
		{
			"AppendTwice", "the same events at the same place are no error, also if others follow them; different " +
				"events are ErrConflict", testAppendTwice,
		},
		{"OneWins", "of two that append at one position exactly one succeeds", testOneWins},
		{"After", "Events begins behind the position that it is given", testAfter},
		{"AllOrNone", "Append adds all events or none", testAllOrNone},
		{"NoAlias", "the store shares no memory with its callers", testNoAlias},
		{
			"AppendWhileIterating", "an iteration neither blocks an Append nor is blocked by one",
			testAppendWhileIterating,
		},
		{"EarlyBreak", "a caller may stop an iteration at any time, any number of times", testEarlyBreak},
		{"TwoPasses", "an iterator can be used again", testTwoPasses},
		{"Concurrency", "a store is safe for concurrent use: nothing is lost, doubled or reordered", testConcurrency},
		{"Cancelled", "a cancelled context ends a call with its error, and Append without a trace", testCancelled},
		{
			"Reopen", "studies and events are there after the store is opened again, once Append or Create returned nil",
			testReopen,
		},
		{"Remover", "Remove forgets the study and its events; the name can be used again", testRemover},
		{"Locker", "at most one owner per study; the lock ends with release", testLocker},
	}
}

func testCreate(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx := t.Context()
	noStoreErr(t, s.Create(ctx, "a", []byte("spec")))
	if got := mustEvents(t, s, "a"); len(got) != 0 {
		t.Errorf("got %d events in a new study, want 0", len(got))
	}
	noStoreErr(t, add(ctx, s, "a", askedEvent(1)))
	if err := s.Create(ctx, "a", []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: got %v, want fs.ErrExist", err)
	}
	if spec, err := s.Spec(ctx, "a"); err != nil || string(spec) != "spec" {
		t.Errorf("Spec after a second Create: got %q, %v, want %q", spec, err, "spec")
	}
	checkEvents(t, s, "a", []assay.Event{askedEvent(1)})
}

func testNotExist(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx := t.Context()
	noStoreErr(t, s.Create(ctx, "there", nil))
	for _, name := range []string{"missing", "ther", "there ", "THERE"} {
		if _, err := s.Spec(ctx, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Spec(%q): got %v, want fs.ErrNotExist", name, err)
		}
		for _, events := range [][]assay.Event{nil, {askedEvent(1)}} {
			if _, err := s.Append(ctx, name, 0, events...); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Append(%q) of %d events: got %v, want fs.ErrNotExist", name, len(events), err)
			}
		}
		n := 0
		for _, err := range s.Events(ctx, name, 0) {
			if n++; !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Events(%q): got %v, want fs.ErrNotExist", name, err)
			}
		}
		if n != 1 {
			t.Errorf("Events(%q): got %d pairs, want one with the error", name, n)
		}
	}
	if got := mustStudies(t, s); !slices.Equal(got, []string{"there"}) {
		t.Errorf("Studies: got %q, want only %q", got, "there")
	}
}

func testSpec(t *testing.T, s assay.Store, opts StoreOptions) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	specs := [][]byte{nil, {}, []byte("name: x\n"), all, []byte(strings.Repeat("long ", 20_000))}
	for i, spec := range specs {
		noStoreErr(t, s.Create(t.Context(), fmt.Sprint(i), spec))
	}
	if opts.Reopen != nil {
		s = opts.Reopen(t, s)
	}
	for i, want := range specs {
		got, err := s.Spec(t.Context(), fmt.Sprint(i))
		if err != nil || string(got) != string(want) {
			t.Errorf("spec %d: got %d bytes, %v, want the same %d bytes", i, len(got), err, len(want))
		}
	}
}

// oddNames are names of studies that break stores which use them in file names, in SQL, in URLs or in patterns.
func oddNames() []string {
	return []string{
		"a", "A", "a b", " a", "a ", "a/b", "/a", "../a", ".", "..", "a\\b", "a:b", "a?b", "a#b", "a%b", "a%2fb",
		"a+b", "a&b",
		"a'b", `a"b`, "a;drop table studies", "a\nb", "a\tb", "*", "-a", "--", "ä", "a\u0308", "速度", "🔬", "\u202eabc",
		"null", "0", "CON",
		strings.Repeat("x", 200), strings.Repeat("é", 200),
	}
}

func testNames(t *testing.T, s assay.Store, opts StoreOptions) {
	ctx := t.Context()
	names := oddNames()
	for i, name := range names {
		if err := s.Create(ctx, name, []byte(name)); err != nil {
			t.Fatalf("Create(%q): %v", name, err)
		}
		noStoreErr(t, add(ctx, s, name, askedEvent(int64(i+1))))
	}
	if err := s.Create(ctx, "", nil); err == nil {
		t.Error("Create of a study with the empty name: got no error")
	}
	if opts.Reopen != nil {
		s = opts.Reopen(t, s)
	}
	for i, name := range names {
		if spec, err := s.Spec(ctx, name); err != nil || string(spec) != name {
			t.Errorf("Spec(%q): got %q, %v", name, spec, err)
		}
		checkEvents(t, s, name, []assay.Event{askedEvent(int64(i + 1))})
	}
	slices.Sort(names)
	if got := mustStudies(t, s); !slices.Equal(got, names) {
		t.Errorf("Studies:\ngot  %q\nwant %q", got, names)
	}
}

func testRoundTrip(t *testing.T, s assay.Store, opts StoreOptions) {
	want := oddEvents()
	noStoreErr(t, s.Create(t.Context(), "a", nil))
	for i, e := range want {
		if err := add(t.Context(), s, "a", e); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	if opts.Reopen != nil {
		s = opts.Reopen(t, s)
	}
	checkEvents(t, s, "a", want)
	for _, e := range mustEvents(t, s, "a") {
		if e.Told != nil && (e.Told.Measurement.Stdout != nil || e.Told.Measurement.Stderr != nil) {
			t.Errorf("trial %d has its output, which is not part of the record", e.Told.ID)
		}
	}
}

// oddEvents are events with every number, time and text that a format may fail to keep.
func oddEvents() []assay.Event {
	at, trial := oddTime, oddTrial
	return []assay.Event{
		{At: at, Spent: 3, Asked: &assay.Proposal{ID: 1, Config: assay.Config{0}}},
		{At: time.Time{}, Asked: &assay.Proposal{ID: math.MaxInt64}},
		trial(1, assay.Done, 0.1, nil),
		trial(2, assay.Failed, math.Inf(1), func(t *assay.Trial) {
			t.Reason = "exit 139: \"quoted\", <tag>, \n\x00 and 速度"
			t.Measurement.ExitCode, t.Measurement.Signal = 139, "SIGSEGV"
			t.Measurement.Stdout, t.Measurement.Stderr = []byte("out"), []byte("err")
		}),
		trial(3, assay.Done, math.Inf(-1), nil),
		trial(4, assay.Failed, math.NaN(), nil),
		trial(5, assay.Censored, 5, func(t *assay.Trial) {
			t.Decision = &assay.Decision{Stop: true, Reason: "slower", Predicted: math.NaN(), At: 5}
		}),
		trial(6, assay.Censored, 5, func(t *assay.Trial) { t.Decision = &assay.Decision{Predicted: math.Inf(1)} }),
		trial(7, assay.Infeasible, math.Copysign(0, -1), func(t *assay.Trial) {
			t.Measurement.Metrics = map[string]float64{
				"a": math.NaN(), "b": math.Inf(1), "c": math.Inf(-1), "": 0,
				"metrics/x": math.NaN(), "d": 1,
			}
		}),
		trial(8, assay.Done, 1, func(t *assay.Trial) {
			t.Measurement.Metrics = nil
			t.Started, t.Ended, t.Attempts = time.Time{}, time.Time{}, 0
		}),
		trial(9, assay.Done, 1, func(t *assay.Trial) { t.Measurement.Metrics = map[string]float64{} }),
		trial(10, assay.Running, 2, nil),
		trial(11, assay.Done, 1, func(t *assay.Trial) { t.Reason = strings.Repeat("very long ", 10_000) }),
		trial(-1, assay.Done, 1, nil),
		checked(trial(12, assay.Done, 1.5, nil)),
		raced(trial(12, assay.Done, 1.25, nil)),
		checked(trial(13, assay.Failed, math.NaN(), func(t *assay.Trial) {
			t.Measurement.Metrics = map[string]float64{"a": math.Inf(-1)}
		})),
		{At: at, Asked: &assay.Proposal{ID: 14, Config: assay.Config{1}}, Batch: 3},
		{At: at, Asked: &assay.Proposal{ID: 15, Config: assay.Config{1}}, Batch: -1, Memo: []byte("a memo \x00\xff")},
		{At: at, Started: &assay.Start{
			RunID:  assay.RunID{Study: "a", Trial: 14, Repeat: 2, Attempt: 1},
			Worker: "somewhere", MachineClass: "9f3a",
		}},
		{At: at, Booked: &assay.AttemptEnd{
			RunID: assay.RunID{Study: "a", Trial: 14, Repeat: 2, Attempt: 1}, Worker: "somewhere", Why: "lost",
			Extra: true, Reason: "no heartbeat", Measurement: assay.Measurement{
				Elapsed: time.Second, ExitCode: 137, Signal: "killed",
				Metrics: map[string]float64{"a": math.Inf(1), "b": 2, "c": math.NaN()},
			},
		}},
		{At: at, Drifted: &assay.Drift{
			Worker: "somewhere", MachineClass: "9f3a", Ratio: 1.125, Since: at, Trials: []int64{14, 15}, Reason: "why",
		}},
		{At: at, Drifted: &assay.Drift{Worker: "somewhere", Over: true}},
		redone(trial(14, assay.Done, 1.25, func(t *assay.Trial) {
			t.Measurement.Worker, t.Measurement.MachineClass = "elsewhere", "9f3a"
		})),
		{At: at, Given: &assay.Batch{Configs: []assay.Config{{1, 2}, {3, 4}}, By: "somebody"}},
		{At: at, Steered: &assay.StudyCommand{
			Do: "budget", Priority: -1, Trials: 3, Time: time.Minute, By: "somebody", Reason: "why",
		}},
		{At: at, Pruned: &assay.Pruned{
			Param: "x", Values: []string{"1", "4..7"}, Study: "old", Correlation: -0.5,
			Alpha: 0.7, Reason: "why",
		}},
		{At: at, Ordered: &assay.Order{Trial: 14, Priority: -3, By: "somebody"}},
		{At: at, Withdrawn: &assay.Withdrawal{Trial: 14, By: "somebody", Reason: "<why>"}},
		trial(16, assay.Withdrawn, math.Inf(1), nil),
		{At: at, Spent: 1, Ended: &assay.End{By: "budget", Short: "the time budget was spent"}},
		{At: at, Ended: &assay.End{}},
	}
}

var oddTime = time.Date(2026, 3, 1, 12, 30, 15, 123456789, time.FixedZone("", -5400))

// oddTrial is an event with the result of a trial.
func oddTrial(id int64, state assay.State, value float64, change func(*assay.Trial)) assay.Event {
	t := &assay.Trial{
		Proposal: assay.Proposal{ID: id, Config: assay.Config{
			1, 0.1, math.Copysign(0, -1), 1e300, 5e-324,
			math.MaxFloat64,
		}},
		State: state,
		Value: value,
		Measurement: assay.Measurement{
			Elapsed: 1234567891,
			Metrics: map[string]float64{"rss_B": 1 << 40, "ipc": 1.0 / 3},
		},
		Attempts: 1,
		Started:  oddTime,
		Ended:    oddTime.Add(1),
	}
	if change != nil {
		change(t)
	}
	return assay.Event{At: oddTime.Add(time.Duration(id)), Spent: time.Duration(id) * 7, Told: t}
}

func checked(e assay.Event) assay.Event {
	e.Told, e.Checked = nil, e.Told
	return e
}

func raced(e assay.Event) assay.Event {
	e = checked(e)
	e.Race = true
	return e
}

func redone(e assay.Event) assay.Event {
	e = raced(e)
	e.Redone = true
	return e
}

func testOrder(t *testing.T, s assay.Store, _ StoreOptions) {
	noStoreErr(t, s.Create(t.Context(), "a", nil))
	var want []assay.Event
	for id := int64(0); len(want) < 1000; {
		var batch []assay.Event
		for range 1 + id%60 {
			id++
			batch = append(batch, askedEvent(id))
		}
		noStoreErr(t, add(t.Context(), s, "a", batch...))
		want = append(want, batch...)
	}
	checkEvents(t, s, "a", want)
}

func testAllOrNone(t *testing.T, s assay.Store, _ StoreOptions) {
	noStoreErr(t, s.Create(t.Context(), "a", nil))
	noStoreErr(t, add(t.Context(), s, "a"))
	noStoreErr(t, add(t.Context(), s, "a", askedEvent(1)))
	both := toldEvent(3, 1)
	both.Asked = askedEvent(3).Asked
	for name, bad := range map[string]assay.Event{
		"of no kind":          {},
		"of two kinds":        both,
		"of an unknown state": {Told: &assay.Trial{State: 99}},
	} {
		if _, err := s.Append(t.Context(), "a", 1, askedEvent(2), bad, askedEvent(4)); err == nil {
			t.Errorf("an event %s: got no error", name)
		}
	}
	checkEvents(t, s, "a", []assay.Event{askedEvent(1)})
}

func testNoAlias(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx := t.Context()
	spec := []byte("spec")
	noStoreErr(t, s.Create(ctx, "a", spec))
	spec[0] = 'X'
	e := toldEvent(1, 2)
	events := []assay.Event{e}
	noStoreErr(t, add(ctx, s, "a", events...))
	e.Told.Value, e.Told.Config[0], e.Told.Measurement.Metrics["m"] = 99, 99, 99
	events[0] = askedEvent(7)
	for _, got := range mustEvents(t, s, "a") {
		got.Told.Value, got.Told.Config[0], got.Told.Measurement.Metrics["m"] = 98, 98, 98
	}
	if got, err := s.Spec(ctx, "a"); err == nil && len(got) > 1 {
		got[1] = 'X'
	}
	if got, err := s.Spec(ctx, "a"); err != nil || string(got) != "spec" {
		t.Errorf("spec: got %q, %v, want %q", got, err, "spec")
	}
	checkEvents(t, s, "a", []assay.Event{toldEvent(1, 2)})
}

func testAppendWhileIterating(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of a deadlock
	defer cancel()
	const before = 600
	want := fillStudy(t, s, "a", before)
	noStoreErr(t, s.Create(ctx, "b", nil))
	n := 0
	for e, err := range s.Events(ctx, "a", 0) {
		noStoreErr(t, err)
		if n < before && !SameEvent(e, want[n]) {
			t.Fatalf("event %d: got %+v, want %+v", n, e, want[n])
		}
		if n%50 == 0 && n < before {
			noStoreErr(t, add(ctx, s, "a", askedEvent(int64(before+n))))
			noStoreErr(t, add(ctx, s, "b", askedEvent(int64(n))))
			if got := len(mustEvents(t, s, "b")); got != n/50+1 {
				t.Fatalf("a nested iteration: got %d events, want %d", got, n/50+1)
			}
		}
		n++
	}
	if n < before || n > before+before/50 {
		t.Errorf("got %d events of %d, with %d appended meanwhile", n, before, before/50)
	}
	if got := len(mustEvents(t, s, "a")); got != before+before/50 {
		t.Errorf("got %d events afterwards, want %d", got, before+before/50)
	}
}

func testEarlyBreak(t *testing.T, s assay.Store, _ StoreOptions) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // of a leak
	defer cancel()
	want := fillStudy(t, s, "a", 20)
	noStoreErr(t, s.Create(ctx, "b", nil))
	for range 100 {
		for e, err := range s.Events(ctx, "a", 0) {
			noStoreErr(t, err)
			if !SameEvent(e, want[0]) {
				t.Fatalf("got %+v first, want %+v", e, want[0])
			}
			break
		}
		for name, err := range s.Studies(ctx) {
			noStoreErr(t, err)
			if name != "a" {
				t.Fatalf("got %q first, want %q", name, "a")
			}
			break
		}
		next, stop := iter.Pull2(s.Events(ctx, "a", 0))
		next()
		stop()
	}
	noStoreErr(t, add(ctx, s, "a", askedEvent(21)))
}

func testTwoPasses(t *testing.T, s assay.Store, _ StoreOptions) {
	fillStudy(t, s, "a", 5)
	events, studies := s.Events(t.Context(), "a", 0), s.Studies(t.Context())
	for _, want := range []int{5, 6} {
		n := 0
		for _, err := range events {
			noStoreErr(t, err)
			n++
		}
		for _, err := range studies {
			noStoreErr(t, err)
			n += 100
		}
		if n != want+100 {
			t.Errorf("got %d events and %d studies, want %d and 1", n%100, n/100, want)
		}
		noStoreErr(t, add(t.Context(), s, "a", askedEvent(6)))
	}
}

func testCancelled(t *testing.T, s assay.Store, _ StoreOptions) {
	want := fillStudy(t, s, "a", 5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", what, err)
		}
	}
	check("Create", s.Create(ctx, "b", nil))
	_, err := s.Append(ctx, "a", 5, askedEvent(6))
	check("Append", err)
	_, err = s.Spec(ctx, "a")
	check("Spec", err)
	_, err = collectPairs(s.Events(ctx, "a", 0))
	check("Events", err)
	_, err = collectPairs(s.Studies(ctx))
	check("Studies", err)
	if r, ok := s.(assay.Remover); ok {
		check("Remove", r.Remove(ctx, "a"))
	}
	if l, ok := s.(assay.Locker); ok {
		_, err := l.Lock(ctx, "a")
		check("Lock", err)
	}
	checkEvents(t, s, "a", want)
	if got := mustStudies(t, s); !slices.Equal(got, []string{"a"}) {
		t.Errorf("Studies: got %q, want only %q", got, "a")
	}
}

func testReopen(t *testing.T, s assay.Store, opts StoreOptions) {
	if opts.Reopen == nil {
		return
	}
	var want []assay.Event
	noStoreErr(t, s.Create(t.Context(), "a", []byte("spec")))
	for id := range int64(5) {
		noStoreErr(t, add(t.Context(), s, "a", askedEvent(id), toldEvent(id, 1)))
		want = append(want, askedEvent(id), toldEvent(id, 1))
		s = opts.Reopen(t, s)
		checkEvents(t, s, "a", want)
	}
}
