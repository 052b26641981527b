package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A fakeHost keeps studies in a store, and runs nothing: each steering, order, gift and
// withdrawal becomes its event.
type fakeHost struct {
	store *setup.Store
	mu    sync.Mutex
	state map[string]string
}

func (h *fakeHost) append(ctx context.Context, study string, events ...assay.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum, err := h.store.Summary(ctx, study)
	if err != nil {
		return err
	}
	for i := range events {
		events[i].At = time.Unix(1700000000+sum.Events, 0).UTC()
	}
	_, err = h.store.Append(ctx, study, assay.Position(sum.Events), events...)
	return err
}

func (h *fakeHost) Submit(ctx context.Context, def *spec.Study, name, by string) (Info, error) {
	if name == "" {
		name = "study"
	}
	stored, err := setup.Encode(def, name, nil)
	if err != nil {
		return Info{}, err
	}
	if old, err := h.store.Spec(ctx, name); err == nil && string(old) != string(stored) {
		return Info{}, assay.Errorf(assay.ClassConflict, "there is another study %q", name)
	} else if err != nil {
		if err := h.store.Create(ctx, name, stored); err != nil {
			return Info{}, err
		}
		if err := h.append(ctx, name, assay.Event{Steered: &assay.StudyCommand{Do: "run", By: by}}); err != nil {
			return Info{}, err
		}
	}
	return h.Info(ctx, name)
}

func (h *fakeHost) Steer(ctx context.Context, study string, s assay.StudyCommand) error {
	h.mu.Lock()
	h.state[study] = map[string]string{"run": "running", "pause": "paused", "stop": "stopped"}[s.Do]
	h.mu.Unlock()
	return h.append(ctx, study, assay.Event{Steered: &s})
}

func (h *fakeHost) Enqueue(ctx context.Context, study string, configs []assay.Config, by string) error {
	return h.append(ctx, study, assay.Event{Given: &assay.Batch{Configs: configs, By: by}})
}

func (h *fakeHost) Order(ctx context.Context, study string, trials []int64, by string) error {
	for _, id := range trials {
		if err := h.open(ctx, study, id); err != nil {
			return err
		}
	}
	for _, id := range trials {
		if err := h.append(ctx, study, assay.Event{Ordered: &assay.Order{Trial: id, Priority: 1, By: by}}); err != nil {
			return err
		}
	}
	return nil
}

func (h *fakeHost) Withdraw(ctx context.Context, study string, trials []int64, by, reason string) error {
	for _, id := range trials {
		if err := h.open(ctx, study, id); err != nil {
			return err
		}
	}
	for _, id := range trials {
		w := &assay.Withdrawal{Trial: id, By: by, Reason: reason}
		if err := h.append(ctx, study, assay.Event{Withdrawn: w}); err != nil {
			return err
		}
	}
	return nil
}

func (h *fakeHost) Restore(ctx context.Context, study string, trials []int64, by string) error {
	for _, id := range trials {
		b := &assay.Batch{Configs: []assay.Config{{float64(id)}}, By: by, Restores: []int64{id}}
		if err := h.append(ctx, study, assay.Event{Given: b}); err != nil {
			return err
		}
	}
	return nil
}

// desk opens the desk of an external study for one call.
func (h *fakeHost) desk(ctx context.Context, name string, do func(*setup.ExternalSession) error) error {
	def, err := h.store.Definition(ctx, name)
	if err != nil {
		return err
	}
	if def.Mode() != spec.ModeAsked {
		return assay.Errorf(assay.ClassConflict, "study %s is not external", name)
	}
	p, err := setup.New(def, setup.Options{})
	if err != nil {
		return err
	}
	d, err := p.ExternalSession(ctx, h.store, name, time.Minute)
	if err != nil {
		return err
	}
	return errors.Join(do(d), d.Close(ctx))
}

func (h *fakeHost) Ask(ctx context.Context, name string, n int, again time.Duration) (a study.Answer, err error) {
	err = h.desk(ctx, name, func(d *setup.ExternalSession) error {
		if again >= 0 {
			a, err = d.Again(ctx, n, again)
			return err
		}
		a, err = d.Ask(ctx, n)
		return err
	})
	return a, err
}

func (h *fakeHost) Tell(
	ctx context.Context, name string, reports []study.Report,
) (r study.Receipt, res study.Result, err error) {
	err = h.desk(ctx, name, func(d *setup.ExternalSession) error {
		r, err = d.Tell(ctx, reports)
		res = d.Result()
		return err
	})
	return r, res, err
}

func (h *fakeHost) Recall(
	ctx context.Context, name string, age time.Duration, by, reason string,
) (back []study.Handed, err error) {
	err = h.desk(ctx, name, func(d *setup.ExternalSession) error {
		back, err = d.Withdraw(ctx, age, by, reason)
		return err
	})
	return back, err
}

