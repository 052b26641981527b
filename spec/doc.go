// Package spec reads the definition of a study from a study file (YAML) and from command-line specifications, and
// resolves it into a [Study]: a plain value that is stored as JSON with the study and read back without the file.
//
//  1. [Load] reads a study file, applies the command line over it and checks
//     the whole; a command line alone fills a [Study] and calls [Study.Check].
//     Every flaw is one message with file, line and column, all at once.
//  2. A study of a recorded table is resolved with [Study.Resolve] once the
//     table has been read.
//  3. [Study.Space], [Study.Goal], [Study.Default] and [Study.Program] build
//     the input of the loop; [Study.Identity] and [Study.Diff] show whether a
//     stored study is the same one.
//
// A key of study files is declared once, as a row of [Keys]: reading, writing, the schema, the reference, flags,
// identity and rights follow from it.
//
// The format is described in docs/format/study.md. Files are read with limits (size, items, depth, aliases), before
// anything is decoded.
package spec
