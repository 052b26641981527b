// Package jobpruner repeats the experiments of Silva et al. 2018, "JobPruner: A Machine
// Learning Assistant for Exploring Parameter Spaces in HPC Applications": a program is
// searched in one environment while its studies of other environments are a knowledge
// base, and the score is the distance of the best configuration found from the optimum.
//
//	dataset.go     the environments of a recorded table
//	variant.go     ways to use the knowledge base, and the searchers that do
//	experiment.go  every variant in every environment, by the loop of internal/bench
//	result.go      the rows of Table I and II, Fig. 5 and 9
//
// Tables and figures are numbered as in the paper.
package jobpruner
