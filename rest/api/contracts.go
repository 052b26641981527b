package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/queue"
	"github.com/assay-run/assay/service"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// A StudyHost runs many studies. It is safe for concurrent use, as the other parts of a host are.
type StudyHost interface {
	// Submit creates a study and runs it, or resumes the one of that name if it is the same. It is an error
	// of the class conflict if it is another.
	Submit(ctx context.Context, def *spec.Study, name, by string) (Info, error)
	// Steer runs, pauses or stops a study, or changes its priority or budget: see [assay.Steering].
	Steer(ctx context.Context, study string, s assay.Steering) error
	Info(ctx context.Context, study string) (Info, error)
	Infos(ctx context.Context) ([]Info, error)
}

// A TrialHost takes requests of people about trials.
type TrialHost interface {
	// Give runs configurations, in order.
	Give(ctx context.Context, study string, configs []assay.Config, by string) error
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
	// Ask returns at most n trials. If again is not negative, trials that were returned longer ago than that
	// and have no result come first: see [study.ExternalSession].
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
	// Live returns the run of a trial that is running or waits, false if there is none.
	Live(study string, trial int64) (queue.Live, bool)
	// Needs returns nil if a running run of one of the workers has an input of that hash.
	Needs(hash string, mine func(worker string) bool) error
}

// Keys say who a request is from. They are safe for concurrent use.
type Keys interface {
	// Who returns whose token it is, which came from a place. It returns an error if it is
	// nobody's: unknown, expired or revoked.
	Who(ctx context.Context, token, from string) (Who, error)
	// Tokens returns the tokens without their secrets.
	Tokens(ctx context.Context) ([]Token, error)
	// Add makes a token and returns what is to be kept of it, which nobody can ask for again. by
	// says who asks.
	Add(ctx context.Context, t Token, by string) (string, error)
	Revoke(ctx context.Context, name, by string) error
}

// A Who is whom a request is from.
type Who struct {
	Name string
	Role Role
	// Scope limits a role below [Admin] to the studies of which the name begins with one
	// of these; it is all studies if there is none.
	Scope []string
}

// sees reports whether the studies of that name are anything to who.
func (w Who) sees(study string) bool {
	return w.Role == Admin || len(w.Scope) == 0 ||
		slices.ContainsFunc(w.Scope, func(prefix string) bool { return strings.HasPrefix(study, prefix) })
}

// A Role is what somebody may do; see package access.
type Role = access.Role

// The roles, and that of a request of nobody.
const (
	Nobody   Role = "none"
	Machine       = access.Worker
	Viewer        = access.Viewer   // looks
	Operator      = access.Operator // runs what is defined already, with values of declared domains
	Author        = access.Author   // sets what is executed
	Admin         = access.Admin    // says who may do what
)

// AuthorOrWorker is the least role of what an author may do, and a worker too.
const AuthorOrWorker Role = "author, worker"

// may reports whether somebody of role r may do what needs the role least.
func may(r, least Role) bool {
	if least == AuthorOrWorker {
		return r == Machine || r.Includes(Author)
	}
	return least == Nobody || r.Includes(least)
}
