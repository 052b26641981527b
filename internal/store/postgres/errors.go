// This file has the errors that callers branch on, and the way from an error of the server or
// of the connection to one of them.

package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// The errors that callers branch on. A study that does not exist matches fs.ErrNotExist, one that does fs.ErrExist,
// and a store that was closed fs.ErrClosed.
var (
	// ErrUnavailable reports that the server does not answer. It was asked again for [Options.Wait]. The outcome of an
	// Append is unknown; the same call finds it.
	ErrUnavailable = assay.Errorf(assay.ClassUnavailable, "the database does not answer")
	// ErrIO reports that the server's disk is full or failing.
	ErrIO = assay.Errorf(assay.ClassIO, "the database's disk is full or failing")
	// ErrRefused reports that the server refuses this user, or a necessary statement.
	ErrRefused = assay.Errorf(assay.ClassUsage, "the database refuses")
	// ErrUnsafe reports that the server may lose acknowledged data.
	ErrUnsafe = assay.Errorf(assay.ClassUsage, "the database may lose acknowledged data")
	// ErrDamaged reports that the database does not hold the data that was written.
	ErrDamaged = store.ErrDamaged
	// ErrNewer reports that the tables were made by a newer version.
	ErrNewer = assay.Errorf(assay.ClassUsage, "the tables were made by a newer version")
	// ErrForeign reports that the schema has tables that are not ours.
	ErrForeign = assay.Errorf(assay.ClassUsage, "the schema is not a store")
)

// classify wraps an error in the sentinel of its class. nil stays nil, and an error of no class stays as it is. The
// classes of SQLSTATE are its first two characters (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func classify(err error) error {
	for _, known := range []error{ErrUnavailable, ErrIO, ErrRefused, ErrUnsafe, ErrDamaged, ErrNewer, ErrForeign} {
		if errors.Is(err, known) {
			return err
		}
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return classifyServer(e, err)
	}
	if isBroken(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// classifyServer is classify for errors of the server itself.
func classifyServer(e *pgconn.PgError, err error) error {
	switch class := e.Code[:min(2, len(e.Code))]; {
	// It stops, it starts, or it has killed our connection; too many connections; a deadlock;
	// and a server that follows another, as one does for a while that takes over.
	case class == "08", class == "57", class == "40", e.Code == "53300", e.Code == "25006", e.Code == "55P03":
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case class == "53", class == "58":
		return fmt.Errorf("%w: %w", ErrIO, err)
	case strings.HasPrefix(e.Code, "XX"):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case class == "28", class == "3D", e.Code == "42501":
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// isBroken reports whether an error belongs to a connection rather than to a statement.
func isBroken(err error) bool {
	if _, is := errors.AsType[*pgconn.ConnectError](err); is {
		return true
	}
	if _, is := errors.AsType[net.Error](err); is {
		return true
	}
	for _, broken := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, context.DeadlineExceeded,
		syscall.ECONNRESET, syscall.EPIPE,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return err != nil && (pgconn.SafeToRetry(err) || pgconn.Timeout(err))
}

// scanError returns err, in the class [ErrDamaged] if it comes from a value that its column cannot have. Any error that
// is neither the server's nor the connection's comes from the conversion of a column or from the text in it.
func scanError(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) ||
		errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*pgconn.PgError](err); ok || isBroken(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
