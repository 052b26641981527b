// Package ledger keeps account of the attempts at a run that is made elsewhere: by workers of a fleet, or as jobs of a
// batch system.
//
// A [Run] has attempts with numbers, of which the greater one is the newer, and calls that wait for its outcome. An
// [Attempt] goes through these states:
//
//	Open ─► Placing ─► Placed ─► Ended
//	 ▲         │  ▲       │  ▲      ▲
//	 │         ▼  │       ▼  │      │
//	 └────── Unclear     Lost ──────┘
//
// It is open until it is given away. While that is recorded or submitted it is placing, and it is unclear if no answer
// arrived: it may have begun then. A placed attempt sends reports. One that is silent for longer than its
// lease is booked as lost, and is placed again if it reports after all. The first outcome of a run counts; each
// further one is booked as extra. If two attempts are placed, the one that has run longer goes on.
//
// A Run decides, and does nothing: its owner records the result of [Run.Book] before [Run.End] puts it into
// effect, and delivers the word of [Run.Verdict] to the attempt. The package has no clock, file or goroutine.
// The owner's lock guards a Run.
package ledger
