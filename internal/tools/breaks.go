package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A breach is one line of production code that holds a promise, and its replacement that breaks it:
// tests of the promise must fail then. The code itself is not touched; the tests are built with another
// file in its place.
type breach struct {
	id, file string
	old, new string // text that stands once in the file, and its replacement
	seen     check  // the test of the promise that fails
}

// breaches has one for each promise, at the least. A test sees that every line is there.
var breaches = []breach{
	{
		"P1", "internal/worker/spool.go", "return files.WriteFile(s.path(\"spool\", o.ID, \".json\"), b, 0o600)",
		"return files.WriteFile(s.path(\"spool\", o.ID, \".lost\"), b, 0o600)",
		check{"internal/worker", "TestKilled"},
	},
	{
		"P1", "internal/store/sqlite/group.go", `s.exec("COMMIT")`, `s.exec("ROLLBACK")`,
		check{"internal/store/sqlite", "TestKill"},
	},
	{
		"P2", "internal/store/sqlite/sqlite.go", `opts.synchronous = "FULL"`, `opts.synchronous = "NORMAL"`,
		check{"internal/store/sqlite", "TestPowerCut"},
	},
	{
		"P2", "internal/files/whole.go", "err = errors.Join(err, f.Sync(), f.Close())",
		"err = errors.Join(err, f.Close())",
		check{"internal/files", "TestPowerCut"},
	},
	{
		"P3", "internal/store/sqlite/write.go", "if isFull(err) && s.spendReserve() {", "if false {",
		check{"internal/store/sqlite", "TestReserve"},
	},
	{
		"P3", "internal/worker/attempt.go", "err := w.spool.put(o)", "_ = w.spool.put(o); var err error",
		check{"internal/worker", "TestEachOperationOfTheSpoolFails"},
	},
	{
		"P4", "search/replay.go", "if err := p.tell(t); err != nil {", "if err := error(nil); err != nil {",
		check{"study", "TestKilledBehindEachEvent|TestResumeAfterEveryEvent"},
	},
	{
		"P4", "search/replay.go", "if err := resumer.Recall(memos); err != nil {",
		"if err := resumer.Recall(nil); err != nil {",
		check{"cmd/assay", "TestResumeDoesNotSearchAgain"},
	},
	{
		"P5", "internal/ledger/book.go", "b.Worker, b.Extra = e.Worker, (r.Counts() || r.Closed) && !lost",
		"b.Worker, b.Extra = e.Worker, false",
		check{"internal/queue", "TestSimulator"},
	},
	{
		"P6", "internal/ledger/book.go", "case e.State == Ended:", "case false:",
		check{"internal/queue", "TestStaleOutcome|TestFrozen"},
	},
	{
		"P6", "internal/ledger/book.go", "case lost && lease > 0 && e.Silent(now) <= lease:", "case false:",
		check{"internal/queue", "TestHeardOfWhileAnotherIsLost"},
	},
	{
		"P6", "internal/ledger/book.go", "if e.Tainted && b.Counts() {",
		"if e.Tainted && b.Counts() && b.Why != assay.WhyStop {",
		check{"internal/queue", "TestTaintedOutcomeDoesNotCount"},
	},
	{
		"P7", "run/tree_sweep.go", "id.space == space && !id.alive()", "id.space == space",
		check{"run", "TestSweepSparesOthers"},
	},
	{
		"P8", "internal/service/host.go", `return sum.Ended == "" && (sum.Steered == "run" || sum.Steered == "pause")`,
		"return false",
		check{"internal/service", "TestKilled"},
	},
	{
		"P9", "internal/batch/dir.go", "os.O_CREATE|os.O_EXCL|os.O_WRONLY", "os.O_CREATE|os.O_WRONLY",
		check{"internal/batch", "TestFaults|TestSaid"},
	},
	{
		"P10", "internal/batch/loops.go", "if !r.sleep(r.o.Gap, nil) {", "if !r.open() {",
		check{"internal/batch", "TestPolite"},
	},
	{
		"P11", "internal/store/postgres/write.go", "return s.repeated(ctx, h, study, at, payloads)",
		"return store.Conflict(study, at, end)",
		check{"internal/store/postgres", "TestCutReply"},
	},
	{
		"P12", "internal/store/sqlite/write.go", "if at == end {", "if at >= 0 {",
		check{"internal/store/sqlite", "TestProcesses"},
	},
	{
		"P13", "run/output.go", "if room := k.head - len(k.first); room > 0 {", "if room := len(b); room > 0 {",
		check{"run", "TestWildOutput|TestKeeper"},
	},
	{
		"P14", "run/awake.go", "if d := a.slept() - slept; d >= leastSleep {", "if d := a.slept() - slept; d < 0 {",
		check{"run", "TestAwake"},
	},
	{
		"P14", "internal/queue/lease.go", "if late := now.Sub(f.looked) - f.o.lookEvery(); late > f.o.Lease/2 {",
		"if late := now.Sub(f.looked); late < 0 {",
		check{"internal/queue", "TestServerFrozen|TestSimulator"},
	},
	{
		"P15", "internal/store/sqlite/mark.go", "case err == nil && last >= m.seq:", "case err == nil:",
		check{"internal/store/sqlite", "TestDamageOfTheLogsEnd"},
	},
	{
		"P15", "store/chain.go", "return crc32.Update(crc32.Checksum(b[:], table), table, payload)",
		"_ = payload; return crc32.Checksum(b[:], table)",
		check{"internal/store/sqlite", "TestDamage"},
	},
	{
		"P16", "study/trial.go", "t = failed(t, exitReason(m))", "t.State, t.Value = assay.Done, value",
		check{"study", "TestExitCodeFailsTheTrial"},
	},
	{
		"P17", "internal/store/sqlite/schema.go", "case version > known:", "case false:",
		check{"internal/store/sqlite", "TestFixtures|TestMigrat"},
	},
	{
		"P18", "internal/queue/tell.go", "if err := f.write(r.m, assay.Event{Booked: &b}); err != nil {",
		"if err := error(nil); err != nil {",
		check{"internal/queue", "TestSimulator"},
	},
	{
		"S1", "internal/server/keys.go", "if len(s.o.Listen) > 0 {", "if false {",
		check{"cmd/assay", "TestScripts/server_badinput"},
	},
	{
		"S2", "internal/rest/api/guard.go", "case !may(who.Role, route.Least):", "case false:",
		check{"internal/rest/api", "TestMatrix"},
	},
	{
		"S3", "internal/access/hosts.go", "if !ok || err == nil && ip.IsUnspecified() {", "if ok { return true } else {",
		check{"internal/rest/api", "TestHosts"},
	},
	{
		"S3", "internal/rest/api/guard.go", `if site != "" && site != "same-origin" && site != "none" {`,
		`if site == "cross" {`,
		check{"internal/rest/api", "TestOrigins"},
	},
	{"S4", "internal/rest/listen.go", "uid == l.uid", "uid >= 0", check{"cmd/assay", "TestScripts/strangers"}},
	{
		"S5", "spec/program.go", "return p.expand(p.argv, c)",
		`return []string{"sh", "-c", strings.Join(p.expand(p.argv, c), " ")}`,
		check{"setup", "TestValuesAreData"},
	},
	{
		"S6", "internal/files/doc.go", "case !fs.ValidPath(name):", "case false && !fs.ValidPath(name):",
		check{"internal/files", "TestPlaceHostileNames|TestNames"},
	},
	{
		"S7", "internal/rest/api/guard.go", "if e := r.Header.Get(\"Content-Encoding\"); e != \"\" && e != \"identity\" {",
		`if e := r.Header.Get("Content-Encoding"); e == "none" {`,
		check{"internal/rest/api", "TestBombs"},
	},
	{
		"S7", "internal/workflow/trace/read.go", "if b.out > freeGain && b.out > mostGain*b.in.n {", "if false {",
		check{"internal/workflow/trace", "TestGzipBomb"},
	},
	{"S8", "internal/access/conceal.go", "return f.Chmod(0o600)", "return nil", check{"internal/access", "TestConceal"}},
	{
		"S9", "internal/queue/jetstream/authcallout.go", "return !elsewhere || r.allows(app)",
		"return !elsewhere || app != \"\" || r.allows(app)",
		check{"internal/queue/jetstream", "TestForbidden"},
	},
	{
		"S9", "internal/queue/jetstream/authcallout.go", "Allow: publish}", "Allow: append(publish, \">\")}",
		check{"internal/queue/jetstream", "TestForbidden"},
	},
	{
		"S9", "internal/access/tokens.go", "if !stillValid[k] && !nowOver[k] {", "if false {",
		check{"internal/access", "TestReplacedTokenIsCutOff"},
	},
	{
		"S10", "internal/queue/jetstream/bus.go", "opts = append(opts, nats.SkipHostLookup())", "_ = nats.SkipHostLookup",
		check{"cmd/assay", "TestScripts/strangers"},
	},
	{
		"S11", "run/tree_sweep.go", "if len(f) != 5 || f[0] == \"\" || f[4] == \"\" {", "if len(f) < 3 {",
		check{"run", "^Fuzz"},
	},
	{
		"S12", "internal/access/tokens.go", "if err := t.wrong.wait(ctx, from); err != nil {",
		"if err := ctx.Err(); err != nil {",
		check{"internal/access", "TestBruteForce"},
	},
	{
		"S12", "internal/rest/connlimit.go", "if len(s.open) > mostUnproven {", "if false {",
		check{"internal/rest", "TestStrangers"},
	},
	{
		"S13", "internal/worker/allow.go", "if key := spec.Refused(t.Job); key != \"\" {", "if key := \"\"; key != \"\" {",
		check{"internal/worker", "TestHostileTasks"},
	},
	{
		"S13", "internal/worker/allow.go", "if j.Limit == 0 || t.Job.Limit > 0 && t.Job.Limit < j.Limit {",
		"if t.Job.Limit > 0 {",
		check{"internal/worker", "TestAllowedIsBounded"},
	},
	{
		"S13", "internal/worker/allow.go", "min(t.Job.Warmup, maxWarmup)", "t.Job.Warmup",
		check{"internal/worker", "TestAllowedIsBounded"},
	},
	{
		"S14", "internal/queue/jetstream/carrier.go", `Subjects: []string{jobsPrefix + ">"}`,
		`Subjects: []string{jobsPrefix + ">", callsPrefix + ">"}`,
		check{"internal/queue/jetstream", "TestNothingAtRest"},
	},
}

