// Package builds keeps the results of setups, so that none is made twice: a cache on disk that
// processes share.
//
// A [Recipe] lists the inputs of a build, and [Cache.Key] is a hash of all of them: the command and
// its variables, where it runs, the program that it starts, the content of the files that it is
// known to read, and the variables of this process that build tools obey. [Cache.Use] returns the
// folder of the build of a key, and makes it first if it does not exist.
//
// # On disk
//
//	DIR/KEY.lock         flock(2): exclusive to build or remove, shared to use
//	DIR/KEY/N/           the folder of one attempt to build
//	DIR/KEY/built.json   which attempt is whole; written last, by a rename
//
// A process that dies while it builds leaves an attempt that no built.json names: the next one
// removes it and makes another, in a folder of another name, which no process that is left of the first
// can write into. A folder is never moved: programs may have its path in them.
//
// When the builds exceed the limit, the least recently used are removed,
// except builds in use.
package builds
