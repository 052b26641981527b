// Package costmodel predicts the run time of a program on resources it has not been run on, from few training runs
// (NIMO: Shivam, Babu and Chase, "Active and accelerated learning of cost models for optimizing scientific
// applications", VLDB 2006).
//
// An assignment of resources is an assay.Config: one coordinate per attribute, such as cpu, memory, rtt or the size of
// the input. The pieces, in order of use:
//
//  1. [Profile] turns the measurement of one run into a [Run]: its data flow D, its compute, network and disk occupancy
//     in seconds per unit of data flow (Algorithm 3), and the time that neither the processor nor I/O accounts for.
//  2. [ActiveLearner] is an assay.Searcher that chooses the next assignment to run the program on (Algorithm 1). It has
//     every alternative of the paper's Table 1. Its default is not from the paper: it chooses by error reduction per
//     second spent.
//  3. [Model] is the learned cost model. It predicts the total time and its parts with an interval, the assignments on
//     which runs fail, and the part that limits the program. It is saved as JSON.
//
// The package is pure: it starts no goroutine, reads no clock and does no I/O.
package costmodel
