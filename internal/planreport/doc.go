// Package planreport shows plans of workflows: as text for people, as JSON for
// programs, and drawn.
//
// The JSON of a plan is part of the command's contract: members are added, never
// renamed.
package planreport
