package table

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
)

// Limits of a recorded table: one from elsewhere must not fill the memory. Tables of the
// evaluations in the literature are far below them.
const (
	maxTableBytes   = 4 << 30   // once expanded
	maxTableRows    = 1_000_000 // that count
	maxTableRecord  = 1 << 20   // bytes of one row
	maxTableColumns = 10_000
	maxTableRatio   = 200 // of expansion, beyond the first 16 MiB
	maxTableElapsed = 1e9 // s; about 32 years
)

// An Error is a flaw of a recorded table.
type Error struct {
	File    string
	Line    int    // from 1, of the flaw's row; 0 for the file as a whole
	Column  string // name of the column at fault, or ""
	Message string
	cause   error
}

// Error returns "FILE:LINE: column NAME: MESSAGE".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Column != "" {
		fmt.Fprintf(&b, "column %s: ", e.Column)
	}
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap returns the error of the operating system, if that is the cause.
func (e *Error) Unwrap() error { return e.cause }

// Open reads the file of spec; see [Read]. It is an error if the file
// is not the one of spec.Digest.
func Open(spec Spec, given ...assay.Param) (*Table, error) {
	f, err := os.Open(spec.File)
	if err != nil {
		message := err.Error()
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			message = pe.Err.Error()
		}
		return nil, &Error{File: spec.File, Message: message, cause: err}
	}
	defer f.Close()
	return Read(f, spec, given...)
}

// Read reads a table from r, which holds gzip if spec.File ends in .gz.
//
// Every column of spec.Parameters is a parameter. If it is not among the given ones, its values determine its type: a
// switch if they are 0 and 1, or false and true, off and on, no and yes; ordinal in the order of the numbers if each
// stands for one; else categorical in order of appearance. Levels keep the text as it is written; numbers written
// differently (1 and 1.0) are one level. The bounds or levels of a given parameter may be missing: they are read from
// the table. Values that a given parameter does not have are errors. An empty cell of a parameter is a value like
// others.
//
// Rows of one configuration are repetitions, and so are several columns of one metric within a row; a repetition
// whose cell is empty in one of those columns does not exist. An empty cell of any other metric means that it was not
// recorded. A row is a failed run by spec.OKColumn, or if no metric is recorded, or elapsed is among the metrics and
// has no value.
//
// The error is a [*Error]. Cost: memory for the rows that count only.
func Read(r io.Reader, spec Spec, given ...assay.Param) (*Table, error) {
	tr := &tableReader{spec: spec, hash: sha256.New()}
	t, err := tr.read(r, given)
	if e, ok := errors.AsType[*Error](err); ok {
		e.File = spec.File
		return nil, e
	}
	if err != nil {
		return nil, &Error{File: spec.File, Line: tr.line, Message: err.Error(), cause: err}
	}
	return t, nil
}

// A tableReader reads one table. line is the line of the row at hand, for errors; it stays at the last row read while
// the whole is put together.
type tableReader struct {
	spec    Spec
	hash    interface{ io.Writer }
	line    int
	params  []int // columns
	where   []tableCondition
	ok      int // column, or -1
	metrics []metricColumns

	// The kept data of the rows that count. The reader's record is reused, so nothing here shares its memory.
	texts [][]string          // by parameter, each once, in order of appearance
	code  []map[string]uint32 // by parameter, the index of a text
	cells []uint32            // of each row in turn, the index of its text by parameter
	lines []int32             // of each row
	runs  runs                // of all rows
	runOf []int32             // the row of each run
	cell  []float64           // values of the run at hand
}

// A tableCondition is one of Spec.Where.
type tableCondition struct {
	column int
	name   string
	value  string
}

// metricColumns are the columns of one metric: one, or one for each repetition.
type metricColumns struct {
	name    string
	columns []int
	scale   float64
}

