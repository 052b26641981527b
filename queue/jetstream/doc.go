// Package jetstream carries the tickets of a fleet, and the calls of its workers, on NATS JetStream:
// a server inside of this process ([Start]), or one that is elsewhere ([Dial]).
//
// A [Bus] is a connection. Its Carrier is a [queue.Carrier]; its Control is the [queue.Control] that
// another Bus answers for (Answer).
//
//	stream ASSAY_JOBS      subjects assay.v1.jobs.APP.CLASS.TICKET; CLASS is "any" if it does not matter
//	  consumer APP-CLASS   one for each application and class: its lease is AckWait
//	stream ASSAY_RESULTS   subjects assay.v1.results.WORKER; only where NATS is elsewhere
//	requests               assay.v1.w.WORKER.hello, claim, beat, tell
//
// # What lies where
//
// A ticket has an ID, an application and a class. No command, no value and no secret is ever stored
// in a stream of an embedded server: tasks and outcomes are requests and their answers. The stream is
// no truth: deleted or damaged, it is made anew, and the fleet offers what is open again.
//
// Where NATS is elsewhere, an outcome that no server takes is put into ASSAY_RESULTS too, so that it
// is not held up by the end of the worker. It stays in the worker's spool until a server has it.
//
// # Rights
//
// Whoever connects through the unix socket is the user who owns it, and may do everything, and so does
// this process. Over TCP a [Door] decides by a token, and NATS enforces that a worker
// takes tickets of its applications, speaks as itself and hears what is meant for it, nothing else.
// What it cannot enforce is left to the fleet: a worker may give back another's ticket of its own
// application, which is offered again within seconds.
package jetstream
