// Package cello repeats experiments of Ding, Renda, Carbin, Pervaiz and Hoffmann,
// "Cello: Efficient Computer Systems Optimization with Predictive Early Termination and
// Censored Regression" (2022), on recorded tables in simulated time:
//
//	error     how far predictions of running trials are from their final values, each
//	          method on the trials that it selects itself (Figure 8)
//	same      the same of regressions that all know the same trials and are asked about
//	          the same runs, by how much of a run has passed
//	overhead  the time of a method for a trial, in real time (Figures 9 and 10)
//
// Package bench reports Figures 4 to 7 and Table 3.
package cello
