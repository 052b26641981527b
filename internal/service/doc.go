// Package service runs many studies in one process, on the workers of a fleet.
//
// A [Host] has one goroutine for each running study: the loop of package study, made from the same definition by
// package setup as on a command line. A study that has ended is on record and costs nothing. A user's decision about a
// study is on record before the Host confirms it, and holds again after a restart:
//
//	Submit     creates a study, or resumes it              Steered run
//	Steer      pause, run, stop, priority, budget          Steered
//	Give       a user's configurations                     Given
//	Order      trials that go first                        Ordered
//	Withdraw   trials that are taken back                  Withdrawn
//
// # Ownership of a study
//
// The Host holds the lock of each study that it runs. A study locked by another process, such as a tune in a terminal
// or another Host on the same store, is left alone, and a command for it is an error of class conflict. A Host checks
// at intervals whether such a study was released, and takes it over.
//
// # The end of a process
//
// [Host.Close] detaches from everything: the runs continue at their workers, and no study ends. The next [Open] resumes
// each study at its position, and attaches to its runs. The same holds after a process was killed.
//
// # Searching
//
// The server spends its time in searches, which fit models. At most one study per processor searches at a time, and the
// waiting ones take turns by the time that each has used.
package service
