// Package prune reuses earlier studies of the same program. Their results show the values that the running study can
// skip (Silva et al. 2018, JobPruner), and the configurations to try first.
//
// An earlier study is a [Study]: its parameters, its goal and its trials. A [Knowledge] is made of many of them.
// [Match] checks whether a study can serve the running one: the same parameters by name and kind, whose ranges overlap,
// and the same objective. [Rank] orders the studies by the normalised cross-correlation of their surrogates with the
// running study's surrogate.
//
// Two wrappers use them, each on its own or one in the other, and the model of the searcher inside takes a hint from
// them:
//
//	k := prune.NewKnowledge(space, goal, studies)
//	prune.NewTransfer(prune.New(inner, k, ...), k, ...)
//
// [New] removes from the space the values with which the most similar study never got near its best (Algorithm 1), and
// restores them when the running study contradicts it. [NewTransfer] proposes configurations on which the earlier
// studies agree, then the best ones by a model of both them and the running study, as long as that model predicts the
// running study. [NewReuse] is the baseline: the best configuration of the most similar study.
//
// Objective values are minimized throughout, whatever the metric's direction and sign: see assay.Goal.Value.
package prune
