package workflow

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// A Source is one input of a workflow. Name is for messages and tells formats
// apart that look the same; it need not be a path.
type Source struct {
	Name   string
	Reader io.Reader
}

// Read reads a workflow in any of the formats it knows, which it recognises by
// content; gzip is unpacked. Some workflows take several sources: a DAG and
// the records of its tasks.
//
//	WfFormat 0.1 to 1.6      one JSON file
//	assay's own              YAML, JSON or CSV, see ReadTable
//	Pegasus and DAGMan       .dag with .dagman.out, jobstate.log or kickstart records
//	Nextflow                 trace.txt with the DAG as dot or mermaid
//	Snakemake                --dag output with benchmark TSVs
//	Make                     the output of make --trace with times
//
// What does not fit is an [*InputError] with the source's name and a place.
func Read(opt FillOptions, sources ...Source) (*Workflow, error) {
	if len(sources) == 0 {
		panic("workflow: no sources")
	}
	b := &Builder{File: sources[0].Name}
	for _, src := range sources {
		r, err := unpack(src)
		if err != nil {
			return nil, err
		}
		b.File = src.Name
		if err := readWfFormat(newJSONScanner(r, src.Name), b); err != nil {
			return nil, err
		}
	}
	opt.Infer = true
	return b.Build(opt)
}

// unpack returns the source's content, without gzip.
func unpack(src Source) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(src.Reader, 1<<16)
	magic, _ := r.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return r, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, &InputError{File: src.Name, Msg: fmt.Sprintf("gzip: %v", err)}
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}
