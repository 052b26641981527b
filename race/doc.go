// Package race says which configurations of noisy runs are to be run again, and
// which one is best.
//
// The least of many noisy values is partly the luckiest. A study that believes it
// ends every other run against a value that nothing reaches again, and recommends
// what was lucky. A [Field] holds the runs of each configuration and answers three
// questions:
//
//  1. What may end other runs? The least value that some configuration has reached
//     twice ([Field.Incumbent]). [Field.Doubt] names the configuration to run again
//     before its value may.
//  2. Which configurations are run again at the end, and in which order?
//     [Field.Next]: the one that leads and the one that may yet be better, in turn,
//     until there is no such other.
//  3. Which is best? The one with the least value that it is likely to keep
//     ([Field.Best]).
//
// The noise is learned from the runs of equal configurations ([Field.Noise]). Where
// these are all alike nothing is run again: a first pair is all that it costs.
//
// A Field depends on the runs that were added and on nothing else: it has no clock
// and draws no random number. A study that goes on adds those on record and is asked
// what it would have been asked.
package race
