package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

const schemaFile = "../docs/format/study.schema.json"

func studySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("study.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("study.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The schema that editors use has the keys of a study file, and no others.
func TestSchemaKeys(t *testing.T) {
	s := studySchema(t)
	var known []string
	for _, k := range keysIn("") {
		if k.stored {
			continue
		}
		known = append(known, k.Path)
		if p := s.Properties[k.Path]; p == nil || p.Description == "" {
			t.Errorf("%s: no key %q with a description", schemaFile, k.Path)
		}
	}
	for key := range s.Properties {
		if !slices.Contains(known, key) {
			t.Errorf("%s: no study file has the key %q", schemaFile, key)
		}
	}
}

// The study files of the examples, the scripts and the documentation are valid by the schema; with an unknown key
// they are not.
func TestSchemaAcceptsStudies(t *testing.T) {
	s := studySchema(t)
	n := 0
	for name, text := range studies(t) {
		if _, _, err := Parse(name, []byte(text), nil); err != nil {
			continue // no study, or one that is wrong on purpose
		}
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(v)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		n++
		m, ok := asJSON(v).(map[string]any)
		if !ok {
			continue
		}
		m["budgets"] = "10s"
		if s.Validate(m) == nil {
			t.Errorf("%s: the schema accepts the key budgets", name)
		}
	}
	if n < 60 {
		t.Errorf("%d studies were looked at", n)
	}
}

// A metric is written in every way that there is, and its source is one of those.
func TestSchemaMetrics(t *testing.T) {
	s := studySchema(t)
	for _, kind := range assay.SourceKinds() {
		argument := map[assay.SourceArgument]string{
			assay.PatternArgument: "(a)", assay.PointerArgument: "f#/a", assay.FileArgument: "f", assay.CommandArgument: "x",
			assay.QuantityArgument: "energy",
		}[kind.Argument()]
		text := fmt.Sprintf("command: [x, '{n}']\nparameters: {n: 1..2}\nmetrics: {m: {%v: %q}}", kind, argument)
		var v any
		_, _, err := Parse("s.yaml", []byte(text), nil)
		if err = errors.Join(err, yaml.Unmarshal([]byte(text), &v)); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(asJSON(v)); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// The schema refuses a key or value that no study may have.
func TestSchemaRefuses(t *testing.T) {
	s := studySchema(t)
	for _, text := range []string{
		"command: {a: b}", "parameters: [1]", "parameters: {n: {type: whole}}", "parameters: {n: {minimum: 1}}",
		"objective: {smallest: elapsed}",
		"metrics: {m: {out: x}}", "metrics: {m: {gpu: heat}}", "service: {ready: {port: 1}}",
		"service: {start: x, ready: {ports: 1}}", "repeat: -1", "place: [local]",
		"replay: {parameters: [a]}", "prior: {rule: new}", "progress: {from: x}", "setup: {command: x, input: y}",
		"env: [A=1]",
	} {
		if _, _, err := Parse("wrong.yaml", []byte("command: [x, '{n}']\nparameters: {n: 1..2}\n"+text+"\n"),
			nil); err == nil {
			t.Errorf("%q is read", text) // then it is no example of a refused text
		}
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if s.Validate(asJSON(v)) == nil {
			t.Errorf("the schema accepts %q", text)
		}
	}
}

// studies returns the texts of the tree that may be study files, by their places.
func studies(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	fence := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	archived := regexp.MustCompile(`(?ms)^-- \S+\.yaml --\n(.*?)(?:^-- |\z)`)
	for _, dir := range []string{"../examples", "../bench", "../docs", "../cmd/assay/testdata/script"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var within *regexp.Regexp
			switch filepath.Ext(path) {
			case ".yaml":
			case ".md":
				within = fence
			case ".txtar":
				within = archived
			default:
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil || within == nil {
				all[path] = string(text)
				return err
			}
			for i, m := range within.FindAllStringSubmatch(string(text), -1) {
				all[path+strings.Repeat("'", i)] = m[1]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// asJSON has the types that a schema knows.
func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asJSON(v[k])
		}
	case map[any]any:
		m := map[string]any{}
		for k, e := range v {
			if s, ok := k.(string); ok {
				m[s] = asJSON(e)
			}
		}
		return m
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	}
	return v
}
