package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// readersOf returns the readers of the keys of a mapping into s; the path of the file is "".
func readersOf(d *decoder, s *Study, path string) (fields []field) {
	for _, k := range keysIn(path) {
		if !k.stored {
			fields = append(fields, field{k.name(), func(n *yaml.Node) {
				if path == "" {
					d.mark("key:"+k.Path, n)
				}
				k.read(d, n, s)
			}})
		}
	}
	return fields
}

// read reads the value of a key by its form, or by its type.
func (k *Key) read(d *decoder, n *yaml.Node, s *Study) {
	if k.form.read != nil {
		k.form.read(d, k, n, s)
		return
	}
	if len(keysIn(k.Path)) > 0 {
		k.readGroup(d, n, s)
		return
	}
	switch to := k.field(s).(type) {
	case *[]string:
		d.mark(k.Path, n)
		*to = d.conditions(k.Path, n)
	case *Hook:
		*to = readHook(d, k.Path, n)
	default:
		d.mark(k.Path, n)
		k.readScalar(d, n, to)
	}
}

// readScalar reads a value that is one text, and checks it as its key demands.
func (k *Key) readScalar(d *decoder, n *yaml.Node, to any) {
	switch to := to.(type) {
	case *string:
		if k.Words != nil {
			*to, _ = d.choice(n, k.Path, k.Words...)
		} else {
			*to, _ = d.text(n, k.Path)
		}
	case *bool:
		*to = d.boolean(n, k.Path)
	case *int:
		*to, _ = d.integer(n, k.Path, k.Least)
	case *uint64:
		t, is := d.text(n, k.Path)
		x, err := strconv.ParseUint(t, 10, 64)
		if *to = x; is && err != nil {
			d.fail(n, "%s: a whole number from 0 to 2^64-1 is needed, not %q", k.Path, clip(t))
		}
	case *time.Duration:
		x, ok := d.duration(n, k.Path)
		if *to = x; ok && k.Positive && x <= 0 {
			d.fail(n, "%s: more than 0 is needed", k.Path)
		}
	case *float64:
		x, ok := d.number(n, k.Path)
		if *to = x; ok {
			if flaw := k.numberFlaw(x); flaw != "" {
				d.fail(n, "%s: %s", k.Path, flaw)
			}
		}
	default:
		panic(fmt.Sprintf("spec: key %s needs a form for a %T", k.Path, to))
	}
}

// numberFlaw returns the reason why a key cannot have the number, or "".
func (k *Key) numberFlaw(x float64) string {
	switch {
	case k.Below != 0 && !(x > 0 && x < k.Below):
		return fmt.Sprintf("a number between 0 and %v is needed, not %v", k.Below, x)
	case k.Positive && !(x > 0 && x < math.Inf(1)):
		return "more than 0 is needed"
	}
	return ""
}

// readGroup reads a mapping, or the value that may stand for it.
func (k *Key) readGroup(d *decoder, n *yaml.Node, s *Study) {
	d.mark(k.Path, n)
	if v := reflect.ValueOf(k.field(s)).Elem(); v.Kind() == reflect.Pointer && v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	if short := k.short(); short != nil && follow(n).Kind != yaml.MappingNode {
		switch to := short.value0(s).(type) {
		case *Hook: // its places are the places of the whole
			*to = readHook(d, k.Path, n)
			return
		default:
			if follow(n).Kind == yaml.ScalarNode || short.form.lists {
				short.read(d, n, s)
				return
			}
		}
	}
	var rest func(key, value *yaml.Node)
	if k.options != nil {
		rest = func(key, value *yaml.Node) { readOption(d, k.Path, key, value, k.options(s)) }
	}
	before := len(d.flaws)
	d.mapping(n, k.Path, readersOf(d, s, k.Path), rest)
	if k.finish != nil && len(d.flaws) == before {
		k.finish(d, n, s)
	}
}

// short returns the key that may stand for the mapping, or nil.
func (k *Key) short() *Key {
	in := keysIn(k.Path)
	if i := slices.IndexFunc(in, func(k *Key) bool { return k.Short }); i >= 0 {
		return in[i]
	}
	return nil
}

// value0 returns a pointer to the value, or nil for a form without one.
func (k *Key) value0(s *Study) any {
	if k.field == nil {
		return nil
	}
	return k.field(s)
}

