package spec

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A Key is the declaration of one key of study files. Reading with places, writing, the schema, the reference, the
// flag, identity and difference, the modes, the right to execute and the refusals of a worker follow from it.
type Key struct {
	Path string // "budget.trials"; the declaration of budget is another one
	Doc  string // for the reference and the schema
	Flag string // of assay tune, without the dashes
	Help string // of the flag

	Words    []string // the texts that are allowed; nil for any
	Least    int      // the least whole number
	Positive bool     // a span or a number above 0
	Below    float64  // a number is below it, if it is not 0
	Short    bool     // it may stand for the mapping that it is in: budget: 10m
	Required bool     // in the mapping that it is in

	Executes bool     // it decides which programs and files a machine runs or reads: only an author may write it
	Job      []string // the fields of a job that it fills, which a worker of applications refuses
	Free     bool     // a study that goes on may have another value
	Excluded Modes    // it has no meaning in these
	Idle     []string // values that ask for nothing, where it is excluded
	Compared level    // the levels of a file of benchmarks that have it

	// field returns a pointer to the value; nil for a form without a value of its own.
	field func(*Study) any
	// form reads and writes a value that its type does not explain.
	form form
	// finish checks a mapping that was read without a flaw.
	finish func(*decoder, *yaml.Node, *Study)
	// options returns a pointer to the map that takes the other keys of the mapping.
	options func(*Study) *map[string]any
	// differs describes how b differs from a; nil compares the values.
	differs func(a, b *Study) []string
	stored  bool // part of the record and of no file
}

// A form is how a value is written that its type does not explain. A nil function leaves it to the type.
type form struct {
	value  string // in words, for the reference
	schema string // JSON
	read   func(*decoder, *Key, *yaml.Node, *Study)
	node   func(*Study) *yaml.Node // nil if there is no value to write
	lists  bool                    // a list is one too
}

// Modes are kinds of studies.
type Modes uint8

// The kinds of studies that a key may be excluded from.
const (
	WithApp  Modes = 1 << iota // an application of the workers
	External                   // runs made by a client of the study
	OnLine                     // iterations of a program that runs already
	OfTable                    // a recorded table
)

// notRun are the studies in which assay starts no program by the study's own words.
const notRun = WithApp | External | OnLine

// A level is a level of a file of benchmarks.
type level uint8

const (
	benchmarkLevel level = 1 << iota // of all commands of a benchmark, and of the file
	commandLevel                     // of one command
	allLevels      = benchmarkLevel | commandLevel
)

var (
	allKeys = slices.Concat(programKeys, spaceKeys, searchKeys, placeKeys, recordKeys)
	within  = mappings(allKeys)
)

// mappings returns the keys of each mapping by its path; the path of the file is "".
func mappings(keys []Key) map[string][]*Key {
	in := map[string][]*Key{}
	for i := range keys {
		parent := ""
		if at := strings.LastIndexByte(keys[i].Path, '.'); at >= 0 {
			parent = keys[i].Path[:at]
		}
		in[parent] = append(in[parent], &keys[i])
	}
	return in
}

// Keys returns the declarations in the order of the reference, a mapping before its keys.
func Keys() []Key { return slices.Clone(allKeys) }

// keysIn returns the keys of a mapping, and of the file for "".
func keysIn(path string) []*Key { return within[path] }

// keyOf returns the declaration of a path.
func keyOf(path string) *Key {
	i := slices.IndexFunc(allKeys, func(k Key) bool { return k.Path == path })
	if i < 0 {
		panic("spec: no key " + path)
	}
	return &allKeys[i]
}

// name returns the last part of the path.
func (k *Key) name() string { return k.Path[strings.LastIndexByte(k.Path, '.')+1:] }

// top returns the first part of the path.
func (k *Key) top() string {
	name, _, _ := strings.Cut(k.Path, ".")
	return name
}

// value returns the value of the key, which can be set; ok is false if the mapping that it is in is absent.
func (k *Key) value(s *Study) (v reflect.Value, ok bool) {
	if k.field == nil {
		return v, false
	}
	if at := strings.LastIndexByte(k.Path, '.'); at >= 0 {
		outer := keyOf(k.Path[:at])
		if v, ok := outer.value(s); !ok || v.Kind() == reflect.Pointer && v.IsNil() {
			return v, false
		}
	}
	return reflect.ValueOf(k.field(s)).Elem(), true
}

// given reports whether the study has a value of the key that asks for something.
func (k *Key) given(s *Study) bool {
	v, ok := k.value(s)
	switch {
	case !ok || v.IsZero():
		return false
	case v.Kind() == reflect.String:
		return !slices.Contains(k.Idle, v.String())
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		return v.Len() > 0
	}
	switch x := v.Addr().Interface().(type) {
	case *Hook:
		return len(x.Argv) > 0
	case *Setup:
		return len(x.Argv) > 0
	}
	return true
}

// excluded returns the keys that a study of one of these modes has although they have no meaning in it.
func (s *Study) excluded(of Modes) (keys []*Key) {
	for i := range allKeys {
		if k := &allKeys[i]; k.Excluded&of != 0 && k.given(s) {
			keys = append(keys, k)
		}
	}
	return keys
}

// drop takes away all values that have no meaning in one of these modes.
func (s *Study) drop(of Modes) {
	for i := range allKeys {
		if k := &allKeys[i]; k.Excluded&of != 0 {
			if v, ok := k.value(s); ok {
				v.SetZero()
			}
		}
	}
}

// Executes returns the first key of the study that decides which programs or files a machine runs or reads, or "". A
// study without such a key only chooses among the values of the parameters of an application, whose command the
// workers have.
func (s *Study) Executes() string {
	for i := range allKeys {
		if k := &allKeys[i]; k.Executes && k.given(s) {
			return k.Path
		}
	}
	for _, m := range s.Metrics {
		// The output of a run is its own; all else is a command or a file of the machine.
		if !strings.HasPrefix(m.Source, "stdout:") && !strings.HasPrefix(m.Source, "stderr:") {
			return "metrics." + m.Name
		}
	}
	return ""
}
