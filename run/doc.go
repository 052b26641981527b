// Package run holds the carriers of jobs: implementations of [assay.Runner] and the wrappers around them.
//
// [NewLocal] runs a command on this machine. It measures from outside, over the whole tree of processes, and returns
// only when none of them is left:
//
//  1. The program starts without a shell, in a session of its own, with the
//     null device as standard input, and with ASSAY_RUN in its environment.
//  2. Each slot has a group that its runs start in if cgroup v2 is mounted and
//     ours to use. Otherwise the tool, being a subreaper, adopts processes that a run
//     leaves behind, and finds it by descent, session and marker.
//  3. The output is read all the time, its beginning and end are kept.
//  4. The end of the main process, of the context or of the limit ends the run:
//     SIGTERM, the grace, then SIGKILL to all remaining processes.
//
// # Metrics
//
// A Local measures, in base units:
//
//	elapsed                 s  from exec to the end of the main process, or to the moment it was ended
//	user, system, cpu       s  processor time; cpu is the sum of both
//	max_rss                 B  largest resident set of any one process, as of GNU time
//	read_bytes, write_bytes B  block input and output, in units of 512 B; reads from the page cache are not counted
//	voluntary_switches, involuntary_switches   context switches
//	exit_code, signal          128+n and n if signal n ended the main process
//	energy, power           J, W  of the whole machine (RAPL), where it can be read
//
// The figures of wait4(2) cover the main process, every descendant that was waited for, and every orphan that this
// process adopted. Processor time of processes without a wait is added from the cgroup, if there is one.
//
// max_rss needs care: the kernel counts the memory of the process that calls execve as memory of the program.
// Therefore a Local starts programs from a tiny process of its own where it can (Linux on amd64, [Local.ExactRSS]);
// elsewhere max_rss is absent unless it is above the peak resident set of the tool itself.
//
// # Limitations
//
// It limits no memory, disk or network, and realises no resource but cpus: wrappers do that. Energy of parallel runs
// is not divided between them. While a Local without cgroups runs a job, the program that uses it must not start
// children in sessions of their own by other means (os/exec with Setsid): a Local cannot distinguish them from orphans
// of the job. In parallel runs without cgroups, an orphan in its own session that has cleared its environment and
// redirected its output cannot be assigned to a run: it is ended with the last of them.
package run
