// Package pro repeats the experiments of Tabatabaee, Tiwari and Hollingsworth 2005,
// "Parallel Parameter Tuning for Applications with Performance Variability": a
// parallel program tunes itself by parallel rank ordering (PRO) while it runs, and
// its total time counts, the search included.
//
//	landscape.go   a recorded table as a function on the whole grid
//	noise.go       the noise that is added to the time of an iteration, or multiplies it
//	program.go     one program of a number of time steps: Total Time (equations 1 and 2)
//	experiment.go  the cells of Fig. 9 and Fig. 10, by the pool of internal/bench
//
// Sections, figures and equations are numbered as in the paper.
package pro
