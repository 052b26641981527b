// Package request chooses the memory and the time to request for the tasks of a workflow, from
// the use in recorded executions.
//
// The pieces are used in this order:
//
//  1. [Uses] takes from recorded executions the use of each task, its request, and which
//     of its attempts were killed.
//  2. [Fit] fits a [Rule] of memory and one of time to each kind of task. A rule is a first request,
//     which may grow with the size of the input; each further attempt asks for twice as much.
//  3. [Tally] counts the waste and the failures of a choice of requests on executions.
//     [Judge] does that with each execution left out of the fit.
//
// A request is chosen by its waste: memory that was asked for and not used, over the time that
// it was held, all of it for attempts that were killed. Not more than a share of the tasks
// may fail, see [Options]. The waste of a choice is estimated by leaving executions out, so
// that a rule that only fits its own data does not win.
//
// The package is pure: no clock, no file, no random numbers.
package request
