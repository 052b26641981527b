// Package jetstream carries the tickets of a fleet, and the calls of its workers, on NATS JetStream: a server embedded
// in this process ([Start]), or an external one ([Dial]).
//
// A [Bus] is a connection. Its Carrier is a [queue.Carrier]; its Control is the [queue.Control] that another Bus serves
// (Answer).
//
//	stream ASSAY_JOBS      subjects assay.v1.jobs.APP.CLASS.TICKET; CLASS is "any" if it does not matter
//	  consumer APP-CLASS   one for each application and class: its lease is AckWait
//	stream ASSAY_RESULTS   subjects assay.v1.results.WORKER; only with an external NATS
//	requests               assay.v1.w.WORKER.hello, claim, beat, tell
//
// # Storage
//
// A ticket has an ID, an application and a class. No command, no value and no secret is ever stored in a stream of an
// embedded server: tasks and outcomes are requests and responses. The stream is not authoritative: if it is deleted or
// damaged, it is recreated, and the fleet offers the open attempts again.
//
// With an external NATS, an outcome that no server accepts is put into ASSAY_RESULTS too, so that it is not delayed by
// the end of the worker. It stays in the worker's spool until a server has it.
//
// # Rights
//
// A client on the unix socket is the user who owns it, and may do everything, and so may this process. Over TCP a
// [Door] decides by a token, and NATS enforces that a worker takes tickets of its applications only, sends as itself
// and receives its own messages only. One thing it cannot enforce: a worker may give back another worker's ticket of
// its own application. The fleet offers it again within seconds.
package jetstream
