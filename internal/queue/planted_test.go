package queue

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// planted is the name of the defect that this process has, or "". Only a binary of [plant] has defects.
var planted = os.Getenv("ASSAY_PLANTED")

// A defect is planted in the code by edits, which depend on the variable planted.
type defect struct {
	name  string
	edits []edit
	also  string // a test that fails besides TestSimulator
}

// An edit replaces a text that stands once in a file.
type edit struct{ file, old, new string }

// before returns an edit that adds lines before a line.
func before(file, line, add string) edit { return edit{file, line, add + "\n" + line} }

// condition returns an edit that adds a condition to a line, which ends in a colon or a brace.
func condition(file, line, add string) edit {
	end := len(line) - 1
	if strings.HasSuffix(line, " {") {
		end--
	}
	return edit{file, line, line[:end] + " && " + add + line[end:]}
}

// defects are the defects that the simulator must find.
func defects() []defect {
	const book = "if err := f.write(r.m, assay.Event{Booked: &b}); err != nil {"
	const verdict = "return Verdict(r.Verdict(a, f.o.Now(), f.o.Lease, w != nil && w.order.Evict))"
	return []defect{
		{"noFence", []edit{before("beat.go", "if !ok || a.State < ledger.Placed || !f.of(a, worker) {", `
			if planted == "noFence" && len(r.Attempts) > 0 {
				return r.Attempts[len(r.Attempts)-1], nil
			}`)}, ""},
		{"acksFirst", []edit{before("claim.go", "return m.Record.Append(context.Background(), e)", `
			if planted == "acksFirst" {
				go func() { _ = m.Record.Append(context.Background(), e) }()
				return nil
			}`)}, ""},
		{"wallClock", nil, ""}, // of the simulated server: see boot
		{"tellsUnbooked", []edit{before("tell.go", book, `if planted == "tellsUnbooked" && b.Why == "" {} else `)}, ""},
		{"losesUnbooked", []edit{
			before("tell.go", book, `if planted == "losesUnbooked" && b.Why == assay.WhyLost {} else `),
		}, ""},
		{"claimsAnew", []edit{{
			"claim.go", "for c := f.claims[key]; c != nil; c = f.claims[key] {",
			`for c := f.claims[key]; c != nil && planted != "claimsAnew"; c = f.claims[key] {`,
		}}, ""},
		{"ticketIsRun", []edit{
			before("claim.go", "for c := f.claims[key]; c != nil", `
				if planted == "ticketIsRun" {
					key.worker = ""
				}`),
			before("claim.go", "return c.a.task(f.o, id), nil", `
				if planted == "ticketIsRun" {
					id = c.a.worker
				}`),
		}, ""},
		{"tellsTwice", []edit{before("tell.go", "b.RunID, b.Measurement = a.id(), m", `
			if planted == "tellsTwice" && a.State == ledger.Ended {
				a.State = ledger.Lost
			}`)}, "TestStaleOutcome"},
		{"everyOneCounts", []edit{before("tell.go", "r.busy = make(chan struct{})", `
			if planted == "everyOneCounts" {
				b.Extra = false
			}`)}, ""},
		{"neverRevives", []edit{{"beat.go", "if r.Revive(", `if planted != "neverRevives" && r.Revive(`}}, "TestPartition"},
		{"revivesBlindly", []edit{before("beat.go", verdict, `
			if planted == "revivesBlindly" {
				v := Verdict(r.Verdict(a, f.o.Now(), f.o.Lease, w != nil && w.order.Evict))
				if v == Duplicate && !r.Counts() {
					return Go
				}
				return v
			}`)}, "TestPartition"},
		{"ignoresGaps", []edit{before("beat.go", "a.beat(b, f.o.Lease, now)", `
			if planted == "ignoresGaps" {
				b.Gap = 0
			}`)}, "TestFrozen"},
		{"ignoresCancel", []edit{before("beat.go", verdict, `
			if planted == "ignoresCancel" && r.Want == ledger.Cancel {
				r.Want = ""
				defer func() { r.Want = ledger.Cancel }()
			}`)}, ""},
		{"startsWithdrawn", []edit{before("claim.go", "if r.Startable(a) {", `
			if planted == "startsWithdrawn" {
				return a.task(f.o, w.ID), nil
			}`)}, ""},
		{"forgetsDrain", []edit{condition("claim.go", "case w.order.Drain:", `planted != "forgetsDrain"`)}, ""},
		{"forgetsClass", []edit{{
			"order.go", "!m.takes(w.MachineClass)", `!m.takes(w.MachineClass) && planted != "forgetsClass"`,
		}}, ""},
		{"forgetsPriority", []edit{
			condition("order.go", "if best != nil && m.Priority < least.priority {", `planted != "forgetsPriority"`),
			before("order.go", "if best == nil || r.before(least) {", `
				if planted == "forgetsPriority" {
					r.priority, r.job, r.used, r.running = 0, 0, 0, 0
				}`),
		}, ""},
		{"forgetsOrders", []edit{condition("recall.go", "case e.Ordered != nil:", `planted != "forgetsOrders"`)}, ""},
		{"neverRefills", []edit{{
			"refill.go", "func (f *Fleet) refill(ctx context.Context) {",
			"func (f *Fleet) refill(ctx context.Context) {\nif planted == \"neverRefills\" {\nreturn\n}",
		}}, ""},
		{"forgetsPlaced", []edit{condition("recall.go", "case e.Started != nil:", `planted != "forgetsPlaced"`)}, ""},
	}
}

