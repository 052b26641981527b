// Package batch makes the runs of a study jobs of a batch system, such as Slurm, without a server.
//
// A [Runner] hands each run to a [System], which starts a shim on some machine: [Shim]. Both share a directory,
// the spool. An attempt at a run has a directory there:
//
//	spec.json     what is to be run; written before the job is submitted
//	script        what the batch system starts: fixed text, without a value of a parameter
//	submitted     the number of the job, once the batch system has taken it
//	claim         whose the attempt is: made by the shim that runs it, or by the Runner to keep any from it
//	beat.json     what is measured so far
//	order         stop or cancel: the Runner's word to the shim
//	result.json   what the run came to
//	lost          why the Runner gave the attempt up
//	stdout, stderr   what the run printed
//
// # What is true
//
// The batch system may lose a job, repeat it, use its number again, or tell a wrong state. So its word on how
// a job ended is never taken. Of these the first that is there holds:
//
//  1. result.json with the name of the attempt: that is what it came to.
//  2. claim: the attempt has begun, and may be running.
//  3. What the batch system says. Not there is true only if two queries, a minute apart, did not see the job, and
//     the accounting, asked once, does not know it as alive. Then the attempt is lost.
//
// claim is made with O_EXCL, once for ever. A shim that finds it runs nothing. The Runner makes it itself
// before it gives up an attempt that has not begun, or takes it back: whatever the batch system starts later
// does nothing. So no run is made twice by one attempt, and none is made that nobody waits for.
//
// A job is known by its name, which is written down before it is submitted: the number may be used again.
//
// # Politeness
//
// One query for all jobs, each [Options.Poll], and less often when there are many, or when it fails. One job is
// submitted a second. The accounting is asked at most once an attempt. Results are looked for in the spool, which
// costs the batch system nothing.
package batch