// otherBreaches break rules that belong to no promise.
var otherBreaches = []breach{
	{
		"histories", "internal/store/postgres/write.go", "switch end := assay.Position(h.sum.Events); {",
		"at = assay.Position(h.sum.Events); switch end := at; {",
		check{"internal/server", "TestHistories"},
	},
	{
		"lease", "internal/store/postgres/lease.go", "WHERE o.expires <= clock_timestamp() OR o.fence = $7",
		"WHERE o.fence > 0 OR o.fence = $7",
		check{"internal/store/postgres", "TestLeaser"},
	},
}

// breakAll breaks each line of the promises, all if none is named, and returns how many of them no test saw. A line
// that the tests of make test let pass is tried with the tests of make system.
func breakAll(only []string) (missed int, err error) {
	dir, err := os.MkdirTemp("", "assay-breaks-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, b := range slices.Concat(breaches, otherBreaches) {
		if len(only) > 0 && !slices.Contains(only, b.id) {
			continue
		}
		said, seen, err := b.try(dir, false)
		if err == nil && !seen {
			said, seen, err = b.try(dir, true)
		}
		if err != nil {
			fmt.Println(err)
			missed++
			continue
		}
		word := "seen by"
		if !seen {
			word = "NOT SEEN by"
			missed++
		}
		fmt.Printf("%-4s %s: %s\n     %s %s%s\n", b.id, b.file, strings.TrimSpace(b.old), word, b.seen.pkg, said)
	}
	return missed, nil
}

