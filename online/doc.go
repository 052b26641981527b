// Package online tunes an SPMD program while it runs, as Active Harmony does
// (Tabatabaee, Tiwari and Hollingsworth 2005).
//
//	Session   hands configurations out to ranks and takes their times back
//	  think   the goroutine that owns the searcher: tell, ask
//	  write   the goroutine that appends to the record, many events at a time
//
// A rank never waits for the searcher or for the record.
package online
