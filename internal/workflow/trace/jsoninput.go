package trace

import (
	"bufio"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// A jsonInput is the input of a [jsonScanner]. It gives the decoder strings of the same length in place of the literals
// NaN, Infinity and -Infinity, which several workflow tools write. It knows the lines of the bytes that are being
// decoded.
type jsonInput struct {
	r       *bufio.Reader
	decoded func() int64 // the offset of the first byte that is not decoded yet

	read            int64  // bytes
	quoted, escaped bool   // where the next byte is
	pending         string // takes the place of the next bytes

	breaks []int64    // offsets of line breaks, from the last place on
	words  []jsonWord // from the last place on
	line   int32      // of the last place
	from   int64      // offset of that line
}

// A jsonWord is a literal that JSON does not have.
type jsonWord struct {
	at   int64
	text string
}

// marks are the bytes outside of strings that Read looks for.
var marks = [256]bool{'"': true, '\n': true, 'N': true, 'I': true, '-': true}

// Read implements [io.Reader].
func (in *jsonInput) Read(p []byte) (int, error) {
	in.pass(in.decoded())
	n, err := in.r.Read(p)
	p = p[:n]
	i := copy(p, in.pending)
	in.pending = in.pending[i:]
	for i < n {
		c := p[i]
		switch {
		case in.escaped:
			in.escaped = false
		case in.quoted && c == '"':
			in.quoted = false
		case in.quoted && c == '\\':
			in.escaped = true
		case in.quoted || !marks[c]:
		case c == '"':
			in.quoted = true
		case c == '\n':
			in.breaks = append(in.breaks, in.read+int64(i))
		default:
			if word := in.word(string(p[i:min(n, i+len("-Infinity"))])); word != "" {
				in.words = append(in.words, jsonWord{in.read + int64(i), word})
				in.pending = `"` + strings.Repeat("x", len(word)-2) + `"`
				k := copy(p[i:], in.pending)
				in.pending = in.pending[k:]
				i += k
				continue
			}
		}
		i++
	}
	in.read += int64(n)
	return n, err
}

// word returns the literal that begins with p, which the input continues, or "".
func (in *jsonInput) word(p string) string {
	for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(p, w) {
			return w
		}
		if rest, ok := strings.CutPrefix(w, p); ok {
			if more, _ := in.r.Peek(len(rest)); string(more) == rest {
				return w
			}
		}
	}
	return ""
}

// pass drops the input before an offset. Offsets never go back.
func (in *jsonInput) pass(at int64) {
	for len(in.breaks) > 0 && in.breaks[0] < at {
		in.line++
		in.from = in.breaks[0] + 1
		in.breaks = in.breaks[1:]
	}
	for len(in.words) > 0 && in.words[0].at < at {
		in.words = in.words[1:]
	}
}

// place returns the line and column of an offset. Columns count bytes, from 1.
func (in *jsonInput) place(at int64) workflow.Pos {
	in.pass(at)
	return workflow.Pos{Line: in.line + 1, Column: int32(at - in.from + 1)}
}

// wordAt returns the literal at an offset, or "".
func (in *jsonInput) wordAt(at int64) string {
	if len(in.words) == 0 {
		return ""
	}
	in.pass(at)
	if len(in.words) == 0 || in.words[0].at != at {
		return ""
	}
	return in.words[0].text
}
