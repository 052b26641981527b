// Package workflow predicts how long a workflow takes on n slots, and for how
// much money, without running it.
//
// A [Workflow] is a directed acyclic graph of tasks with their run times. It is
// made by a [Builder]; package trace reads the records of a workflow system into
// one. Package site places the tasks and data of a workflow on sites that links
// connect.
//
// The pieces are used in this order:
//
//  1. Read the workflow; run times of other inputs or machines come from a
//     [RunModel].
//  2. Estimate its makespan: by levels ([LevelModel], Pietri et al., WORKS 2014,
//     Algorithm 1, with a [Leveler] of choice), by simulating a list scheduler
//     ([Simulate]), and bound it from below ([Bounds]).
//  3. Fit the site's overhead ([Calibrate]) from executions
//     whose makespan was recorded, and keep it as a [Calibration].
//  4. Price it ([Price], Eq. 4 and 5), vary the run times ([Vary], Table I and
//     Fig. 4), and choose ([MakePlan]), also among offers ([Compare]).
//
// Slots are the paper's word for the processors that run one task each. All
// times are seconds and all sizes bytes, see [Seconds] and [Bytes]. The time that a site adds
// to run times is an [Overhead].
//
// The package reads no clock and opens no file. Random numbers come from a seed that
// the caller gives. Values are immutable once made and safe for concurrent use,
// except a Builder. Slices that a method returns are the value's own and must not
// be changed, unless the comment of the method promises a copy.
package workflow
