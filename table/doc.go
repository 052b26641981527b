// Package table plays recorded performance back: tables of configurations and
// what each of their runs measured, read from CSV, and a Runner that hands the
// recorded runs out in simulated time.
//
//	Open      reads a table, and says where a cell cannot be read
//	Table     the listed space, the recorded runs, the recorded optimum
//	Replay    an assay.Runner of the recorded runs
//	SimClock  the simulated time in which a study and its trials take part
package table