// flaw returns an error at the row at hand. The file's name is added by Read.
func (tr *tableReader) flaw(column, format string, args ...any) error {
	return &Error{Line: tr.line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// read reads the whole file, also the bytes after the table: the digest is of all its bytes.
func (tr *tableReader) read(r io.Reader, given []assay.Param) (*Table, error) {
	sum := sha256.New()
	tr.hash = sum
	raw := &countingReader{r: io.TeeReader(r, sum)}
	text := io.Reader(raw)
	if strings.HasSuffix(tr.spec.File, ".gz") {
		z, err := gzip.NewReader(bufio.NewReaderSize(raw, 1<<16))
		if err != nil {
			return nil, fmt.Errorf("not a gzip file: %w", err)
		}
		text = z
	}
	limited := &recordReader{r: text, raw: raw}
	if err := tr.records(limited); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil { // the rest after the gzip stream is part of the file
		return nil, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if d := tr.spec.Digest; d != "" && d != digest {
		tr.line = 0
		return nil, tr.flaw("", "the file has changed since the study began")
	}
	t, err := tr.table(given)
	if err != nil {
		return nil, err
	}
	t.Digest = digest
	return t, nil
}

// records reads the header and every row.
func (tr *tableReader) records(limited *recordReader) error {
	c := csv.NewReader(limited)
	c.ReuseRecord = true
	tr.line = 1
	for first := true; ; first = false {
		limited.begin()
		record, err := c.Read()
		if err == io.EOF {
			break
		}
		if pe, ok := errors.AsType[*csv.ParseError](err); ok {
			tr.line = pe.Line
			if errors.Is(err, csv.ErrFieldCount) {
				return tr.flaw("", "%d cells, the header has %d", len(record), c.FieldsPerRecord)
			}
			return tr.flaw("", "%v", pe.Err)
		}
		if err != nil {
			return err
		}
		tr.line, _ = c.FieldPos(0)
		if first {
			err = tr.header(record)
		} else {
			err = tr.row(record)
		}
		if err != nil {
			return err
		}
	}
	if len(tr.lines) == 0 {
		tr.line = 0
		return tr.empty()
	}
	return nil
}

// empty returns the reason why no row counts.
func (tr *tableReader) empty() error {
	if len(tr.where) == 0 {
		return tr.flaw("", "the table has no rows")
	}
	var conditions []string
	for _, w := range tr.where {
		conditions = append(conditions, w.name+" = "+w.value)
	}
	return tr.flaw("", "no row has %s", strings.Join(conditions, " and "))
}

// header finds the columns that the spec names. A name that stands twice in the header
// is an error only if the spec names it.
func (tr *tableReader) header(record []string) error {
	if len(record) > maxTableColumns {
		return tr.flaw("", "more than 10,000 columns")
	}
	record[0] = strings.TrimPrefix(record[0], "\ufeff")
	column := func(name, what string) (int, error) {
		i := slices.Index(record, name)
		switch {
		case i < 0:
			shown := strings.Join(record[:min(len(record), 30)], ", ")
			return 0, tr.flaw("", "no column %q for %s (it has %s)", name, what, shown)
		case slices.Contains(record[i+1:], name):
			return 0, tr.flaw(name, "it is there twice")
		}
		return i, nil
	}
	var err error
	var i int
	for _, name := range tr.spec.Parameters {
		if i, err = column(name, "a parameter"); err != nil {
			return err
		}
		tr.params = append(tr.params, i)
		tr.texts, tr.code = append(tr.texts, nil), append(tr.code, map[string]uint32{})
	}
	for _, name := range slices.Sorted(maps.Keys(tr.spec.Where)) {
		if i, err = column(name, "where"); err != nil {
			return err
		}
		tr.where = append(tr.where, tableCondition{i, name, tr.spec.Where[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(tr.spec.Metrics)) {
		m := metricColumns{name: name, scale: 1}
		if s, ok := tr.spec.UnitScale[name]; ok {
			m.scale = s
		}
		for _, col := range tr.spec.Metrics[name] {
			if i, err = column(col, "metric "+name); err != nil {
				return err
			}
			m.columns = append(m.columns, i)
		}
		tr.metrics = append(tr.metrics, m)
	}
	tr.runs.width, tr.cell = len(tr.metrics), make([]float64, len(tr.metrics))
	tr.ok = -1
	if tr.spec.OKColumn != "" {
		tr.ok, err = column(tr.spec.OKColumn, "ok")
	}
	return err
}

// row keeps a row if it satisfies every condition. A row of which no repetition exists
// is kept as one failed run: the configuration was tried.
func (tr *tableReader) row(record []string) error {
	for _, w := range tr.where {
		if !sameValue(record[w.column], w.value) {
			return nil
		}
	}
	if len(tr.lines) >= maxTableRows {
		return tr.flaw("", "more than 1,000,000 rows")
	}
	for k, i := range tr.params {
		text := strings.TrimSpace(record[i])
		code, known := tr.code[k][text]
		if !known {
			if strings.ContainsRune(text, 0) {
				return tr.flaw(tr.spec.Parameters[k], "a NUL byte")
			}
			code, text = uint32(len(tr.texts[k])), strings.Clone(text)
			tr.texts[k], tr.code[k][text] = append(tr.texts[k], text), code
		}
		tr.cells = append(tr.cells, code)
	}
	keep := func(run recordedRun) {
		tr.runs.add(run)
		tr.runOf = append(tr.runOf, int32(len(tr.lines)))
	}
	kept := len(tr.runOf)
	failed := tr.ok >= 0 && !sameValue(record[tr.ok], tr.spec.OKEquals)
	repetitions := 1
	for _, m := range tr.metrics {
		repetitions = max(repetitions, len(m.columns))
	}
	for k := range repetitions {
		run, exists, err := tr.run(record, k, failed)
		if err != nil {
			return err
		}
		if exists {
			keep(run)
		}
	}
	if len(tr.runOf) == kept {
		run, _, _ := tr.run(record, 0, true)
		keep(run)
	}
	tr.lines = append(tr.lines, int32(tr.line))
	return nil
}

// run returns the k-th repetition of a row, whose values the next call overwrites. exists is false without one.
func (tr *tableReader) run(record []string, k int, failed bool) (run recordedRun, exists bool, err error) {
	run = recordedRun{failed: failed, values: tr.cell}
	exists = true
	any := false
	for j, m := range tr.metrics {
		i := m.columns[k%len(m.columns)]
		cell := strings.TrimSpace(record[i])
		if cell == "" {
			run.values[j] = math.NaN()
			exists = exists && len(m.columns) == 1
			run.failed = run.failed || m.name == "elapsed"
			continue
		}
		x, err := strconv.ParseFloat(cell, 64)
		x *= m.scale
		switch column := tr.spec.Metrics[m.name][k%len(m.columns)]; {
		case err != nil && !math.IsInf(x, 0):
			return run, false, tr.flaw(column, "%q is not a number", clipCell(cell))
		case math.IsNaN(x) || math.IsInf(x, 0):
			return run, false, tr.flaw(column,
				"%s is not a finite number (leave the cell empty if it was not recorded)", clipCell(cell))
		case m.name == "elapsed" && (x < 0 || x > maxTableElapsed):
			return run, false, tr.flaw(column, "%s is no elapsed time", clipCell(cell))
		}
		run.values[j], any = x, true
	}
	run.failed = run.failed || !any
	return run, exists, nil
}

// sameValue reports whether a cell has a value: the same text, or the same
// number.
func sameValue(cell, value string) bool {
	cell = strings.TrimSpace(cell)
	if cell == value {
		return true
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(value, 64)
	return err == nil && x == y
}

// clipCell cuts a cell to a length that fits in a message.
func clipCell(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "..."
}

// A countingReader counts the bytes that pass.
type countingReader struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A recordReader refuses a row that is too long, and text that is too large or
// that is expanded from next to nothing.
type recordReader struct {
	r       io.Reader
	raw     *countingReader
	total   int64
	current int // bytes read since begin; at least the row's, and a buffer more
}

// begin marks the begin of a row.
func (l *recordReader) begin() { l.current = 0 }

// Read implements io.Reader.
func (l *recordReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.total += int64(n)
	l.current += n
	switch {
	case l.current > maxTableRecord:
		return 0, errors.New("a row of more than 1 MiB")
	case l.total > maxTableBytes:
		return 0, errors.New("more than 4 GiB")
	case l.total > 16<<20 && l.total > maxTableRatio*l.raw.n:
		return 0, errors.New("the file expands to more than 200 times its size")
	}
	return n, err
}
