package server

import (
	"context"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// Look returns a read-only API of a store. Studies that other processes run, such as a tune in another terminal, are
// shown as they progress. Every caller is taken for a viewer, so it is for use in the process itself: see [api.As].
func Look(store *setup.Store, version string) *api.Server { return LookFor(store, version, nil) }

// LookFor is Look for the owners of tokens too, at a host of these names.
func LookFor(store *setup.Store, version string, keys api.Keys, names ...string) *api.Server {
	host := &lookout{store: store}
	return api.New(api.Options{
		Keys: keys, Hosts: names, Studies: host, Trials: host, External: host, Fleet: nobody{}, Runs: nobody{}, Store: store,
		About: api.About{Version: version, Store: storeName(store.Path), Listen: []string{}},
	})
}

// A lookout is the host of a store that is only read.
type lookout struct{ store *setup.Store }

// errLook returns the error of every change.
func errLook() error {
	return assay.WithHint(
		assay.Errorf(assay.ClassUsage, "these pages only look: no server runs the studies of this store"),
		"assay server runs studies that can be steered")
}

func (l *lookout) Submit(context.Context, *spec.Study, string, string) (api.Info, error) {
	return api.Info{}, errLook()
}

func (l *lookout) Steer(context.Context, string, assay.StudyCommand) error { return errLook() }

func (l *lookout) Enqueue(context.Context, string, []assay.Config, string) error { return errLook() }

func (l *lookout) Order(context.Context, string, []int64, string) error { return errLook() }

func (l *lookout) Withdraw(context.Context, string, []int64, string, string) error { return errLook() }

func (l *lookout) Restore(context.Context, string, []int64, string) error { return errLook() }

func (l *lookout) Ask(context.Context, string, int, time.Duration) (study.Answer, error) {
	return study.Answer{}, errLook()
}

func (l *lookout) Tell(context.Context, string, []study.Report) (study.Receipt, study.Result, error) {
	return study.Receipt{}, study.Result{}, errLook()
}

func (l *lookout) Recall(context.Context, string, time.Duration, string, string) ([]study.Handed, error) {
	return nil, errLook()
}

func (l *lookout) Discarded() []service.Discarded { return nil }

// Info implements [api.StudyHost].
func (l *lookout) Info(ctx context.Context, name string) (api.Info, error) {
	sum, err := l.store.Summary(ctx, name)
	if err != nil {
		return api.Info{}, err
	}
	return l.looked(ctx, sum)
}

// Infos implements [api.StudyHost].
func (l *lookout) Infos(ctx context.Context) (all []api.Info, err error) {
	for sum, err := range l.store.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		i, err := l.looked(ctx, sum)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// looked returns the description of a study that is run by another process, or has ended. It is running if its lock is
// held. Otherwise its unfinished trials do not run: the end of the budget has cut them off, or their process was
// killed.
func (l *lookout) looked(ctx context.Context, sum assay.Summary) (api.Info, error) {
	i := api.Info{Summary: sum, State: service.StateOf(sum), Priority: sum.Priority, Lost: sum.Lost}
	if i.State != service.Idle {
		return i, nil
	}
	running := int(sum.Counts[assay.Running])
	of, known := l.store.Store.(store.Holder)
	if !known {
		i.Running = running
		return i, nil
	}
	by, err := of.Held(ctx, sum.Study)
	if by != "" {
		i.State, i.Running = service.Running, running
	}
	return i, err
}

// nobody is a Fleet without machines.
type nobody struct{}

func (nobody) Live(string, int64) (queue.Live, bool) { return queue.Live{}, false }

func (nobody) Needs(string, func(string) bool) error { return errLook() }

func (nobody) Queue() []queue.Entry            { return nil }
func (nobody) Workers() []queue.WorkerState    { return nil }
func (nobody) Order(string, queue.Order) error { return errLook() }
func (nobody) Unschedulable(string) string     { return "" }

func (nobody) Reported(string, int64) []queue.Reported { return nil }