func (h *fakeHost) Discarded() []service.Discarded {
	d := func(name string, id int64) service.Discarded {
		return service.Discarded{
			Study: name, Config: fmt.Sprint("n=", id),
			Discard: study.Discard{
				Proposal: assay.Proposal{ID: id}, Withdrawal: assay.Withdrawal{Trial: id, By: "ada", Reason: "bad"},
				At: time.Unix(1700000000+id, 0).UTC(),
			},
		}
	}
	return []service.Discarded{d("other", 9), d("tuned", 5), d("tuned", 6)}
}

// open returns an error unless the trial waits or runs.
func (h *fakeHost) open(ctx context.Context, study string, id int64) error {
	for row, err := range h.store.Trials(ctx, study, id-1, 1) {
		if err != nil {
			return err
		}
		if row.Trial.ID == id && !row.Trial.State.Final() {
			return nil
		}
	}
	return assay.Errorf(assay.ClassNotFound, "study %q has no trial %d that has not ended", study, id)
}

func (h *fakeHost) Info(ctx context.Context, study string) (Info, error) {
	sum, err := h.store.Summary(ctx, study)
	if err != nil {
		return Info{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	state := h.state[study]
	if state == "" {
		state = "running"
	}
	return Info{Summary: sum, State: state, App: queue.Commands}, nil
}

func (h *fakeHost) Infos(ctx context.Context) (all []Info, err error) {
	for sum, err := range h.store.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		i, err := h.Info(ctx, sum.Study)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// A fakeFleet has one worker, and an entry for each running trial of the study tuned.
type fakeFleet struct {
	mu     sync.Mutex
	orders []queue.Order
	lacks  string
}

func (f *fakeFleet) Unschedulable(string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lacks
}

// Live is the trial of the queue that a worker is at.
func (f *fakeFleet) Live(study string, trial int64) (queue.Live, bool) {
	if study != "tuned" || trial != 2 {
		return queue.Live{}, false
	}
	return queue.Live{
		ID: assay.RunID{Study: study, Trial: trial, Attempt: 1}, State: "placed", Worker: "rack", Silent: time.Second,
		So: assay.Measurement{Elapsed: 3 * time.Second}, Stdout: []byte("so far\n"), Stderr: []byte("\xa9warned"),
	}, true
}

func (f *fakeFleet) Needs(hash string, mine func(string) bool) error {
	if hash == heldHash && mine("worker-0123456789abcdef") {
		return nil
	}
	return assay.Errorf(assay.ClassNotFound, "no run has it")
}

func (f *fakeFleet) Queue() []queue.Entry {
	at := time.Unix(1700000000, 0).UTC()
	return []queue.Entry{
		{
			ID: assay.RunID{Study: "tuned", Trial: 2, Attempt: 1}, Study: "tuned", App: "x", State: "placed",
			Worker: "rack", Since: at,
		},
		{ID: assay.RunID{Study: "other", Trial: 1, Attempt: 1}, Study: "other", App: "x", State: "open", Since: at},
	}
}

func (f *fakeFleet) Reported(study string, trial int64) []queue.Reported {
	if study != "tuned" || trial != 2 {
		return nil
	}
	return []queue.Reported{{
		ID: assay.RunID{Study: "tuned", Trial: 2, Attempt: 2}, Placed: true, Worker: "rack", Silent: 3 * time.Second,
		So: assay.Measurement{Elapsed: 9 * time.Second},
		Curve: queue.Curve{
			At:      []time.Duration{time.Second, 2 * time.Second},
			Metrics: map[string][]float64{"score": {1.5, math.NaN()}},
		},
	}}
}

func (f *fakeFleet) Workers() []queue.WorkerState {
	return []queue.WorkerState{{Worker: queue.Worker{ID: "w1", Name: "rack", Slots: 2, Apps: []string{"x"}}}}
}

func (f *fakeFleet) Order(worker string, o queue.Order) error {
	if worker != "w1" && worker != "rack" {
		return assay.Errorf(assay.ClassNotFound, "no worker %q", worker)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders = append(f.orders, o)
	return nil
}

// fakeKeys are tokens in memory: the secret of one is "secret-" and its name.
type fakeKeys struct {
	mu  sync.Mutex
	all map[string]Token
}

func newFakeKeys() *fakeKeys {
	k := &fakeKeys{all: map[string]Token{}}
	for _, r := range []Role{Machine, Viewer, Operator, Author, Admin} {
		k.all[string(r)] = Token{Name: string(r), Role: r}
	}
	return k
}

func (k *fakeKeys) Who(_ context.Context, token, _ string) (Who, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if token == "secret-root" { // which nobody can revoke
		return Who{Name: "root", Role: Admin}, nil
	}
	for name, t := range k.all {
		if token == "secret-"+name {
			return Who{name, t.Role, t.Studies}, nil
		}
	}
	return Who{}, access.ErrDenied
}

func (k *fakeKeys) Tokens(context.Context) ([]Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.all)), nil
}

func (k *fakeKeys) Add(_ context.Context, t Token, _ string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.all[t.Name]; ok {
		return "", assay.Errorf(assay.ClassConflict, "there is a token %q", t.Name)
	}
	k.all[t.Name] = t
	return "secret-" + t.Name, nil
}

func (k *fakeKeys) Revoke(_ context.Context, name, _ string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.all[name]; !ok {
		return assay.Errorf(assay.ClassNotFound, "no token %q", name)
	}
	delete(k.all, name)
	return nil
}

// A rig is a server of fakes with two studies: tuned has 4 trials of which the second runs,
// other has none.
type rig struct {
	*Server
	host  *fakeHost
	fleet *fakeFleet
	keys  *fakeKeys
	store *setup.Store
	blobs *files.Store
	at    *httptest.Server
}

// held is an input of the trial that runs, and the file a.log kept of trial 1: see keep.
const (
	held     = "hello"
	heldHash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
)

// keep books that a run of a trial has left files.
func (r *rig) keep(t testing.TB, trial int64, files string) {
	t.Helper()
	b := &assay.AttemptEnd{
		RunID: assay.RunID{Study: "tuned", Trial: trial, Attempt: 1}, Worker: "rack", Files: files, Staged: 2 * time.Second,
		Measurement: assay.Measurement{Elapsed: time.Second},
	}
	if err := r.host.append(context.Background(), "tuned", assay.Event{Booked: b}); err != nil {
		t.Fatal(err)
	}
}

// listed is the list of the files kept of trial 1.
func listed(t testing.TB) (text []byte, hash string) {
	t.Helper()
	m := &files.Manifest{Files: []files.Kept{{Name: "a.log", SHA256: heldHash, Size: 5}}}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	hash, _, err = files.Sum(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return text, hash
}

const defined = `{"version":1,"command":["true","{n}"],"parameters":[{"name":"n","type":"int","min":1,"max":100}],` +
	`"objective":{"metric":"elapsed"}}`

// askedFor is an external study. One trial is asked.
const askedFor = `{"version":1,"asked":true,"parameters":[{"name":"n","type":"int","min":1,"max":100}],` +
	`"objective":{"metric":"value"},"search":{"name":"random","seed":1}}`

func newRig(t testing.TB, edit ...func(*Options)) *rig {
	t.Helper()
	ctx := context.Background()
	st, err := setup.OpenStore(ctx, "memory")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{host: &fakeHost{store: st, state: map[string]string{}}, fleet: &fakeFleet{}, keys: newFakeKeys(), store: st}
	if r.blobs, err = files.Open(t.TempDir(), 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := r.blobs.Put(ctx, heldHash, int64(len(held)), strings.NewReader(held)); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "assay_build_info 1\n")
		}),
		Blobs: r.blobs, Studies: r.host, Trials: r.host, External: r.host, Fleet: r.fleet, Runs: r.fleet, Store: st,
		Keys: r.keys, About: About{Version: "test", Listen: []string{}},
	}
	for _, e := range edit {
		e(&o)
	}
	r.Server = New(o)
	for name, text := range map[string]string{"tuned": defined, "other": defined, "asked": askedFor} {
		def, err := spec.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.host.Submit(ctx, def, name, "test"); err != nil {
			t.Fatal(err)
		}
	}
	for id := int64(1); id <= 4; id++ {
		r.asked(t, id)
	}
	for _, id := range []int64{1, 3, 4} {
		r.told(t, id, float64(id))
	}
	if _, err := r.host.Ask(ctx, "asked", 1, -1); err != nil {
		t.Fatal(err)
	}
	text, hash := listed(t)
	r.keep(t, 1, hash)
	if _, err := r.blobs.Put(ctx, hash, int64(len(text)), bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	r.at = httptest.NewServer(r.Handler())
	t.Cleanup(func() {
		r.hubs.close()
		r.at.Close()
		st.Close()
	})
	return r
}

func (r *rig) asked(t testing.TB, id int64) {
	t.Helper()
	p := &assay.Proposal{ID: id, Config: assay.Config{float64(id)}}
	if err := r.host.append(context.Background(), "tuned", assay.Event{Asked: p}); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) told(t testing.TB, id int64, value float64) {
	t.Helper()
	end := &assay.Trial{
		Proposal: assay.Proposal{ID: id, Config: assay.Config{float64(id)}}, State: assay.Done, Value: value,
		Measurement: assay.Measurement{Elapsed: time.Duration(value * float64(time.Second))},
		Reason:      fmt.Sprint("reason ", id), Started: time.Unix(1700000000, 0), Ended: time.Unix(1700000001, 0),
	}
	if err := r.host.append(context.Background(), "tuned", assay.Event{Told: end}); err != nil {
		t.Fatal(err)
	}
}
