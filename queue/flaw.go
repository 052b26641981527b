package queue

// flaws are defects that tests plant in a Fleet, to see that the simulator finds them.
// There are none otherwise.
type flaws uint

const (
	noFence         flaws = 1 << iota // an outcome of any attempt is taken for one of the newest
	acksFirst                         // the answer comes before the record
	wallClock                         // leases follow the clock on the wall (in the simulator)
	tellsUnbooked                     // an outcome is handed on, and not booked
	claimsAnew                        // a claim that is repeated is another claim
	ticketIsRun                       // a ticket that is offered twice is the same run again
	tellsTwice                        // an outcome that is told again is booked again
	everyOneCounts                    // no outcome is extra
	neverRevives                      // an attempt that was lost stays lost
	revivesBlindly                    // of two attempts both go on
	ignoresGaps                       // a machine that stood still measures right
	ignoresCancel                     // what was taken back goes on
	startsWithdrawn                   // what was taken back while it was placed begins
	forgetsDrain                      // a worker that drains is given more
	forgetsClass                      // a study runs on any machine
	forgetsPriority                   // the oldest comes first
	forgetsOrders                     // orders on record are not followed after a restart
	neverRefills                      // lost tickets are not offered again
	forgetsPlaced                     // what the record has at workers is not known after a restart
	losesUnbooked                     // what is lost is not booked
	numFlaws        = iota
)

func (f flaws) has(one flaws) bool { return f&one != 0 }
