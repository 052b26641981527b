package exchange

// This file reads JSON whose values know their place, so that readers of foreign files can report
// an error with its place.
//
//	d, err := jsonat.ParseJSON("out.json", data)
//	for _, r := range d.Root.Get("results").Array() {
//		times := r.Get("times").Numbers()
//	}
//	return d.Err()
//
// The first value of an unexpected type is the error of the document; all that is read after it is
// empty. Callers must check [Document.Err] before they use the values.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/assay-run/assay"
)

// maxDepth is more than any format has.
const maxDepth = 200

// A Document is one JSON text.
type Document struct {
	File string // for messages
	Root Value

	data []byte
	err  error
}

// A Value is a value in a document, or nothing: the zero value, and a member that is not there.
type Value struct {
	doc   *Document
	at    int64 // of its first byte
	is    any   // nil, bool, json.Number, string, []Value, *object
	there bool
	name  string // how it was reached, for messages
}

type object struct {
	keys    []string // in order
	members map[string]Value
}

// ParseJSON reads one JSON text. The last value of a repeated key counts, as everywhere. The error is of the
// class usage and has the place FILE:LINE:COLUMN; columns count bytes from 1.
func ParseJSON(file string, data []byte) (*Document, error) {
	d := &Document{File: file, data: data}
	// A text in another encoding than UTF-8 is read as well as it can be.
	p := &parser{d, jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))}
	root, err := p.value(0, "")
	if err == nil {
		if rest := bytes.TrimLeft(data[p.dec.InputOffset():], space); len(rest) > 0 {
			err = d.errorAt(int64(len(data)-len(rest)), "something follows the end of the JSON text")
		}
	}
	if err != nil {
		return nil, err
	}
	d.Root = root
	return d, nil
}

const space = " \t\r\n"

type parser struct {
	doc *Document
	dec *jsontext.Decoder
}

// fault returns an error of the decoder with its place.
func (p *parser) fault(err error) error {
	bad, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.doc.errorAt(int64(len(p.doc.data)), "not JSON: the text ends too early")
	}
	return p.doc.errorAt(bad.ByteOffset, "not JSON: %v", bad.Err)
}

func (p *parser) value(depth int, name string) (Value, error) {
	v := Value{doc: p.doc, there: true, name: name}
	kind := p.dec.PeekKind()
	if kind != '[' && kind != '{' {
		raw, err := p.dec.ReadValue()
		if err != nil {
			return Value{}, p.fault(err)
		}
		v.at = p.dec.InputOffset() - int64(len(raw))
		switch kind {
		case '"':
			text, _ := jsontext.AppendUnquote(nil, raw) // its error is a character that becomes U+FFFD
			v.is = string(text)
		case '0':
			v.is = json.Number(raw)
		case 't', 'f':
			v.is = kind == 't'
		}
		return v, nil
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return Value{}, p.fault(err)
	}
	v.at = p.dec.InputOffset() - 1
	if depth > maxDepth {
		return Value{}, v.Errorf("lists and objects are nested more than %d deep", maxDepth)
	}
	var err error
	if kind == '[' {
		v.is, err = p.list(depth, name)
	} else {
		v.is, err = p.object(depth)
	}
	return v, err
}

// list reads a list behind its bracket.
func (p *parser) list(depth int, name string) ([]Value, error) {
	var all []Value
	for p.dec.PeekKind() != ']' {
		e, err := p.value(depth+1, name)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, p.end()
}

// object reads an object behind its bracket.
func (p *parser) object(depth int) (*object, error) {
	o := &object{members: map[string]Value{}}
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadToken()
		if err != nil {
			return nil, p.fault(err)
		}
		key := name.String()
		e, err := p.value(depth+1, key)
		if err != nil {
			return nil, err
		}
		if _, twice := o.members[key]; !twice {
			o.keys = append(o.keys, key)
		}
		o.members[key] = e
	}
	return o, p.end()
}