// plant returns a test binary of this package with the defects. The code itself is not touched: the compiler reads
// other files in its place.
func plant(t *testing.T, all []defect) string {
	dir := t.TempDir()
	texts, files := map[string]string{}, map[string]string{}
	for _, d := range all {
		for _, e := range d.edits {
			text, ok := texts[e.file]
			if !ok {
				b, err := os.ReadFile(e.file)
				if err != nil {
					t.Fatal(err)
				}
				text = string(b)
			}
			if n := strings.Count(text, e.old); n != 1 {
				t.Fatalf("%s: %q stands %d times in %s", d.name, e.old, n, e.file)
			}
			texts[e.file] = strings.Replace(text, e.old, e.new, 1)
		}
	}
	for name, text := range texts {
		at, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		files[at] = filepath.Join(dir, name)
		if err := os.WriteFile(files[at], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "queue.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// Each planted defect makes a test fail that passes in the same binary without it. The simulator finds all of them
// within few seeds.
func TestSimulatorFindsFlaws(t *testing.T) {
	testbed.Outside(t)
	all := defects()
	binary := plant(t, all)
	run := func(t *testing.T, name, test string) (failed bool, said string) {
		seeds := "200"
		if name == "" {
			seeds = "20" // [TestSimulator] itself has all of them
		}
		cmd := exec.Command(binary, "-test.run", "^"+test+"$", "-test.timeout", "5m")
		cmd.Env = append(os.Environ(), "ASSAY_PLANTED="+name, "ASSAY_SEEDS="+seeds, "ASSAY_SIM=", "ASSAY_SOAK=")
		out, err := cmd.CombinedOutput()
		m := regexp.MustCompile(`(?m)^\s+\w+_test.go:\d+: (.*)`).FindSubmatch(out)
		failed = strings.Contains(string(out), "--- FAIL: "+test+" ")
		if err != nil != failed || failed && m == nil {
			t.Fatalf("%s: %v: %s", test, err, out)
		}
		if failed {
			said = string(m[1])
		}
		return failed, said
	}
	try := func(t *testing.T, name, test string) {
		failed, said := run(t, name, test)
		if !failed {
			t.Errorf("%s passes", test)
		}
		t.Logf("%s: %.200s", test, said)
	}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			try(t, d.name, "TestSimulator")
			if d.also != "" {
				try(t, d.name, d.also)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		for _, test := range []string{"TestSimulator", "TestPartition", "TestFrozen", "TestStaleOutcome"} {
			if failed, said := run(t, "", test); failed {
				t.Errorf("%s fails: %s", test, said)
			}
		}
	})
}
