// Package setup is the one way from a definition to a study.
//
// A definition ([config.Study]) is what a study file or a command line says. [New]
// checks it and builds what can be wrong with it: a [Problem]. A problem gets its place
// in a [Store] by [Problem.Study], or [Problem.Session] if a program is tuned while it
// runs. [Open] does all of it.
//
//	definition  --New-->  Problem  --Study-->  Study (study.Study)        a command, or a recorded table
//	                               --Session-> Session (online.Options)   on line
//
// The package holds the tables of what a definition may name, each once: searchers and
// learners (searchers.go), stopping rules (stoppers.go), estimators (tables.go), methods
// that are compared (methods.go), runners (runners.go) and stores (stores.go). The kinds
// of metric sources are two tables: what is written in the root package, how it is measured in
// package run. CONTRIBUTING.md says how
// a row is added.
//
// Nothing is printed and no flag is read: what there is to say is returned, or given to
// Options.Warn. An error that a user can mend is of the class usage, and begins with the
// place in the study file.
package setup
