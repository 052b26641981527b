// Package api serves studies over HTTP: routes under /api/v1, described by the OpenAPI 3.1 document that the server
// itself serves at /openapi.json. It also has a Go client, [Client], which the commands use.
//
//	request ─► guard: Host, Origin, sizes, the caller     guard.go
//	        ─► the table of routes: what the role may     routes.go
//	        ─► huma: the request read and checked         the files named after their resources
//	        ─► Host, Fleet, Keys: the work                contracts.go
//
// One table, [Routes], defines the permissions: a route that is missing there cannot be registered. One file,
// problem.go, maps errors to responses; the client maps them back to errors of the same class.
//
// Events are sent as they are on record, each with its number: see events.go. A client that reconnects sends the number
// of the last event it received, and misses none.
//
// Only /healthz is answered without authorization. Requests of foreign web pages are refused, and no GET changes
// anything.
package api
