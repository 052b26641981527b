package stop

import "github.com/assay-run/assay"

// Audit lets a share of the trials that Rule would stop continue to their ends, to check the stops: whether a stopped
// trial would have become the best, and how long it would have run. These trials are drawn by their numbers alone, so
// they are a random sample of the trials that Rule would stop.
type Audit struct {
	Rule  assay.Stopper // to be checked
	Share float64       // of the trials, from 0 to 1
	Seed  uint64        // of the draw
}

var _ assay.Stopper = Audit{}

// auditSalt separates this draw from the draw of the trials that a rule spares.
const auditSalt = 0xa0761d6478bd642f

// Follows implements [assay.CurveStopper].
func (a Audit) Follows() bool {
	f, ok := a.Rule.(assay.CurveStopper)
	return ok && f.Follows()
}

// Decide implements [assay.Stopper]. A decision that an audit takes back is marked Audited.
func (a Audit) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	d := a.Rule.Decide(history, running)
	if d.Stop && spared(running.ID, a.Seed^auditSalt, a.Share) {
		d.Stop, d.Audited, d.Reason = false, true, "audited, not stopped: "+d.Reason
	}
	return d
}
