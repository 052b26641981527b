// Package access controls the permissions on a server, and identifies servers.
//
// A [Tokens] is the file of tokens. A token is a name and a secret of 256 bits, of which only the SHA-256 is kept, with
// a role:
//
//	viewer < operator < author < admin    users and their programs
//	worker                                takes runs and reports outcomes, nothing else
//
// An author may define commands: so an author may run any program on the workers that accept commands. A token can be
// limited to studies whose names begin with certain prefixes, or to applications, and it can expire.
//
// An [Authority] is a server's own certificate authority. The holder of a token recognizes it by its fingerprint, which
// is part of the token's text: see [Credential].
package access
