package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/queue"
)

// A Host runs many studies. It is safe for concurrent use.
type Host interface {
	// Submit makes a study and runs it, or goes on with the one of that name if it is the
	// same; it is an error of the class conflict if it is another.
	Submit(ctx context.Context, def *config.Study, name, by string) (Info, error)
	// Steer changes what a study as a whole does: see [assay.Steering].
	Steer(ctx context.Context, study string, s assay.Steering) error
	// Give has configurations of a person run, in order.
	Give(ctx context.Context, study string, configs []assay.Config, by string) error
	// Order has trials run before all others of their study.
	Order(ctx context.Context, study string, trials []int64, by string) error
	// Withdraw takes trials back.
	Withdraw(ctx context.Context, study string, trials []int64, by, reason string) error
	Info(ctx context.Context, study string) (Info, error)
	Infos(ctx context.Context) ([]Info, error)
}

// An Info is what there is to say of a study that a server holds.
type Info struct {
	assay.Summary
	State    string // running, paused, stopped or ended
	Priority int
	App      string // of the runs
	Class    string // of the machines
	Running  int    // attempts that are placed
	Lost     time.Duration
	Saved    time.Duration
}

// A Fleet is the machines of a server: see [queue.Fleet]. It is safe for concurrent use.
type Fleet interface {
	Queue() []queue.Entry
	Workers() []queue.WorkerState
	Order(worker string, o queue.Order) error
}

// Keys say who a request is from. They are safe for concurrent use.
type Keys interface {
	// Who returns whose token it is, and false if it is nobody's: unknown, expired or revoked.
	Who(token string) (Who, bool)
	// Tokens returns the tokens without their secrets.
	Tokens(ctx context.Context) ([]Token, error)
	// Add makes a token and returns what is to be kept of it, which nobody can ask for again.
	Add(ctx context.Context, t Token) (string, error)
	Revoke(ctx context.Context, name string) error
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

// A Role is what somebody may do. Each may do what the one before it may, but for
// [Machine], which is of its own kind.
type Role string

// The roles.
const (
	Nobody   Role = "none"
	Machine  Role = "worker"
	Viewer   Role = "viewer"   // looks
	Operator Role = "operator" // runs what is defined already, with values of declared domains
	Author   Role = "author"   // says what is executed
	Admin    Role = "admin"    // says who may do what
)

// ladder is the order of the roles of people.
var ladder = []Role{Viewer, Operator, Author, Admin}

// may reports whether somebody of role r may do what needs the role least.
func (r Role) may(least Role) bool {
	if least == Nobody {
		return true
	}
	have, want := slices.Index(ladder, r), slices.Index(ladder, least)
	return want >= 0 && have >= want
}
