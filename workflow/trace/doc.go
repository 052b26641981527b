// Package trace reads workflows from what workflow systems leave behind: WfFormat,
// DAGMan with its log or kickstart's records, Nextflow, Snakemake, Makeflow, and
// plain tables.
//
// [Read] is the only door. It recognises each source by its first bytes, unpacks
// gzip, and feeds a [workflow.Builder]; sources of one workflow, such as a graph
// and the records of its tasks, are merged. Readers work on a stream and hold
// what they learn, not what they read: a gigabyte of WfFormat takes some seconds.
//
// Three rules hold for every format:
//
//   - What does not fit is a [*workflow.InputError] with the source's name and, where
//     there is one, the line and column. No input makes a reader panic.
//   - What is not recorded stays unknown: NaN for times, 0 for sizes and cores, -1
//     for a machine. No reader guesses a run time; [workflow.FillOptions] does.
//   - Of several runs of a task the last counts, since those before it failed.
//
// [Label] tells from a recorded execution and the name of its file which
// application it is of, at which site, and of what it is a repetition.
package trace
