package pages

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Files are the modules without their comments, the style and the template of a report, under the
// names by which they import each other.
func Files() fs.FS {
	files, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // the name is valid
	}
	return bare{files}
}

// bare is a file system whose modules have no comments.
type bare struct{ fs.FS }

// ReadFile implements [fs.ReadFileFS].
func (b bare) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(b.FS, name)
	if err != nil || path.Ext(name) != ".js" {
		return text, err
	}
	return Bare(text), nil
}

// Open implements [fs.FS].
func (b bare) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil || path.Ext(name) != ".js" {
		return f, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := b.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(text), info, int64(len(text))}, nil
}

// A file is one in memory.
type file struct {
	io.ReadSeeker
	fs.FileInfo
	size int64
}

func (f *file) Size() int64                { return f.size }
func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }

var (
	typeComment = regexp.MustCompile(`(?s)/\*\*.*?\*/ ?`)
	lineComment = regexp.MustCompile(`(?m)^[ \t]*//.*\n`)
	endComment  = regexp.MustCompile(`(?m)([;{,]) // .*$`)
	emptyLine   = regexp.MustCompile(`(?m)^[ \t]*\n`)
	indentation = regexp.MustCompile(`(?m)^ +`)
)

// Bare returns one of our modules without the parts that only readers and type checkers need: comments that are whole
// lines, those between /** and */, those at the end of a statement, empty lines and half of the indentation. No text of
// a module has "/**", or runs over lines.
func Bare(module []byte) []byte {
	text := typeComment.ReplaceAllString(string(module), "")
	text = lineComment.ReplaceAllString(text, "")
	text = endComment.ReplaceAllString(text, "$1")
	text = emptyLine.ReplaceAllString(text, "")
	text = indentation.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)/2) })
	return []byte(text)
}
