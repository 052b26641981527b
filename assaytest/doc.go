// Package assaytest holds the conformance suites of the contracts of package assay, one a contract: [TestSearcher],
// [TestNarrower], [TestLearner], [TestStopper], [TestRunner], [TestStore] and [TestProjector], and [TestCarrier] for
// the carriers of package queue. A new implementation hands over a constructor and has every rule of its contract
// checked. The [Problem]s are objectives with a known optimum, for tests of search.
//
// The suites are tested themselves, against implementations that each break one rule.
package assaytest
