package jetstream

import (
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/queue"
)

// Names of what is in NATS. The version in the subjects is that of what is said there.
const (
	jobsStream    = "ASSAY_JOBS"
	resultsStream = "ASSAY_RESULTS"
	jobsPrefix    = "assay.v1.jobs."
	resultsPrefix = "assay.v1.results."
	callsPrefix   = "assay.v1.w."
	ordersPrefix  = "assay.v1.order."
	anyClass      = "any"
)

// token reports whether s can be one part of a subject.
func token(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// classToken returns the part of a subject for a class.
func classToken(class string) string {
	if class == "" {
		return anyClass
	}
	return class
}

// consumerOf returns the name of the consumer of an application and a class, which has no dash: so
// the last one separates the two.
func consumerOf(app, class string) string { return app + "-" + classToken(class) }

// subjectOf returns the subject of a ticket: a ticket that is there already has it.
func subjectOf(t queue.Ticket) string {
	return jobsPrefix + t.App + "." + classToken(t.Class) + "." + t.ID
}

// checkTicket returns an error for a ticket that has no subject.
func checkTicket(t queue.Ticket) error {
	if !token(t.ID) || !token(t.App) || t.Class != "" && !classy(t.Class) {
		return assay.Errorf(assay.ClassUsage, "a ticket of application %q, class %q, ID %q cannot be queued", t.App, t.Class, t.ID)
	}
	return nil
}

// classy reports whether s can name a class.
func classy(s string) bool { return token(s) && !strings.Contains(s, "-") && s != anyClass }
