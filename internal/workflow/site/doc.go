// Package site plans workflows over sites: at which site each task computes, in which site's storage its
// data are, and which data are copied between sites beforehand, so that the workflow ends soonest
// (Shivam, Babu and Chase, VLDB 2006, §2.1).
//
// A [Network] is sites and the links between them. A [TaskModel] predicts how long a task takes on a
// [Resource]: a site to compute at, one to keep data at, and the route between them. [MakePlans]
// searches and explains: the best [Plan], plans of other kinds and why they lose, the impossible ones
// with the reason, and a bound that no plan beats.
//
// The search is in four files. A state is a partial plan (state.go). Small workflows are planned exactly
// by branch and bound (exact.go, bound.go), others by beam search (beam.go). The results are explained
// from the finished states (explain.go). Equal inputs give equal plans.
package site
