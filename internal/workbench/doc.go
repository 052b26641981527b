// Package workbench runs an unmodified program on a resource assignment
// R = ⟨C, N, S⟩ and measures the run from outside (Shivam, Babu and Chase, "Active
// and Accelerated Learning of Cost Models", VLDB 2006, §2.2 and Algorithms 2, 3).
//
// A [Bench] wraps the [assay.Runner] that starts the program. For each run it
//
//  1. drops the machine's cached pages of the data set,
//  2. exports the data set by a remote file system (S), whose rate may be limited,
//  3. emulates the network (N) between it and the program: round-trip time, bandwidth,
//  4. starts the program, where it sees the data set through that network, with a
//     limit on processor and memory (C),
//  5. adds the observed traffic to the measurement: the data flow D, and the time of
//     the requests in the network and at the storage.
//
// An ordinary user has all this in a user namespace, where the system allows it
// and the devices /dev/fuse and /dev/net/tun are open to all; but memory is limited
// only where we may make cgroups.
//
// The compute speed is a quota of the kernel's scheduler (cgroups), or where we
// may not set one, the program is stopped and continued in turn. Memory is a limit
// of a cgroup, page cache included. [Attributes] lists which of these the machine
// has.
//
// Steps 1 to 3 run in a separate process for each run, the stage, which is this
// binary executed again; so is the short program that enters the stage's namespaces
// before it becomes the program. The main function of a binary that uses this
// package must therefore call [Main] first. Namespaces, mounts and devices have no
// names and end with the stage, which ends when its owner does; cgroups, which
// stay, are removed by the stage if its owner is gone, and by [Sweep] if both are.
//
// The package does not choose assignments and does not learn from runs.
package workbench
