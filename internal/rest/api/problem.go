package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
)

// A Problem is the body of an error response: problem details (RFC 9457), with the class of the error and a hint for
// the user.
type Problem struct {
	Type   string  `json:"type,omitempty" format:"uri-reference" doc:"always about:blank: see class"`
	Title  string  `json:"title" doc:"the status in words"`
	Status int     `json:"status" doc:"the status of the answer"`
	Detail string  `json:"detail" doc:"the error, for people"`
	Class  string  `json:"class,omitempty" doc:"the kind of error, for programs: usage, not-found, conflict, ..."`
	Hint   string  `json:"hint,omitempty" doc:"advice for people"`
	Errors []Fault `json:"errors,omitempty" doc:"the places at fault"`
}

// A Fault is one thing that is wrong with a request.
type Fault struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty" doc:"such as body.trials[0]"`
}

// Error returns the detail and where it happened.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Detail)
	for _, f := range p.Errors {
		b.WriteString("\n  ")
		if f.Location != "" {
			b.WriteString(f.Location + ": ")
		}
		b.WriteString(f.Message)
	}
	return b.String()
}

// GetStatus implements [huma.StatusError].
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements [huma.ContentTypeFilter].
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// statuses maps classes of errors to HTTP statuses. It is the only such mapping: the client reads the class.
var statuses = map[assay.Class]int{
	assay.ClassUnknown:     http.StatusInternalServerError,
	assay.ClassUsage:       http.StatusUnprocessableEntity,
	assay.ClassNotFound:    http.StatusNotFound,
	assay.ClassConflict:    http.StatusConflict,
	assay.ClassLocked:      http.StatusConflict,
	assay.ClassUnavailable: http.StatusServiceUnavailable,
	assay.ClassIO:          http.StatusInsufficientStorage,
	assay.ClassLost:        http.StatusInternalServerError,
}

// problem returns the answer to an error.
func problem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	class := assay.ClassOf(err)
	p := refuse(statuses[class], "%s", err.Error())
	p.Class, p.Hint = class.String(), assay.HintOf(err)
	return p
}

// refuse returns a problem that no error of the house is behind.
func refuse(status int, format string, args ...any) *Problem {
	p := &Problem{Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, args...)}
	switch {
	case status == http.StatusNotFound:
		p.Class = assay.ClassNotFound.String()
	case status == http.StatusConflict:
		p.Class = assay.ClassConflict.String()
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		p.Class = assay.ClassUnavailable.String()
	case status < http.StatusInternalServerError:
		p.Class = assay.ClassUsage.String()
	}
	return p
}

// asError returns a problem as an error of its class, for a client.
func (p *Problem) asError() error {
	class := assay.ClassUnknown
	for c := range statuses {
		if c.String() == p.Class {
			class = c
		}
	}
	return assay.WithHint(assay.WithClass(class, p), p.Hint)
}

// useProblems makes huma's own errors Problems. huma has a package variable for this, shared by all its users in the
// process, and there is no other way: see internal/arch.
var useProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		p := refuse(status, "%s", message)
		for _, err := range errs {
			if d, ok := err.(huma.ErrorDetailer); ok { // it is never wrapped
				f := d.ErrorDetail()
				p.Errors = append(p.Errors, Fault{f.Message, f.Location})
			} else if err != nil {
				p.Errors = append(p.Errors, Fault{Message: err.Error()})
			}
		}
		return p
	}
})
