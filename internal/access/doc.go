// Package access says who may do what on a server, and who a server is.
//
// A [Tokens] is the file of tokens. A token is a name and a secret of 256 bits, of which only the
// SHA-256 is kept, with a role:
//
//	viewer < operator < author < admin    people and their programs
//	worker                                 takes and tells runs, and nothing else
//
// An author may define commands: what an author may do, any program may do on the workers that accept
// commands. A token can be limited to studies whose names begin with some words, or to applications,
// and it can end by itself.
//
// A [Authority] is a server's own certificate authority. Whoever holds a token knows it by its
// fingerprint, which is part of the token's text: see [Credential].
package access
