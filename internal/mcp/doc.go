// Package mcp serves coding agents by the Model Context Protocol. Each tool is a command line of this program: it runs
// in a child process, with the rights and the checks of the command, and its result is the JSON that the command
// prints. Nothing is measured in the server's own process.
//
// A study or a comparison starts within a stated budget only. It ends with the session that started it, unless a server
// of assay runs it. Two do not run at once on one machine, since they would disturb each other's measurements.
package mcp
