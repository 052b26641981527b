package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A StudyHost runs many studies. It is safe for concurrent use, as the other parts of a host are.
type StudyHost interface {
	// Submit creates a study and runs it, or resumes the study of that name if its definition is the same. A different
	// definition is an error of class conflict.
	Submit(ctx context.Context, def *spec.Study, name, by string) (Info, error)
	// Steer runs, pauses or stops a study, or changes its priority or budget: see [assay.StudyCommand].
	Steer(ctx context.Context, study string, s assay.StudyCommand) error
	Info(ctx context.Context, study string) (Info, error)
	Infos(ctx context.Context) ([]Info, error)
}

// A TrialHost takes users' requests about trials.
type TrialHost interface {
	// Give runs configurations, in order.
	Enqueue(ctx context.Context, study string, configs []assay.Config, by string) error
	// Order runs trials before all others of their study.
	Order(ctx context.Context, study string, trials []int64, by string) error
	// Withdraw takes trials back.
	Withdraw(ctx context.Context, study string, trials []int64, by, reason string) error
	// Restore undoes Order and Withdraw for trials that have not begun.
	Restore(ctx context.Context, study string, trials []int64, by string) error
	// Discarded returns the withdrawn trials that Restore can bring back, the earliest first.
	Discarded() []service.Discarded
}

// An ExternalHost runs external studies: their trials are run by the client.
type ExternalHost interface {
	// Ask returns at most n trials. If again is not negative, trials that were returned longer than again ago and have no
	// result come first: see [study.ExternalSession].
	Ask(ctx context.Context, study string, n int, again time.Duration) (study.Answer, error)
	// Tell takes results, all or none, and returns the result of the study so far.
	Tell(ctx context.Context, study string, reports []study.Report) (study.Receipt, study.Result, error)
	// Recall withdraws and returns the trials that were returned by Ask at least age ago and have no result.
	Recall(ctx context.Context, study string, age time.Duration, by, reason string) ([]study.Handed, error)
}

// An Info is the state of a study on a server.
type Info = service.Info

// A Fleet is the workers of a server and their queue: see [queue.Fleet]. It is safe for concurrent use.
type Fleet interface {
	Queue() []queue.Entry
	Workers() []queue.WorkerState
	Order(worker string, o queue.Order) error
	// Unschedulable returns why no worker can run the open runs of a study, "" if one can.
	Unschedulable(study string) string
}

// Runs are the runs that workers make. It is safe for concurrent use.
type Runs interface {
	// Reported returns the reports of attempts at runs of a trial over their time, as far as they are kept.
	Reported(study string, trial int64) []queue.Reported
	// Live returns the run of a trial that is running or waiting, and false if no such run exists.
	Live(study string, trial int64) (queue.Live, bool)
	// Needs returns nil if a running attempt of one of the workers has an input of that hash.
	Needs(hash string, mine func(worker string) bool) error
}

// Keys authenticates requests. Implementations are safe for concurrent use.
type Keys interface {
	// Who returns the owner of a token that was presented from an address. It returns an error if the token is unknown,
	// expired or revoked.
	Who(ctx context.Context, token, from string) (Who, error)
	// Tokens returns the tokens without their secrets.
	Tokens(ctx context.Context) ([]Token, error)
	// Add creates a token and returns its secret, which cannot be read again. by is the name of the caller.
	Add(ctx context.Context, t Token, by string) (string, error)
	Revoke(ctx context.Context, name, by string) error
}

// A Who is the caller of a request.
type Who struct {
	Name string
	Role Role
	// Scope limits a role below [Admin] to the studies whose names begin with one of these prefixes. An empty Scope means
	// all studies.
	Scope []string
}

// sees reports whether the caller may see the studies of that name.
func (w Who) sees(study string) bool {
	return w.Role == Admin || len(w.Scope) == 0 ||
		slices.ContainsFunc(w.Scope, func(prefix string) bool { return strings.HasPrefix(study, prefix) })
}

// A Role is a set of permissions; see package access.
type Role = access.Role

// The roles, and the role of an unauthenticated request.
const (
	Nobody   Role = "none"
	Machine       = access.Worker
	Viewer        = access.Viewer   // looks
	Operator      = access.Operator // runs existing definitions with values of declared domains
	Author        = access.Author   // sets the program to execute
	Admin         = access.Admin    // manages tokens and permissions
)

// AuthorOrWorker is the least role of a route that both authors and workers may use.
const AuthorOrWorker Role = "author, worker"

// may reports whether role r suffices for a route that requires the role least.
func may(r, least Role) bool {
	if least == AuthorOrWorker {
		return r == Machine || r.Includes(Author)
	}
	return least == Nobody || r.Includes(least)
}
