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

// A Host runs many studies. It is safe for concurrent use.
type Host interface {
	// Submit makes a study and runs it, or goes on with the one of that name if it is the
	// same; it is an error of the class conflict if it is another.
	Submit(ctx context.Context, def *spec.Study, name, by string) (Info, error)
	// Steer changes what a study as a whole does: see [assay.Steering].
	Steer(ctx context.Context, study string, s assay.Steering) error
	// Give has configurations of a person run, in order.
	Give(ctx context.Context, study string, configs []assay.Config, by string) error
	// Order has trials run before all others of their study.
	Order(ctx context.Context, study string, trials []int64, by string) error
	// Withdraw takes trials back.
	Withdraw(ctx context.Context, study string, trials []int64, by, reason string) error
	// Restore undoes what Order and Withdraw did to trials that have not begun.
	Restore(ctx context.Context, study string, trials []int64, by string) error
	// Discarded returns what Restore can bring back of what was withdrawn, the earliest first.
	Discarded() []service.Discarded
	// Ask hands out at most n trials of a study whose runs somebody else makes, those first, if again is not
	// negative, that were handed out longer ago than that and never told: see [study.ExternalSession].
	Ask(ctx context.Context, study string, n int, again time.Duration) (study.Answer, error)
	// Tell takes what trials came to, all or none, and returns what the study has come to.
	Tell(ctx context.Context, study string, reports []study.Report) (study.Receipt, study.Result, error)
	// Recall takes the trials back that were asked at least age ago and never told, and returns them.
	Recall(ctx context.Context, study string, age time.Duration, by, reason string) ([]study.Handed, error)
	Info(ctx context.Context, study string) (Info, error)
	Infos(ctx context.Context) ([]Info, error)
}

// An Info is what there is to say of a study that a server holds.
type Info = service.Info

// A Fleet is the machines of a server: see [queue.Fleet]. It is safe for concurrent use.
type Fleet interface {
	Queue() []queue.Entry
	Workers() []queue.WorkerState
	Order(worker string, o queue.Order) error
	// Reported is what attempts at runs of a trial reported over their time, as far as it is kept.
	Reported(study string, trial int64) []queue.Reported
	// Live returns what runs, or waits to run, of a trial; false if nothing does.
	Live(study string, trial int64) (queue.Live, bool)
	// Needs returns nil if a run that one of the workers is at has an input of that hash.
	Needs(hash string, mine func(worker string) bool) error
	// Lack says that no worker can run what is open of a study, "" if one can.
	Unschedulable(study string) string
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
	Author        = access.Author   // says what is executed
	Admin         = access.Admin    // says who may do what
)

// Porter is the least role of what an author may do, and a worker too.
const Porter Role = "author, worker"

// may reports whether somebody of role r may do what needs the role least.
func may(r, least Role) bool {
	if least == Porter {
		return r == Machine || r.Includes(Author)
	}
	return least == Nobody || r.Includes(least)
}
