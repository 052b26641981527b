package server_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// An act is an operation of a client on one trial of an external study.
type act struct {
	do    string // ask, tell, recall, read, or record: the state at the end
	trial int64
}

// Results of acts.
const (
	took    = "took"  // it took effect
	before  = "known" // the result was reported before
	late    = "late"  // the trial had been withdrawn
	absent  = "absent"
	taken   = "open"
	ended   = "done"
	pulled  = "withdrawn"
	other   = "other"   // a trial that the answer does not have
	unknown = "unknown" // it took effect at some time, or never
)

// trialModel is the record of one trial: absent, open, done or withdrawn. A history is partitioned by trial.
var trialModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[int64][]porcupine.Operation{}
		for _, o := range history {
			id := o.Input.(act).trial
			by[id] = append(by[id], o)
		}
		var out [][]porcupine.Operation
		for _, ops := range by {
			out = append(out, ops)
		}
		return out
	},
	Init: func() any { return absent },
	Step: func(state, input, output any) (bool, any) {
		at, got := state.(string), output.(string)
		next := map[string]string{"ask": taken, "tell": ended, "recall": pulled}[input.(act).do]
		from := taken
		if input.(act).do == "ask" {
			from = absent
		}
		switch got {
		case took:
			return at == from, next
		case unknown:
			if at == from {
				return true, next
			}
			return true, at
		case before:
			return at == ended, at
		case late:
			return at == pulled, at
		case other:
			return at != taken, at
		default: // a state that was read
			return at == got, at
		}
	},
}

// A history has the acts of clients on a study, with their times.
type history struct {
	sync.Mutex
	began time.Time
	ops   []porcupine.Operation
	lists []porcupine.Operation // acts on all trials: the trials of the answer, nil if it is unknown
	made  map[int64]bool        // trials that an answer has
	lost  int                   // asks without an answer
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) add(client int, a act, call, end int64, result string) {
	h.Lock()
	defer h.Unlock()
	if result == unknown {
		end = math.MaxInt64
	}
	h.made[a.trial] = true
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: a, Output: result, Call: call, Return: end})
}

// list adds an act on all trials.
func (h *history) list(client int, do string, call int64, trials []api.Asked, err error) {
	if refused(err) {
		return
	}
	h.Lock()
	defer h.Unlock()
	o := porcupine.Operation{ClientId: client, Input: do, Call: call, Return: h.now()}
	if err != nil {
		o.Return = math.MaxInt64
	} else {
		ids := map[int64]bool{}
		for _, t := range trials {
			ids[t.ID] = true
			h.made[t.ID] = true
		}
		o.Output = ids
	}
	h.lists = append(h.lists, o)
}

// whole returns the history with acts on all trials as one act for each trial, and the states at the end.
func (h *history) whole(end map[int64]string) []porcupine.Operation {
	now, asked := h.now(), map[int64]bool{}
	for id := range end {
		h.made[id] = true
	}
	all := h.ops
	for _, o := range h.ops {
		if a := o.Input.(act); a.do == "ask" {
			asked[a.trial] = true
		}
	}
	for id := range h.made {
		one := func(o porcupine.Operation, do, result string) {
			o.Input, o.Output = act{do, id}, result
			all = append(all, o)
		}
		if !asked[id] { // by an ask whose answer was lost
			one(porcupine.Operation{Return: math.MaxInt64}, "ask", unknown)
		}
		for _, o := range h.lists {
			ids, known := o.Output.(map[int64]bool)
			do := o.Input.(string)
			switch {
			case !known && do == "recall":
				one(o, do, unknown)
			case known && ids[id] && do == "recall":
				one(o, do, took)
			case known && ids[id]:
				one(o, do, taken)
			case known:
				one(o, do, other)
			}
		}
		state, ok := end[id]
		if !ok {
			state = absent
		}
		one(porcupine.Operation{Call: now, Return: now}, "record", state)
	}
	return all
}

// refused reports whether an error means that nothing was done: another process has the study.
func refused(err error) bool { return err != nil && strings.Contains(err.Error(), "another process") }