// try runs the tests without the line, as make system does if system is set, and reports whether one failed, and which.
func (b breach) try(dir string, system bool) (said string, seen bool, err error) {
	text, err := os.ReadFile(b.file)
	if err != nil {
		return "", false, err
	}
	if n := strings.Count(string(text), b.old); n != 1 {
		return "", false, fmt.Errorf("%s: %s: %d times: %s", b.id, b.file, n, b.old)
	}
	other := filepath.Join(dir, "other.go")
	if err := os.WriteFile(other, []byte(strings.Replace(string(text), b.old, b.new, 1)), 0o600); err != nil {
		return "", false, err
	}
	at, err := filepath.Abs(b.file)
	if err != nil {
		return "", false, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{at: other}})
	if err != nil {
		return "", false, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", false, err
	}
	if out, err := exec.Command("go", "test", "-overlay", file, "-vet=off", "-run", "^$",
		"./"+b.seen.pkg).CombinedOutput(); err != nil {
		return "", false, fmt.Errorf("%s: without its line %s does not compile: %s", b.id, b.file, out)
	}
	timeout := "3m"
	if system {
		timeout = "30m"
	}
	cmd := exec.Command("go", "test", "-overlay", file, "-vet=off", "-count=1", "-failfast", "-timeout", timeout,
		"-skip", "Control$", "-run", pattern(b.seen.run), "./"+b.seen.pkg)
	if system {
		cmd.Env = append(os.Environ(), "ASSAY_TEST=system", "ASSAY_HISTORIES=10")
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", false, nil
	}
	failed := regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`).FindStringSubmatch(string(out))
	if failed == nil {
		return " (it does not end, or panics)", true, nil
	}
	return " " + failed[1], true, nil
}
