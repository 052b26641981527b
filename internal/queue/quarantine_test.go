package queue

import (
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// A worker that was set aside takes nothing until a person has it go on, whatever the server forgets meanwhile.
func TestSetAside(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.join(Study{Name: "s", MachineClass: ClassAny})
		b.hello(Worker{ID: "v", Name: "rack2", Slots: 1, Apps: []string{Commands}, MachineClass: "k"})
		b.hello(Worker{ID: "w", Slots: 1, Apps: []string{Commands}, MachineClass: "k"})
		first := b.run(r, job(1))
		b.want("the first claim", b.claim("v"), "s 1.1")
		r.SetAside("rack2", "k", "rack2 is slower")
		o := b.hello(Worker{ID: "v", Name: "rack2", Slots: 1, Apps: []string{Commands}, MachineClass: "k"})
		b.want("the order", o, Order{Quarantine: true, Why: "rack2 is slower"})
		b.run(r, job(2))
		if _, err := b.f.Claim(b.Context(), Ticket{ID: "t", App: Commands}, "v"); assay.ClassOf(err) != assay.ClassConflict {
			b.Errorf("a worker that was set aside claims: %v", err)
		}
		b.tell("v", rid(1, 1), time.Second, "")
		m, err := b.ended(first)
		if err != nil || m.Worker != "rack2" || m.MachineClass != "k" {
			b.Errorf("%+v, %v: what runs goes on, and says where", m, err)
		}
		b.want("the claim of another", b.claim("w"), "s 2.1")

		// On record only.
		past := []assay.Event{{Drifted: &assay.Drift{Worker: "rack2", MachineClass: "k", Reason: "so"}}}
		f := New(NewMemory(time.Minute), Options{})
		again, err := f.Join(Study{Name: "s", Past: past, Record: &memo{}})
		if err != nil {
			b.Fatal(err)
		}
		defer again.Close()
		v := Worker{ID: "v", Name: "rack2", Slots: 1, Apps: []string{Commands}, MachineClass: "k"}
		if o, err := f.Hello(b.Context(), v); err != nil || o != (Order{Quarantine: true, Why: "so"}) {
			b.Errorf("after a restart: %+v, %v", o, err)
		}
		if err := f.Order("rack2", Order{}); err != nil {
			b.Fatal(err)
		}
		if o, err := f.Hello(b.Context(), v); err != nil || o != (Order{}) {
			b.Errorf("resumed: %+v, %v", o, err)
		}
		record := again.m.Record.(*memo).events
		if len(record) != 1 || record[0].Drifted == nil || !record[0].Drifted.Over || record[0].Drifted.Worker != "rack2" {
			b.Errorf("on record: %+v", record)
		}
		f = New(NewMemory(time.Minute), Options{})
		if _, err := f.Join(Study{Name: "s", Past: append(past, record...), Record: &memo{}}); err != nil {
			b.Fatal(err)
		}
		if o, err := f.Hello(b.Context(), v); err != nil || o != (Order{}) {
			b.Errorf("resumed before a restart: %+v, %v", o, err)
		}
	})
}

// A study on any class can be held to one, and let go again.
func TestPlace(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.join(Study{Name: "s", MachineClass: ClassAny})
		b.hello(Worker{ID: "v", Slots: 1, Apps: []string{Commands}, MachineClass: "k"})
		b.hello(Worker{ID: "w", Slots: 2, Apps: []string{Commands}, MachineClass: "l"})
		b.want("slots of all", r.Capacity(), 3)
		r.Place("l")
		b.want("slots of the class", r.Capacity(), 2)
		b.run(r, job(1))
		b.want("the claim of another class", b.claim("v"), "")
		b.want("the claim of the class", b.claim("w"), "s 1.1")
		r.Place("")
		b.run(r, job(2))
		b.want("the claim of any", b.claim("v"), "s 2.1")
		same := b.join(Study{Name: "same", MachineClass: "k"})
		same.Place("l")
		b.want("slots of a study of one class", same.Capacity(), 1)
	})
}

// Repeated runs of a configuration go to workers that, by the record too, have not run it, as long as there is
// something else to run.
func TestRepeatsGoToOthers(t *testing.T) {
	inBubble(t, func(t *bench) {
		of := func(trial int64, x float64) assay.Job {
			j := job(trial)
			j.Config = assay.Config{x}
			return j
		}
		r := t.join(Study{Name: "s", MachineClass: ClassAny, Past: []assay.Event{
			{Asked: &assay.Proposal{ID: 9, Config: assay.Config{2}}},
			{Started: &assay.Start{RunID: assay.RunID{Study: "s", Trial: 9, Attempt: 1}, Worker: "w"}},
			{Told: &assay.Trial{Proposal: assay.Proposal{ID: 9, Config: assay.Config{2}}, State: assay.Done}},
		}})
		t.hello(Worker{ID: "v", Slots: 4})
		t.hello(Worker{ID: "w", Slots: 4})
		t.run(r, of(1, 1))
		t.want("first", t.claim("v"), "s 1.1")
		t.run(r, of(2, 1))
		t.run(r, of(3, 2))
		t.run(r, of(4, 3))
		t.want("v, which has run configuration 1", t.claim("v"), "s 3.1")
		t.want("w, which has not", t.claim("w"), "s 2.1")
		t.run(r, of(5, 2))
		t.want("w, which has run 2 before the server started", t.claim("w"), "s 4.1")
		t.want("w, with nothing else to run", t.claim("w"), "s 5.1")
		t.run(r, of(6, 1))
		t.run(r, of(7, 4))
		r.f.Prioritise("s", 6, 5)
		t.want("v, with what a person put first", t.claim("v"), "s 6.1")
	})
}
