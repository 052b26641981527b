// Package model learns regression functions from trials.
//
// A Learner here is a small struct of options whose zero values are documented defaults; its Fit returns an immutable
// Predictor (see the contracts in package assay). Pick one, and wrap it:
//
//  1. The learners are [Linear], [KNN] and [Forest], and further ones: boosted trees for exact and for censored
//     outcomes ([Boost], [AFT]), a multi-layer perceptron, a Gaussian process ([GP]), and [Interpolate] for outcomes
//     without noise.
//  2. Trials that were stopped early are censored examples. A learner that cannot use them returns assay.ErrCensored;
//     [DropCensored] leaves them out, and [Impute] replaces them by their expectation.
//  3. [Log] fits the logarithm of run times, whose noise is relative. Wrappers work from the outside in:
//     Log(Impute(Forest{}, 0)).
//  4. [CrossValidate] predicts every example without having seen it.
//
// A predictor of trees shows them as an [Ensemble], for explanations.
//
// The package is pure: it starts no goroutine, reads no clock and does no I/O. A learner with randomness has a Seed,
// and the same seed and data give the same predictor. Acquisition functions are in package search; rules that stop
// trials by a prediction, in package stop.
package model
