// Package api is the studies of a server at a distance: routes under /api/v1, described by
// the OpenAPI 3.1 document that the server itself serves at /openapi.json, and a client
// of them in Go, [Client], which is what the commands use.
//
//	request ─► guard: Host, Origin, sizes, who it is      guard.go
//	        ─► the table of routes: what the role may     routes.go
//	        ─► huma: the request read and checked         the files named after what they serve
//	        ─► Host, Fleet, Keys: what is done            contracts.go
//
// What a person may do is one table, [Routes]: a route that does not stand in it cannot be
// registered. An error of the house becomes an answer in one place, problem.go, and
// becomes an error of the same class again in the client.
//
// Events are sent as they are on record, each with its number: see events.go. A client that
// comes back says which one it had last, and misses none.
//
// No request without a right is answered but /healthz; no request of a web page of somebody
// else is; and no GET changes anything.
package api
