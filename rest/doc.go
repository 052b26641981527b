// Package rest is the loop at a distance. Its first part is on-line tuning:
// a running program's ranks talk to a [online.Session] by JSON over HTTP/1.1.
//
//	server   NewOnline(session, space, token).Serve(listener)
//	socket   ListenUnix: a directory of mode 0700, the peer's user ID checked
//	         ListenLoopback: 127.0.0.1 or ::1, with a token
//	client   Open(ClientOptions{Rank: r}), then Fetch and Report in a loop
//
// The messages are described in docs/format/online.md. Clients in Python and C
// are in clients; they behave as [Client] does.
//
// There is no way to reach a session from another machine, or from a web page.
package rest
