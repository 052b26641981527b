package stop

import "github.com/assay-run/assay"

// Audit lets a share of the trials that Rule would stop go on to their ends, to show
// what its stops are worth: whether one would have become the best, and how long it
// would have gone on. Which trials these are is drawn by their numbers alone, so they
// are a random sample of those that Rule would stop.
type Audit struct {
	Rule  assay.Stopper
	Share float64 // of the trials, from 0 to 1
	Seed  uint64
}

var _ assay.Stopper = Audit{}

// auditSalt sets the draw apart from that of the trials which a rule spares.
const auditSalt = 0xa0761d6478bd642f

// Follows implements [assay.Follower].
func (a Audit) Follows() bool {
	f, ok := a.Rule.(assay.Follower)
	return ok && f.Follows()
}

// Decide implements [assay.Stopper]. A decision that an audit takes back says so.
func (a Audit) Decide(history []assay.Trial, running assay.Trial) assay.Decision {
	d := a.Rule.Decide(history, running)
	if d.Stop && spared(running.ID, a.Seed^auditSalt, a.Share) {
		d.Stop, d.Audited, d.Reason = false, true, "audited, not stopped: "+d.Reason
	}
	return d
}
