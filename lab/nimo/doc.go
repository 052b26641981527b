// Package nimo repeats the experiments of Shivam, Babu and Chase 2006, "Active and
// Accelerated Learning of Cost Models for Optimizing Scientific Applications": a cost
// model of a program is learned from runs on assignments of resources, and the score
// is its error on assignments that are not learned from, against the time that the
// runs have taken.
//
//	program.go     the four programs on a simulated workbench (§4.1)
//	experiment.go  the alternatives of Table 1, one at a time (Fig. 4 to 8, Table 2)
//	curve.go       the error after every run of a learner
//	tables.go      programs of recorded tables
//	duel.go        the learner against random sampling on one of these
//
// Every run is one of package study's loop in simulated time, see bench.Cell. Sections,
// figures and tables are numbered as in the paper.
package nimo
