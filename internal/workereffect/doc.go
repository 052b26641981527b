// Package workereffect estimates the effects of machines on the values measured on them.
//
// Trials of one study are made by several workers, and no two machines are quite alike. A worker is a blocking factor,
// as a batch or a field is in the design of experiments: it adds a constant to the logarithm of every value that it
// measures. A [Model] learns these effects from the trials themselves, with no reference runs. [Model.Correct] returns
// the value that a trial would have had on the average worker of one class of machines.
//
// The model of a run of configuration c by worker w of class k is
//
//	log |value| = m + x(c)·β + a_k + b_w + u_c + e
//
// with x the features of the configuration, u_c its deviation from their linear function, and e the noise of the run.
// Runs of one configuration by several workers share u_c, so that they contribute most to b. Workers are alike unless
// the trials show a difference: b_w is normal with a learned deviation, of 3 % at first, so that a worker with few
// trials is near its class. Classes are not shrunk: the trials determine a_k.
//
// A linear function of the features is enough: its errors affect all workers alike, and a Gaussian process in its place
// gave the same errors on recorded runs (lab/notes/fleet.md).
//
// Values of both signs have no such factor, and nothing is corrected.
package workereffect
