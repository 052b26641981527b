// Package prior is the knowledge base: the recorded studies that can help a new one.
//
//	kb, err := prior.Open(ctx, record, dir)
//	found, notes, err := kb.Resolve(ctx, running)   // the studies that serve; once, when a study begins
//	studies, err := kb.Studies(ctx, found)          // their state at that time; at each resume
//	list, err := kb.Similar(ctx, name)              // the similarity of the others
//
// The result of [Base.Resolve] belongs to the definition of the study, which is stored with it: the search can be
// repeated although the earlier studies have grown.
//
// The base caches the record in files: an index, with a fingerprint of each study, and the trials of each study. The
// events are the truth.
package prior
