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
// It is open until it is given away. While that is recorded or submitted it is placing, and it is unclear if nobody
// answered: it may have begun then. A placed attempt is heard of by reports. One that is silent for longer than its
// lease is booked as lost, and is placed again if it is heard of after all. The first outcome of a run counts; each
// further one is booked as extra. Of two attempts that are both placed the one that has run longer goes on.
//
// A Run decides, and does nothing: its owner writes what [Run.Book] returns on record before [Run.End] puts it into
// effect, and brings the word of [Run.Verdict] to where the attempt is. The package has no clock, file or goroutine.
// The owner's lock guards a Run.
package ledger
