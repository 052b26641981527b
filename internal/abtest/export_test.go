package abtest

// Machine and Machines are for the tests of whole studies, which import packages that import this one.
type Machine = machine

// Machines returns the kinds of noise.
var Machines = machines
