// Package expr reads the conditions that people write: relations between parameters ("threads <= 4 ||
// preset == 'fast'") and limits on measured metrics ("max_rss <= 2e9 && out_size < 1e8").
//
// The language is expr-lang: arithmetic (+ - * / % **), comparisons, && || ! (also and, or, not), in,
// matches, contains, startsWith, endsWith, c ? a : b, lists [1, 2] and 1..4, and the functions of
// [Functions]. It has no side effects, no variables and no loops beyond lists of 10,000 elements. An
// expression has at most [MaxText] bytes.
//
// # Names
//
// A parameter or metric whose name is an identifier is written as it is. In any other name every
// character that is not a letter, digit or underscore is written as an underscore, with one more in
// front if the name begins with a digit: buffer-size is buffer_size, 8x8dct is _8x8dct.
// $env["buffer-size"] always works, also for a name that is a word of the language or that two
// parameters would share.
package expr