// client acts on the study at the servers until ctx ends.
func (h *history) client(ctx context.Context, n int, at []*member, name string, rng *rand.Rand) {
	mine := []int64{}
	for ctx.Err() == nil {
		c := at[rng.IntN(len(at))].client
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		call := h.now()
		switch x := rng.Float64(); {
		case x < 0.4 || len(mine) == 0:
			a, err := c.Ask(one, name, 1, -1)
			for _, t := range a.Trials {
				mine = append(mine, t.ID)
				h.add(n, act{"ask", t.ID}, call, h.now(), took)
			}
			if err != nil && !refused(err) {
				h.Lock()
				h.lost++
				h.Unlock()
			}
		case x < 0.8:
			id := mine[rng.IntN(len(mine))]
			value := float64(id)
			told, err := c.Tell(one, name, []study.Report{{ID: id, Value: &value}})
			result := unknown
			switch {
			case refused(err):
				cancel()
				time.Sleep(20 * time.Millisecond)
				continue
			case err == nil && told.Told == 1:
				result = took
			case err == nil && told.Known == 1:
				result = before
			case err != nil && strings.Contains(err.Error(), "was withdrawn"):
				result = late
			case assay.ClassOf(err) == assay.ClassNotFound:
				result = absent
			}
			h.add(n, act{"tell", id}, call, h.now(), result)
		case x < 0.97:
			trials, err := c.Asked(one, name)
			if err == nil {
				h.list(n, "read", call, trials, nil)
			}
		default:
			trials, err := c.Recall(one, name, 0, "test")
			h.list(n, "recall", call, trials, err)
		}
		cancel()
		time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
	}
}

// A link is the way of one server to the database: it can be cut and slowed.
type link struct {
	target string
	cut    atomic.Bool
	delay  atomic.Int64 // of each packet
	mu     sync.Mutex
	conns  map[net.Conn]bool
}

// newLink returns a link whose socket is in dir.
func newLink(t *testing.T, dir, target string) *link {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	l := &link{target: target, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { ln.Close(); l.sever() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go l.serve(c)
		}
	}()
	return l
}

func (l *link) serve(client net.Conn) {
	defer client.Close()
	if l.cut.Load() {
		return
	}
	server, err := net.Dial("unix", l.target)
	if err != nil {
		return
	}
	defer server.Close()
	l.mu.Lock()
	l.conns[client], l.conns[server] = true, true
	l.mu.Unlock()
	go func() { l.forward(server, client); server.Close(); client.Close() }()
	l.forward(client, server)
	l.mu.Lock()
	delete(l.conns, client)
	delete(l.conns, server)
	l.mu.Unlock()
}

func (l *link) forward(to io.Writer, from io.Reader) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		time.Sleep(time.Duration(l.delay.Load()))
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// sever closes all connections.
func (l *link) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Close()
	}
}

// faults harms servers, their links and the database until the time is over, and leaves all of it whole.
func faults(t *testing.T, servers []*member, links []*link, db *testbed.Postgres, rng *rand.Rand, end time.Time) {
	var counts [5]int
	frozen := false
	for time.Now().Before(end) {
		time.Sleep(time.Duration(500+rng.IntN(2500)) * time.Millisecond)
		i, kind := rng.IntN(len(servers)), rng.IntN(len(counts))
		m, l := servers[i], links[i]
		counts[kind]++
		switch kind {
		case 0:
			m.kill()
			m.up(t)
		case 1:
			long := time.Duration(200+rng.IntN(3000)) * time.Millisecond
			if !frozen { // once for longer than its locks last, so that the other server takes over
				frozen, long = true, 36*time.Second
			}
			_ = m.cmd.Process.Signal(unix.SIGSTOP)
			time.Sleep(long)
			_ = m.cmd.Process.Signal(unix.SIGCONT)
		case 2:
			l.delay.Store(int64(30 * time.Millisecond)) // so that answers of the database are lost on the way
			time.Sleep(300 * time.Millisecond)
			l.cut.Store(true)
			l.sever()
			l.delay.Store(0)
			time.Sleep(time.Duration(200+rng.IntN(3000)) * time.Millisecond)
			l.cut.Store(false)
		case 3:
			l.delay.Store(int64(rng.IntN(200)) * int64(time.Millisecond))
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
			l.delay.Store(0)
		case 4:
			db.Kill()
			if err := db.Start(); err != nil {
				t.Error(err)
				return
			}
		}
	}
	t.Logf("%d kills of a server, %d freezes, %d cuts, %d slow links, %d kills of the database", counts[0], counts[1],
		counts[2], counts[3], counts[4])
}

