// Package trace reads workflows from the records of workflow systems: WfFormat,
// DAGMan with its log or kickstart's records, Nextflow, Snakemake, Makeflow, and
// plain tables.
//
// [Read] is the only door. It recognises each source by its first bytes, unpacks
// gzip, and feeds a [workflow.Builder]; sources of one workflow, such as a graph
// and the records of its tasks, are merged. Readers work on a stream and hold
// the workflow, not the input: a gigabyte of WfFormat takes some seconds.
//
// Three rules hold for every format:
//
//   - Malformed input is a [*workflow.InputError] with the source's name and, where
//     there is one, the line and column. No input makes a reader panic.
//   - A value that is not recorded stays unknown: NaN for times, 0 for sizes and cores, -1
//     for a machine. No reader guesses a run time; [workflow.FillOptions] does.
//   - The last of several runs of a task counts, since the earlier ones failed.
//
// [Label] derives from a recorded execution and the name of its file which
// application it is of, at which site, and which configuration it repeats.
package trace
