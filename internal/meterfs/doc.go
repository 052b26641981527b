// Package meterfs is a remote file system that counts and times its requests, so that the data flow of an
// unmodified program, and the parts of its waits that are due to the network and to the storage, are
// measured exactly.
//
// A [Server] exports a directory over a connection. A [Client] sends requests over it, several at a
// time; each reply carries how long the storage side took (its service time), and the rest of the time
// between request and reply is the network's. A [Mount] makes the directory visible to programs by FUSE.
//
// It behaves like NFS to one client that has the data set for itself: data is cached by the kernel and
// read ahead, writes are gathered and reach the server by the close of the file, fsync reaches the disk.
// Unlike NFS, cached data stay valid without asking, because there is no other writer. Locks and shared
// mappings work between the programs that use one mount.
//
// The bytes on the wire are described in wire.go. Both ends are of one version; the protocol has no
// other.
package meterfs