// Two servers on one PostgreSQL, with four workers: clients take trials, report results, withdraw trials and
// read, while servers are killed and frozen, links are cut and slowed and the database is killed: the answers match
// a record that takes one act at a time. ASSAY_HISTORIES is the number of histories, ASSAY_HISTORY the length of
// each.
func TestHistories(t *testing.T) {
	testbed.System(t)
	t.Parallel()
	n, long := 5, 40*time.Second
	if os.Getenv("ASSAY_SOAK") != "" {
		n, long = 100, 2*time.Minute
	}
	if k, err := strconv.Atoi(os.Getenv("ASSAY_HISTORIES")); err == nil {
		n = k
	}
	if d, err := time.ParseDuration(os.Getenv("ASSAY_HISTORY")); err == nil {
		long = d
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			oneHistory(t, uint64(seed), long)
		})
	}
}

func oneHistory(t *testing.T, seed uint64, long time.Duration) {
	db := testbed.NewPostgres(t)
	const name = "asked"
	servers, links := make([]*member, 2), make([]*link, 2)
	var runs []string
	for i := range servers {
		at := t.TempDir()
		links[i] = newLink(t, at, filepath.Join(db.Dir(), ".s.PGSQL.5432"))
		m := join(t, "postgres://postgres@/postgres?host="+at)
		servers[i] = m
		runs = append(runs, fmt.Sprint("s", i))
		lab{m.client, m.dir}.submit(t, runs[i], trivial("sh, -c, 'sleep 0.0$(($1 % 9))', sh, '{n}'", i, 1_000_000, 2))
	}
	def, _, err := spec.Parse("", []byte("parameters: {n: 1..1000000}\nobjective: {minimize: y}\nsearch: {name: random}\n"+
		"budget: {trials: 1000000}\n"), func(s *spec.Study) error { s.SetAsked(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	in, err := api.Submitted(def, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := servers[0].client.Submit(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	h := &history{began: time.Now(), made: map[int64]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for c := range 6 {
		clients.Go(func() { h.client(ctx, c, servers, name, rand.New(rand.NewPCG(seed, uint64(c)))) })
	}
	faults(t, servers, links, db, rand.New(rand.NewPCG(seed, 99)), time.Now().Add(long))
	time.Sleep(2 * time.Second)
	cancel()
	clients.Wait()
	for _, m := range servers {
		m.kill()
	}
	store, err := setup.OpenStore(t.Context(), db.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	end := map[int64]string{}
	for e, err := range store.Events(t.Context(), name, 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Asked != nil:
			end[e.Asked.ID] = taken
		case e.Told != nil:
			end[e.Told.ID] = ended
		case e.Withdrawn != nil:
			end[e.Withdrawn.Trial] = pulled
		}
	}
	all := h.whole(end)
	t.Logf("%d trials, %d acts, %d asks without an answer", len(end), len(h.ops)+len(h.lists), h.lost)
	if len(h.ops) < 50 {
		t.Error("the clients did almost nothing")
	}
	for _, ops := range trialModel.Partition(all) {
		if result := porcupine.CheckOperationsTimeout(trialModel, ops, time.Minute); result != porcupine.Ok {
			t.Errorf("no order of the acts on trial %d explains their answers (%s):\n%s", ops[0].Input.(act).trial, result,
				listed(ops))
		}
	}
	for _, study := range append(runs, name) {
		var events []assay.Event
		for e, err := range store.Events(t.Context(), study, 0) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		if l := readLedger(events); len(l.wrong) > 0 {
			t.Errorf("%s: %s", study, strings.Join(l.wrong, "; "))
		}
	}
}

// listed returns operations in the order of their calls, one a line.
func listed(ops []porcupine.Operation) string {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, o := range ops {
		fmt.Fprintf(&b, "%v to %v  client %d  %s: %s\n", time.Duration(o.Call), time.Duration(o.Return), o.ClientId,
			o.Input.(act).do, o.Output)
	}
	return b.String()
}
