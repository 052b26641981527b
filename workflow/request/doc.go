// Package request says how much memory and time to ask for the tasks of a workflow, from
// what recorded executions used.
//
// The pieces are used in this order:
//
//  1. [Uses] takes from recorded executions what each task used, what was asked for it, and which
//     of its attempts were killed.
//  2. [Fit] fits a [Rule] of memory and one of time to each kind of task. A rule is a first request,
//     which may grow with the size of the input; each further attempt asks for twice as much.
//  3. [Tally] counts what a choice of requests wastes and how often it fails on executions.
//     [Judge] does that with each execution left out of the fit.
//
// A request is chosen by what it wastes: memory that was asked for and not used, over the time that
// it was held, all of it for attempts that were killed. Not more than a share of the tasks
// may fail, see [Options]. What a choice comes to is found by leaving executions out, so
// that a rule that only fits what it has seen does not win.
//
// The package is pure: no clock, no file, no random numbers.
package request
