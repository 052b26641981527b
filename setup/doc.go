// Package setup is the one way from a definition to a study.
//
// A definition ([spec.Study]) is the content of a study file or a command line. It becomes a study in two steps:
//
//	definition  --New-->  Problem  --Study-->  Study (study.Study)        a command, or a recorded table
//	                               --Session-> Session (online.Options)   on line
//
// First, [New] checks the definition and builds every part that can be wrong: a [Problem]. Nothing has been started
// or written when it returns. A study can be shown from the problem before it runs ([Problem.Preview]).
//
// Then [Problem.Study] gives the problem its place in a [Store], or [Problem.Session] if a program is tuned while it
// runs. In this order it finds or makes the study of that name, a new one with the earlier studies that help it;
// becomes its owner; makes the searcher; and opens the runner. If it fails, it closes everything that it has opened.
//
// [Study.Run] runs the study, and [Study.Close] releases its resources. [Open] opens the store, and does both steps.
// The same calls resume a study: a study on record with the same identity ([spec.Study.Identity]) is resumed.
//
// # The searcher of a study
//
// From the inside out, a study wraps the algorithm that its definition names in
//
//	search.Penalize    only with the option penalty
//	search.ImputeStopped     only if a posterior rule stops runs
//	prune              only if earlier studies help: New cuts values, NewTransfer proposes
//	search.Given       configurations that people enqueue, before the algorithm's own
//	search.First       the user's default comes first
//	search.Cache       no configuration is searched twice
//	search.Replicate   or search.Adaptive, if runs are repeated
//	search.CorrectWorkers      measurements of several workers become comparable
//	Around             only of the active learner of cost models, which sees each run
//
// The order matters. A repeated proposal is one proposal to all within, so that a model sees one value for each
// configuration; the default is cached and repeated like any other; and earlier studies prune the algorithm alone.
//
// # The tables
//
// The package holds the tables of the names that a definition may have, each once: searchers and learners
// (searchers.go), stopping rules (stoppers.go), estimators (tables.go), methods that are compared (methods.go),
// runners (runners.go) and stores (stores.go). The kinds of metric sources are two tables: the root package has their
// syntax, package run their measurement. CONTRIBUTING.md describes how to add a row.
//
// The package prints nothing and reads no flag: it returns its messages, or gives them to Options.Warn. An error that
// a user can mend is of the class usage, and begins with the place in the study file.
package setup
