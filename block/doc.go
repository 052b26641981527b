// Package block says what machines do to what is measured on them.
//
// Trials of one study are made by several workers, and no two machines are quite alike. A worker is
// a blocking factor, as a batch or a field is in the design of experiments: it adds the same to the
// logarithm of every value that it measures. A [Model] learns these effects from the trials
// themselves, with no reference runs, and [Model.Correct] returns what a trial would have come to on
// the average worker of one class of machines.
//
// The model of a run of configuration c by worker w of class k is
//
//	log |value| = m + x(c)·β + a_k + b_w + u_c + e
//
// with x the features of the configuration, u_c what they do not explain of it, and e the noise of
// the run. Runs of one configuration by several workers share u_c, so that they tell most of b.
// Workers are alike unless the trials say otherwise: b_w is normal with a deviation that is learned,
// of 3 % at first, so that a worker with few trials is near its class. Classes are not: a_k is
// wherever the trials say.
//
// A linear function of the features is enough: its errors fall on all workers alike, and those of a
// Gaussian process in its place came to the same on recorded runs (lab/notes/fleet.md).
//
// Values of both signs have no such factor, and nothing is corrected.
package block
