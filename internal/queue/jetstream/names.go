package jetstream

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
)

// Names of subjects, streams and consumers. The version in the subjects is the version of the protocol.
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

// part returns the part of a subject for any name: the name itself, or "=" and its bytes in another
// form. No two names have the same.
func part(name string) string {
	switch {
	case token(name) && len(name) <= 64:
		return name
	case len(name) <= 64:
		return "=" + base64.RawURLEncoding.EncodeToString([]byte(name))
	}
	sum := sha256.Sum256([]byte(name))
	return "=" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// classPart is part of a class. It has no dash, and is "any" for the class "" alone.
func classPart(class string) string {
	switch {
	case class == "":
		return anyClass
	case token(class) && len(class) <= 64 && class != anyClass && !strings.Contains(class, "-"):
		return class
	}
	sum := sha256.Sum256([]byte(class))
	return "=" + hex.EncodeToString(sum[:])
}

// validClassPart reports whether s can be a result of classPart.
func validClassPart(s string) bool {
	return token(strings.TrimPrefix(s, "=")) && !strings.Contains(s, "-")
}

// consumerOf returns the name of the consumer of an application and a class. The last dash in it
// separates the two.
func consumerOf(app, class string) string { return part(app) + "-" + classPart(class) }

// subjectOf returns the subject of a ticket: a ticket that is there already has it.
func subjectOf(t queue.Ticket) string {
	return jobsPrefix + part(t.App) + "." + classPart(t.MachineClass) + "." + part(t.ID)
}

// checkTicket returns an error for an invalid ticket.
func checkTicket(t queue.Ticket) error {
	if t.ID == "" || t.App == "" {
		return assay.Errorf(assay.ClassUsage, "a ticket needs an ID and an application: %+v", t)
	}
	return nil
}