// readOption reads an option of a method.
func readOption(d *decoder, path string, key, value *yaml.Node, options *map[string]any) {
	if v, ok := d.option(value, path+"."+clip(key.Value)); ok {
		d.mark(path+"."+key.Value, key)
		if *options == nil {
			*options = map[string]any{}
		}
		(*options)[key.Value] = v
	}
}

// Set gives the study a value of a key as a flag has it, by the rules of study files. The error does not name the key.
func (s *Study) Set(path, text string) error {
	k := keyOf(path)
	d := &decoder{places: map[string]place{}}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	k.read(d, n, s)
	if len(d.flaws) == 0 {
		return nil
	}
	message := d.flaws[0].Message
	for _, name := range []string{path, k.top()} {
		if rest, ok := strings.CutPrefix(message, name); ok {
			message = strings.TrimLeft(rest, ": ")
			break
		}
	}
	return fmt.Errorf("%s", message)
}

// node writes the value of a key; nil if it has none.
func (k *Key) node(s *Study) *yaml.Node {
	if k.form.node != nil {
		return k.form.node(s)
	}
	if len(keysIn(k.Path)) > 0 {
		return groupNode(k, s)
	}
	v, ok := k.value(s)
	if !ok || v.IsZero() && v.Kind() != reflect.Uint64 {
		return nil
	}
	return k.plainNode(v.Addr().Interface())
}

// plainNode writes a value by its type.
func (k *Key) plainNode(value any) *yaml.Node {
	switch x := value.(type) {
	case *string:
		return scalar(*x)
	case *bool:
		return plain("true")
	case *int:
		return plain(strconv.Itoa(*x))
	case *uint64:
		return plain(strconv.FormatUint(*x, 10))
	case *float64:
		return number(*x)
	case *time.Duration:
		return span(*x)
	case *[]string:
		return textsOrNil(*x)
	case *map[string]string:
		return textMap(*x)
	case *Hook:
		if len(x.Argv) == 0 {
			return nil
		}
		return hookNode(*x)
	}
	panic("spec: key " + k.Path + " needs a form")
}

// groupNode writes a mapping; nil if it is empty, or lacks a required key.
func groupNode(k *Key, s *Study) *yaml.Node {
	v, ok := k.value(s)
	isPointer := ok && v.Kind() == reflect.Pointer
	if !ok || isPointer && v.IsNil() {
		return nil
	}
	var p pairing
	for _, in := range keysIn(k.Path) {
		n := in.node(s)
		if n == nil && in.Required {
			return nil
		}
		p.add(n != nil, in.name(), n)
	}
	if k.options != nil {
		p.options(*k.options(s))
	}
	if len(p) == 0 && !isPointer {
		return nil
	}
	return flow(yaml.MappingNode, p...)
}

// values checks those that flags and programs may set without the decoder.
func (c *checker) values() {
	for i := range allKeys {
		k := &allKeys[i]
		v, ok := k.value(c.study)
		if !ok || v.IsZero() || c.study.places[k.Path].line > 0 { // the decoder has checked it
			continue
		}
		if flaw := k.valueFlaw(v.Addr().Interface()); flaw != "" {
			c.add("", "", k.Path, 0, "%s", flaw)
		}
	}
	if t := c.study.Budget.Target; t != nil && (*t != *t || *t-*t != 0) {
		c.add("budget.target", "", "budget.target", 0, "%v is not a finite number", *t)
	}
}

// valueFlaw returns the flaw of a value that is not zero, or "".
func (k *Key) valueFlaw(value any) string {
	below := false
	switch x := value.(type) {
	case *int:
		below = *x < 0
	case *time.Duration:
		below = *x < 0
	case *float64:
		if flaw := k.numberFlaw(*x); flaw != "" {
			return flaw
		}
		below = *x < 0
	case *string:
		if k.Words != nil && !slices.Contains(k.Words, *x) {
			return fmt.Sprintf("%q is not one of %s", clip(*x), strings.Join(k.Words, ", "))
		}
	}
	if below {
		return "it is below 0"
	}
	return ""
}

// Kind returns the kind of the value for the help of a flag: "bool", "int", "uint64", or "string" for all others.
func (k *Key) Kind() string {
	switch k.value0(&Study{Service: &Service{}, Workbench: &Workbench{}}).(type) {
	case *bool:
		return "bool"
	case *int:
		if k.form.read == nil || k.form.value == "" {
			return "int"
		}
	case *uint64:
		return "uint64"
	}
	return "string"
}
