package queue

// flaws are defects that tests plant in a Fleet, to see that the simulator finds them.
// There are none otherwise.
type flaws uint

const (
	noFence        flaws = 1 << iota // an outcome of any attempt is taken for one of the newest
	claimsAnew                       // a claim that is repeated is another claim
	neverRevives                     // an attempt that was lost stays lost
	revivesBlindly                   // of two attempts both go on
	ignoresGaps                      // a machine that stood still measures right
	ignoresCancel                    // what was taken back runs on
	forgetsDrain                     // a worker that drains is given more
)

func (f flaws) has(one flaws) bool { return f&one != 0 }
