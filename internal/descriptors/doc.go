// Package descriptors ends a program that may open too few files, before its packages open some of their
// own and panic. To import it is to use it.
//
// It needs no package but syscall, and packages are initialized in the order of their paths where
// nothing else orders them, so that it precedes the packages of other modules. A test of the command
// holds this.
package descriptors
