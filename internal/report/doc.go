// Package report formats results for people: numbers with units and intervals, tables, small curves for
// a terminal, charts for a page, and command lines that can be pasted into a shell.
//
// It knows nothing of studies and writes nothing by itself: numbers go in, text comes out. Numbers have
// at most three significant digits unless an interval determines their precision. Minus is U+2212, so
// that text is for people and not to be parsed; machines read JSON.
package report
