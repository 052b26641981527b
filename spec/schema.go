package spec

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// formsFile has the schemas of forms that are more than a few words, definitions that all use, and the head.
//
//go:embed schema/forms.json
var formsFile []byte

// An object is a JSON object whose members have an order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Schema returns the JSON Schema of study files, for editors.
func Schema() []byte {
	var file struct {
		Head, Defs json.RawMessage
		Forms      map[string]json.RawMessage
	}
	if err := json.Unmarshal(formsFile, &file); err != nil {
		panic("spec: " + err.Error()) // it is part of the program
	}
	w := schemas{file.Forms}
	var properties object
	for _, k := range keysIn("") {
		if !k.stored {
			properties = append(properties, member{k.Path, w.described(k)})
		}
	}
	rest, err := marshal(object{{"properties", properties}, {"$defs", file.Defs}})
	if err != nil {
		panic("spec: " + err.Error()) // every member can be encoded
	}
	head := strings.TrimSuffix(strings.TrimSpace(string(file.Head)), "}")
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(head+","+string(rest[1:])), "", " "); err != nil {
		panic("spec: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// schemas makes the schemas of keys.
type schemas struct{ forms map[string]json.RawMessage }

// described is the schema of a key with its description.
func (w schemas) described(k *Key) any {
	return object{{"description", plainText(k.Doc)}, {"allOf", []any{w.of(k)}}}.flat()
}

// flat puts the members of the one schema in allOf beside the description.
func (o object) flat() any {
	all, _ := o[1].value.([]any)
	if inner, ok := all[0].(object); ok {
		return append(o[:1:1], inner...)
	}
	raw, ok := all[0].(json.RawMessage)
	if !ok || !bytes.HasPrefix(raw, []byte("{")) {
		return o
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		panic("spec: a schema: " + err.Error())
	}
	out := o[:1:1]
	for _, name := range []string{
		"type", "enum", "anyOf", "$ref", "properties", "additionalProperties", "required", "items", "minimum",
		"exclusiveMinimum",
		"exclusiveMaximum",
	} {
		if v, ok := members[name]; ok {
			out = append(out, member{name, v})
		}
	}
	return out
}

func ref(name string) object { return object{{"$ref", "#/$defs/" + name}} }

// of is the schema of a key without its description.
func (w schemas) of(k *Key) any {
	switch in := keysIn(k.Path); {
	case w.forms[k.form.schema] != nil:
		return w.forms[k.form.schema]
	case k.form.schema != "":
		return json.RawMessage(k.form.schema)
	case len(in) > 0:
		return w.group(k, in)
	case k.Words != nil:
		return object{{"enum", k.Words}}
	}
	switch k.value0(&Study{Service: &Service{}, Workbench: &Workbench{}}).(type) {
	case *bool:
		return object{{"type", "boolean"}}
	case *int, nil:
		return object{{"type", "integer"}, {"minimum", k.Least}}
	case *float64:
		o := object{{"type", "number"}, {"exclusiveMinimum", 0}}
		if k.Below != 0 {
			o = append(o, member{"exclusiveMaximum", k.Below})
		}
		return o
	case *uint64:
		return object{{"type", []string{"integer", "string"}}}
	case *time.Duration:
		return ref("duration")
	case *[]string:
		return ref("names")
	case *Hook:
		return ref("hook")
	}
	return ref("scalar")
}

// group is the schema of a mapping, and of the value that may stand for it.
func (w schemas) group(k *Key, in []*Key) any {
	var properties object
	var required []string
	for _, c := range in {
		properties = append(properties, member{c.name(), w.described(c)})
		if c.Required {
			required = append(required, c.name())
		}
	}
	o := object{{"type", "object"}, {"properties", properties}}
	if k.options == nil {
		o = append(o, member{"additionalProperties", false})
	}
	if required != nil {
		o = append(o, member{"required", required})
	}
	if short := k.short(); short != nil {
		return object{{"anyOf", []any{w.of(short), o}}}
	}
	return o
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// plainText returns a text of the documentation without its marks.
func plainText(doc string) string {
	return strings.ReplaceAll(link.ReplaceAllString(doc, "$1"), "`", "")
}

// Reference returns the table of keys of the documentation.
func Reference() string {
	var b strings.Builder
	b.WriteString("| key | value | flag of `tune` | meaning |\n|---|---|---|---|\n")
	for _, k := range allKeys {
		if k.stored {
			continue
		}
		flag := ""
		if k.Flag != "" {
			flag = "`--" + k.Flag + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, k.words(), flag, k.Doc)
	}
	for _, l := range []struct {
		text string
		has  func(k *Key) bool
	}{
		{"A study that goes on may have another", func(k *Key) bool { return k.Free }},
		{"Only the role author may send to a server", func(k *Key) bool { return k.Executes }},
		{"A study of an application has no", func(k *Key) bool { return k.Excluded&WithApp != 0 }},
		{"An external study has no", func(k *Key) bool { return k.Excluded&External != 0 }},
		{"A study of a recorded table has no", func(k *Key) bool { return k.Excluded&OfTable != 0 }},
		{"A study on line drops", func(k *Key) bool { return k.Excluded&OnLine != 0 }},
	} {
		var names []string
		for _, k := range allKeys {
			if !k.stored && l.has(&k) {
				names = append(names, "`"+k.Path+"`")
			}
		}
		fmt.Fprintf(&b, "\n%s %s.\n", l.text, strings.Join(names, ", "))
	}
	return b.String()
}

// words describes the value of a key.
func (k *Key) words() string {
	switch short := k.short(); {
	case k.form.value != "":
		return k.form.value
	case short != nil:
		return short.words() + "; or a mapping"
	case len(keysIn(k.Path)) > 0:
		return "mapping"
	case k.Words != nil:
		return "`" + strings.Join(k.Words, "`, `") + "`"
	}
	switch k.value0(&Study{Service: &Service{}, Workbench: &Workbench{}}).(type) {
	case *bool:
		return "true, false"
	case *int:
		return "whole number >= " + strconv.Itoa(k.Least)
	case *float64:
		if k.Below != 0 {
			return fmt.Sprintf("number between 0 and %v", k.Below)
		}
		return "number > 0"
	case *uint64:
		return "whole number >= 0"
	case *time.Duration:
		return "duration"
	case *[]string:
		return "text or list"
	case *Hook:
		return "list, or a text for `sh -c`"
	}
	return "text"
}
