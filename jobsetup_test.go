package assay

import (
	"reflect"
	"strings"
	"testing"
)

// fill sets every text that v holds to the name of its field and old, and returns how many there are. Lists
// get one element and pointers a value.
func fill(v reflect.Value, name, old string) (n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(name + " " + old + " " + old)
		return 1
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), name, old)
	case reflect.Pointer:
		if v.Type().Elem().PkgPath() != reflect.TypeFor[Job]().PkgPath() {
			return 0 // a regular expression
		}
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), name, old)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				n += fill(v.Field(i), f.Name, old)
			}
		}
	}
	return n
}

// left adds the names of the texts that hold old to out.
func left(v reflect.Value, name, old string, out *[]string) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), old) {
			*out = append(*out, name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			left(v.Index(i), name, old, out)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			left(v.Elem(), name, old, out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				left(v.Field(i), name+"."+f.Name, old, out)
			}
		}
	}
}

// Every text of a job takes part, also the texts of a field that is added later. Names do not: a study, a
// secret, a metric, and a pointer into a document are no places.
func TestReplaceReachesEveryText(t *testing.T) {
	var j Job
	if n := fill(reflect.ValueOf(&j).Elem(), "Job", SetupDir); n < 12 {
		t.Fatalf("filled %d texts", n)
	}
	before := j
	got := j.Replace(SetupDir, "/x")
	var rest []string
	left(reflect.ValueOf(got), "Job", SetupDir, &rest)
	want := []string{
		"Job.ID.Study", "Job.Secrets", "Job.Metrics.Name", "Job.Metrics.Pointer", "Job.Metrics.Quantity",
		"Job.Inputs.Name", "Job.Inputs.SHA256", "Job.Shared.Path", "Job.Outputs",
	}
	if !reflect.DeepEqual(rest, want) {
		t.Errorf("it stays in %q, want %q", rest, want)
	}
	if got.Argv[0] != "Argv /x /x" || got.Setup.Argv[0] != "Argv /x /x" || got.Metrics[0].Command != "Command /x /x" {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(before, j) || j.Argv[0] == got.Argv[0] {
		t.Errorf("the job itself has changed: %+v", j)
	}
	if got := (Job{}).Replace("a", "b"); !reflect.DeepEqual(got, Job{}) {
		t.Errorf("an empty job becomes %+v", got)
	}
}
