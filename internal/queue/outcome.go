package queue

import (
	"fmt"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/ledger"
)

// who names an attempt in the error that it ended with.
func (a *attempt) who() string {
	switch a.Why {
	case assay.WhySetup:
		return a.Worker
	case assay.WhyError:
		return "on " + a.Worker
	}
	return fmt.Sprintf("attempt %d of trial %d, on %s", a.N, a.run.key.trial, a.Worker)
}

// err returns the error of Run for an attempt that has ended and does not count.
func (a *attempt) err() error {
	if (assay.AttemptEnd{Why: a.Why}).Counts() { // another attempt counts by the record, and this one is lost
		return fmt.Errorf("%s: %w", a.who(), assay.ErrLost)
	}
	return a.Err(a.who())
}

// result returns the results of Run for a run that counts.
func (r *run) result(c *ledger.Call) (assay.Measurement, error) {
	m, err := r.Result(c, r.Counted.who())
	m.Worker, m.MachineClass = r.Counted.Worker, r.Counted.MachineClass
	return m, err
}
