// Package batch makes the runs of a study jobs of a batch system, such as Slurm, without a server.
//
// A [Runner] hands each run to a [System], which starts a shim on some machine: [Shim]. Both share a directory, the
// spool. An attempt at a run has a directory there:
//
//	spec.json     the run to make; written before the job is submitted
//	script        the script of the job: fixed text, without a value of a parameter
//	submitted     the number of the job, once the batch system has accepted it
//	claim         the owner of the attempt: made by the shim that runs it, or by the Runner to keep any shim from it
//	beat.json     the measurements so far
//	order         stop or cancel: the Runner's order to the shim
//	result.json   the result of the run
//	lost          the reason why the Runner gave the attempt up
//	stdout, stderr   the output of the run
//
// # Sources of truth
//
// The batch system may lose a job, repeat it, use its number again, or report a wrong state. So its report of how a job
// ended is never trusted. The first of these that exists counts:
//
//  1. result.json with the name of the attempt: the result.
//  2. claim: the attempt has begun, and may be running.
//  3. The report of the batch system. An absent job counts as absent only if two queries, a minute apart, did not see
//     it, and the accounting, asked once, does not know it as alive. Then the attempt is lost.
//
// claim is made with O_EXCL, exactly once. A shim that finds it runs nothing. The Runner makes it itself before it
// gives up or takes back an attempt that has not begun: a job that the batch system starts later does nothing. So one
// attempt never makes a run twice, and no run is made without a caller that waits for it.
//
// A job is known by its name, which is written down before it is submitted: the number may be used again.
//
// # Politeness
//
// One query covers all jobs, each [Options.Poll], and less often when there are many, or when it fails. One job is
// submitted a second. The accounting is asked at most once an attempt. Results are read from the spool, which costs the
// batch system nothing.
package batch