// end reads a bracket that closes.
func (p *parser) end() error {
	if _, err := p.dec.ReadToken(); err != nil {
		return p.fault(err)
	}
	return nil
}

// Err returns the first error of the document, or nil.
func (d *Document) Err() error { return d.err }

func (d *Document) errorAt(at int64, format string, args ...any) error {
	before := d.data[:min(at, int64(len(d.data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return assay.Errorf(assay.ClassUsage, "%s:%d:%d: %s", d.File, line, column, fmt.Sprintf(format, args...))
}

// Errorf returns an error at the place of a value. The place of a missing value is the beginning of the
// file.
func (v Value) Errorf(format string, args ...any) error {
	if v.doc == nil {
		return assay.Errorf(assay.ClassUsage, format, args...)
	}
	return v.doc.errorAt(v.at, format, args...)
}

// Fail makes an error at the place of a value the error of its document, unless there is one.
func (v Value) Fail(format string, args ...any) {
	if v.doc != nil && v.doc.err == nil {
		v.doc.err = v.Errorf(format, args...)
	}
}

// Has reports whether the value is there and not null.
func (v Value) Has() bool { return v.there && v.is != nil }

// want fails for a value of an unexpected type.
func (v Value) want(what string) {
	name := v.name
	if name == "" {
		name = "this"
	}
	if !v.there {
		v.Fail("there is no %q", name)
		return
	}
	v.Fail("%s: %s is needed, not %s", name, what, v.kind())
}

func (v Value) kind() string {
	switch v.is.(type) {
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "a text"
	case []Value:
		return "a list"
	case *object:
		return "an object"
	}
	return "null"
}

// Look returns a member of an object. It returns nothing if v is no object or has no such member.
func (v Value) Look(key string) Value {
	if o, ok := v.is.(*object); ok {
		if m, ok := o.members[key]; ok {
			return m
		}
	}
	return Value{doc: v.doc, at: v.at, name: key}
}

// Get returns a member of an object. A value that is no object, or lacks the member, is an error.
func (v Value) Get(key string) Value {
	if _, ok := v.is.(*object); !ok && v.there {
		v.want("an object")
	}
	return v.Look(key)
}

// Keys returns the keys of an object in the order of the text.
func (v Value) Keys() []string {
	o, ok := v.is.(*object)
	if !ok {
		v.want("an object")
		return nil
	}
	return o.keys
}

// Array returns the values of a list.
func (v Value) Array() []Value {
	a, ok := v.is.([]Value)
	if !ok {
		v.want("a list")
	}
	return a
}

// IsArray reports whether the value is a list.
func (v Value) IsArray() bool { _, ok := v.is.([]Value); return ok }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { _, ok := v.is.(*object); return ok }

// IsNumber reports whether the value is a number.
func (v Value) IsNumber() bool { _, ok := v.is.(json.Number); return ok }

// Text returns a text.
func (v Value) Text() string {
	s, ok := v.is.(string)
	if !ok {
		v.want("a text")
	}
	return s
}

// Bool returns true or false.
func (v Value) Bool() bool {
	b, ok := v.is.(bool)
	if !ok {
		v.want("true or false")
	}
	return b
}

// Number returns a finite number.
func (v Value) Number() float64 {
	n, ok := v.is.(json.Number)
	if !ok {
		v.want("a number")
		return 0
	}
	x, err := n.Float64()
	if err != nil || math.IsInf(x, 0) {
		v.Fail("%s: %.40s is too large for a number", v.name, n)
		return 0
	}
	return x
}

// Numbers returns a list of numbers.
func (v Value) Numbers() []float64 {
	var all []float64
	for _, e := range v.Array() {
		all = append(all, e.Number())
	}
	return all
}

// Scalar returns a text, a number as it is written, or true or false, as a text; ok is false for all else.
func (v Value) Scalar() (text string, ok bool) {
	switch is := v.is.(type) {
	case string:
		return is, utf8.ValidString(is)
	case json.Number:
		return is.String(), true
	case bool:
		return fmt.Sprint(is), true
	}
	return "", false
}
