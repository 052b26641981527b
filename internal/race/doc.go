// Package race chooses the configurations of noisy runs to run again, and the best one.
//
// The least of many noisy values is partly luck. A study that trusts it stops every other run at a value that is never
// reached again, and recommends a lucky configuration. A [Field] holds the runs of each configuration and answers three
// questions:
//
//  1. Which value may stop other runs? The least value that some configuration has reached twice ([Field.Incumbent]).
//     [Field.Doubt] names the configuration whose value needs a second run first.
//  2. Which configurations are run again at the end, and in which order? [Field.Next]: the leader and the one that may
//     still be better, in turn, until no such other exists.
//  3. Which is best? The one with the least value that it is likely to keep ([Field.Best]).
//
// Steps 2 and 3 skip a configuration that is closer to a limit than the noise of the limited metric, as long as another
// exists: it could break the limit when it is run again.
//
// The noise is learned from repeated runs of configurations ([Field.Noise]). If these are all alike, nothing is run
// again: the only cost is a first pair.
//
// A Field depends only on the added runs: it has no clock and draws no random number. A resumed study adds the recorded
// runs and gets the same answers.
package race
