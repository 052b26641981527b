package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/study"
)

// Limits of one input of reports.
const (
	mostReports     = 100_000
	mostReportBytes = 64 << 20
)

// ReadReports reads results of trials: JSON objects, one a line or with any spacing, or arrays of them. name is the
// name of the input in messages, which have the line. A flaw is of the class usage.
func ReadReports(name string, in io.Reader) ([]study.Report, error) {
	data, err := io.ReadAll(io.LimitReader(in, mostReportBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > mostReportBytes {
		return nil, usagef("%s: more than %d MiB: report them in parts", name, mostReportBytes>>20)
	}
	r := &reportReader{name: name, data: data}
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		start := r.next(d.InputOffset())
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF) && len(r.all) == 0 && !r.any:
			return nil, usagef("%s: no result: a line is {\"id\": 1, \"value\": 1.2}", name)
		case errors.Is(err, io.EOF):
			return r.all, nil
		case err != nil:
			return nil, r.flaw(start, err)
		}
		r.any = true
		if err := r.take(start, raw); err != nil {
			return nil, err
		}
	}
}

// A reportReader collects reports.
type reportReader struct {
	name string
	data []byte
	all  []study.Report
	any  bool
}

// next returns where the value begins that follows an offset.
func (r *reportReader) next(at int64) int64 {
	for at < int64(len(r.data)) && strings.IndexByte(" \t\r\n,[", r.data[at]) >= 0 {
		if r.data[at] == '[' {
			break
		}
		at++
	}
	return at
}

// take takes in an object, or an array of them.
func (r *reportReader) take(start int64, raw json.RawMessage) error {
	if raw[0] == '[' {
		d := json.NewDecoder(bytes.NewReader(raw))
		if _, err := d.Token(); err != nil {
			return r.flaw(start, err)
		}
		for d.More() {
			at := r.next(start + d.InputOffset())
			var element json.RawMessage
			if err := d.Decode(&element); err != nil {
				return r.flaw(at, err)
			}
			if element[0] == '[' {
				return r.flaw(at, errors.New("an array in an array"))
			}
			if err := r.take(at, element); err != nil {
				return err
			}
		}
		return nil
	}
	if raw[0] != '{' {
		return r.flaw(start, fmt.Errorf("%.40s is no object such as {\"id\": 1, \"value\": 1.2}", raw))
	}
	if len(r.all) == mostReports {
		return r.flaw(start, fmt.Errorf("more than %d results: report them in parts", mostReports))
	}
	var report study.Report
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&report); err != nil {
		return r.flaw(start, err)
	}
	if report.ID < 1 {
		return r.flaw(start, errors.New("\"id\" is missing: the number of a trial that was asked"))
	}
	report.Place = r.place(start)
	r.all = append(r.all, report)
	return nil
}

// place names the line of an offset.
func (r *reportReader) place(at int64) string {
	return fmt.Sprintf("%s:%d", r.name, 1+bytes.Count(r.data[:min(at, int64(len(r.data)))], []byte("\n")))
}

// flaw returns the error of the value that begins at an offset.
func (r *reportReader) flaw(at int64, err error) error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		// The fault may be lines after the beginning of the value.
		at = max(at, s.Offset-1)
		return usagef("%s: this is no JSON: %v (a run without a value: {\"id\": 1, \"state\": \"failed\"})", r.place(at), s)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return usagef("%s: the input ends within a result", r.place(at))
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return usagef("%s: %s: %s does not fit: a result is {\"id\": 1, \"value\": 1.2}", r.place(at), t.Field, t.Value)
	}
	return assay.Errorf(assay.ClassUsage, "%s: %s", r.place(at), strings.TrimPrefix(err.Error(), "json: "))
}
