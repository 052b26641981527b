package spec

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// Every key has a text, a value that can be read and written, and a place in its mapping.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		if k.Doc == "" || seen[k.Path] {
			t.Errorf("%s: %q, a second time %v", k.Path, k.Doc, seen[k.Path])
		}
		seen[k.Path] = true
		if at := strings.LastIndexByte(k.Path, '.'); at >= 0 && !seen[k.Path[:at]] {
			t.Errorf("%s is in a mapping that is not declared before it", k.Path)
		}
		if (k.Flag != "") != (k.Help != "") && k.Flag != "search" && k.Flag != "stop" { // these two list their values
			t.Errorf("%s: flag %q, help %q", k.Path, k.Flag, k.Help)
		}
		if k.Free {
			if v, ok := keyOf(k.top()).value(&Study{}); ok && v.Kind() == reflect.Pointer && k.Path != k.top() {
				t.Errorf("%s is free and below a pointer, which identity would write through", k.Path)
			}
		}
	}
}

// Each field of a study belongs to a key, which has who may write it and whether a study goes on with another value,
// or is no part of a study file.
func TestFieldsAreKeys(t *testing.T) {
	s := &Study{}
	beside := []string{"Version", "Searchers", "Others", "Online", "Configs"} // Others come with the objective
	for f := range reflect.TypeFor[Study]().Fields() {
		declared := slices.ContainsFunc(keysIn(""), func(k *Key) bool {
			field := reflect.ValueOf(s).Elem().FieldByIndex(f.Index).Addr()
			return k.field != nil && reflect.ValueOf(k.field(s)).Pointer() == field.Pointer()
		})
		if f.IsExported() && declared == slices.Contains(beside, f.Name) {
			t.Errorf("field %s: a key has it %v", f.Name, declared)
		}
	}
}

// Each field of a job is carried for an application, or filled by a key, and then refused.
func TestRefused(t *testing.T) {
	if key := Refused(assay.Job{}); key != "" {
		t.Errorf("an empty job is refused for %s", key)
	}
	for f := range reflect.TypeFor[assay.Job]().Fields() {
		i := slices.IndexFunc(Keys(), func(k Key) bool { return slices.Contains(k.Job, f.Name) })
		if slices.Contains(carried, f.Name) == (i >= 0) {
			t.Errorf("field %s of a job: a key fills it %v, and it is carried %v", f.Name, i >= 0, i < 0)
		}
		if i < 0 {
			continue
		}
		var j assay.Job
		fill(reflect.ValueOf(&j).Elem().FieldByIndex(f.Index))
		if got := Refused(j); got != Keys()[i].Path {
			t.Errorf("a job with %s is refused for %q, want %s", f.Name, got, Keys()[i].Path)
		}
	}
}

// fill gives a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	}
}

// The schema and the table of the documentation equal the ones made from the declarations.
func TestReferenceOfKeys(t *testing.T) {
	const again = "go test ./spec -run ReferenceOfKeys"
	testbed.Current(t, schemaFile, string(Schema()), again)
	const page, begin, end = "../docs/format/study.md", "<!-- keys: made from the code -->\n", "<!-- end of keys -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the keys", page)
	}
	testbed.Current(t, page, before+begin+"\n"+Reference()+"\n"+end+after, again)
}

// A flag and a program set a key by the rules of study files.
func TestSet(t *testing.T) {
	s := &Study{}
	for path, text := range map[string]string{
		"budget.time": "10m", "budget.trials": "3", "prepare": "make", "search.seed": "7", "prior.use": "a, b",
		"repeat.runs": "auto",
	} {
		if err := s.Set(path, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if s.Budget.Trials != 3 || s.Budget.Time.Minutes() != 10 || !s.Prepare.Shell || s.Search.Seed != 7 ||
		len(s.Prior.Studies) != 2 ||
		!s.Repeat.Auto {
		t.Errorf("set %+v", s)
	}
	for path, want := range map[string]string{
		"budget.time": `"x" is not a duration`, "parallel": `"x" is not a number`, "prior.alpha": `"x" is not a number`,
		"repeat.estimator": `"x" is not one of min, median, mean`,
	} {
		if err := s.Set(path, "x"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
