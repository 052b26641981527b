// Package table plays recorded performance back: tables of configurations and the measurements of their runs, read
// from CSV, and a Runner that hands the recorded runs out in simulated time.
//
//	Open      reads a table, and reports the place of an unreadable cell
//	Table     the listed space, the recorded runs, the recorded optimum
//	Replay    an assay.Runner of the recorded runs
//	SimClock  the simulated time in which a study and its trials take part
//
// The caller reads a table, makes a searcher of its space, and runs a study with a Replay as the Runner and the clock
// of the Replay as the study's:
//
//	recorded, err := table.Open(spec)
//	space, err := recorded.Space()
//	clock := &table.SimClock{}
//	s := &study.Study{Space: space, Runner: table.NewReplay(recorded, clock, grows), Clock: clock, ...}
//
// The study is the same as with real runs: limits, early stopping and trials side by side happen at the moments at
// which they would have, and no real time passes. Two studies with the same seed are the same, event for event.
// [Table.Optimum] is the best result that the search could have found.
//
// A table has no measurement of a configuration that is not in it: running one is an error.
package table
