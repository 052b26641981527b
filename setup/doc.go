// Package setup is the one way from a definition to a study.
//
// A definition ([spec.Study]) is what a study file or a command line says. It becomes
// a study in two steps:
//
//	definition  --New-->  Problem  --Study-->  Study (study.Study)        a command, or a recorded table
//	                               --Session-> Session (online.Options)   on line
//
// First, [New] checks the definition and builds all that can be wrong with it: a
// [Problem]. Nothing has been started or written when it returns. What a study would do
// can be shown from the problem ([Problem.Preview]).
//
// Then [Problem.Study] gives the problem its place in a [Store], or [Problem.Session] if
// a program is tuned while it runs. In this order it finds or makes the study of that
// name, a new one with the earlier studies that help it; becomes its owner; makes the
// searcher; and opens the runner. What it has opened when it fails, it closes.
//
// [Study.Run] runs the study, and [Study.Close] gives back what it holds. [Open]
// opens the store, and does both steps. The same calls resume a study: a study on record
// with the same identity ([spec.Study.Identity]) goes on where it was.
//
// # The searcher of a study
//
// From the inside out, a study wraps the algorithm that its definition names in
//
//	search.Penalize    only with the option penalty
//	search.Presume     only if a posterior rule stops runs
//	prune              only if earlier studies help: New cuts values, NewTransfer proposes
//	search.Given       what people give the study, before the algorithm's own
//	search.First       the user's default comes first
//	search.Cache       no configuration is searched twice
//	search.Replicate   or search.Adaptive, if runs are repeated
//	search.Blocks      what several workers measure becomes comparable
//	Around             only of the active learner of cost models, which sees each run
//
// The order matters. What is repeated is one proposal to all within, so that a model
// sees one value for each configuration; the default is cached and repeated like any
// other; and earlier studies prune the algorithm alone.
//
// # The tables
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
