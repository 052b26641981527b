// Package prune reuses earlier studies of the same program: what they found says where the running study need not look
// (Silva et al. 2018, JobPruner), and where it should look first.
//
// An earlier study is a [Study]: its parameters, its goal and its trials. A [Knowledge] is made of many of them.
// [Match] says whether it can serve the running one: the same parameters by name and kind, whose ranges overlap, and
// the same objective. [Rank] orders the studies by the normalised cross-correlation of their surrogates with that of
// the running study.
//
// Two wrappers use them, each on its own or one in the other, and the model of the
// searcher inside takes a hint of them ([Knowledge.Hint]):
//
//	k := prune.NewKnowledge(space, goal, studies)
//	prune.NewTransfer(prune.New(inner, k, ...), k, ...)
//
// [New] removes from the space the values with which the most similar study never got near its best (Algorithm 1), and
// puts them back when the running study contradicts it. [NewTransfer] proposes what the earlier studies agree on, then
// what a model of both them and the running study promises, as long as that model predicts the running study.
// [NewReuse] is the simple thing that they must beat: the best configuration of the most similar study.
//
// Objective values are minimized throughout, whatever the metric's direction and sign: see assay.Goal.Value.
package prune
