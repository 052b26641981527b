// Package rest connects running programs to on-line tuning: a program's ranks talk to a [online.Session] by JSON over
// HTTP/1.1.
//
//	server   NewOnline(session, space, token).Serve(listener)
//	socket   ListenUnix: a directory of mode 0700, the peer's user ID checked
//	         ListenLoopback: 127.0.0.1 or ::1, with a token
//
// The messages are described in docs/format/online.md. Clients in Python and C are in clients.
//
// A session cannot be reached from another machine, or from a web page.
package rest
