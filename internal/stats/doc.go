// Package stats holds the statistics of measured run times: estimates and tests for a handful of noisy, skewed and
// sometimes heavy-tailed numbers, with their uncertainty.
//
// The pieces, in the order in which a study uses them:
//
//  1. Replicates of one configuration are reduced to one number by [Min], [Median] or [Mean]; [Pareto.Replicates]
//     returns the number of replicates for a minimum.
//  2. A number for people has an interval, a sample size and warnings: [MedianInterval], [MeanInterval], [Bootstrap]
//     return an [Estimate].
//  3. Two configurations are compared by [CompareShift], or by [ComparePaired] if their runs were interleaved; the
//     verdict is [Undecided] unless a difference is shown.
//  4. Noise itself is described by [TwoJob], [Pareto], [Hill], [LogLogTail] and [DiagnoseTail].
//  5. Surfaces over a space are described by [Correlation], [Spearman], [CrossCorrelation], [NewVariogram] and the
//     tests [ShapiroFrancia], [KruskalWallis] and [BrownForsythe].
//  6. Predictions and searches are judged by [RelativeError], [MAPE] and [TotalTime].
//
// Everything is a pure function of its arguments. Random functions take a seed or a *rand.Rand; no argument is
// modified. NaN means "not estimated". Samples with NaN give NaN. +Inf, the value of a failed run, is an ordinary large
// number to all functions that are based on ranks.
package stats
