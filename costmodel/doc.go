// Package costmodel learns to predict how long a program runs on resources it
// has not been run on, from as little running as possible (NIMO: Shivam, Babu and
// Chase, "Active and accelerated learning of cost models for optimizing
// scientific applications", VLDB 2006).
//
// An assignment of resources is an assay.Config: one coordinate per attribute,
// such as cpu, memory, rtt or the size of the input. The pieces, in order of use:
//
//  1. [Profile] turns the measurement of one run into a [Run]: its data flow D
//     and its compute, network and disk occupancy, seconds per unit of data flow
//     (Algorithm 3), and what neither the processor nor I/O accounts for.
//  2. [ActiveLearner] is an assay.Searcher that chooses the next assignment to
//     run the program on (Algorithm 1), with every alternative of the paper's
//     Table 1, and by default one of ours that chooses by error reduction per
//     second spent.
//  3. [Model] is what was learned. It predicts the total time and its parts with
//     an interval, says where runs fail, and what limits the program where. It is
//     saved as JSON.
//
// The package is pure: it starts no goroutine, reads no clock and does no I/O.
package costmodel
