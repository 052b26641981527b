// Package prior is the knowledge base: the studies on record that can help a new one.
//
//	kb, err := prior.Open(ctx, record, dir)
//	found, notes, err := kb.Resolve(ctx, running)   // which of them serve; once, when a study begins
//	studies, err := kb.Studies(ctx, found)          // those, as they were then; whenever it goes on
//	list, err := kb.Similar(ctx, name)              // how alike the others are
//
// What [Base.Resolve] finds belongs to the definition of the study, which is stored
// with it: the search can be repeated although the earlier studies have grown.
//
// The base keeps what it has read of the record in files: an index, with a
// fingerprint of each study, and the trials of each study. They are a cache: the
// events are the truth.
package prior
