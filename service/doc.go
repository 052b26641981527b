// Package service runs many studies in one process, on the workers of a fleet.
//
// A [Host] has one goroutine for each study that goes on: the loop of package study, made of
// the same definition by package setup as on a command line. A study that has ended is on
// record and costs nothing. What people decide about a study is on record before the Host says
// that it is so, and holds again after a restart:
//
//	Submit     makes a study, or goes on with it           Steered run
//	Steer      pause, run, stop, priority, budget          Steered
//	Give       configurations that a person wants          Given
//	Order      trials that go first                        Ordered
//	Withdraw   trials that are taken back                  Withdrawn
//
// # Who owns a study
//
// The Host holds the lock of each study that it runs. One that somebody else runs, such as a
// tune in a terminal or another Host on the same store, is left alone, and a command for it is
// an error of the class conflict. A Host looks now and then whether a study that another one
// had was let go of, and takes it over.
//
// # The end of a process
//
// [Host.Close] lets go of everything: the runs go on at their workers, and no study ends. The
// next [Open] goes on with each study where it was, and attaches to its runs. So does one after
// a process that was killed.
//
// # Searching
//
// What costs the server time is searching: fitting models. At most as many studies search at
// once as there are processors, and those that wait take turns by the time that each has used.
package service
