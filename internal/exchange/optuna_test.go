package exchange

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// The journal is one that Optuna 5 wrote (testdata/make_optuna.py): a study with a parameter that is not always asked
// for, with pruned and failed trials, and one with two objectives.
func TestOptunaJournal(t *testing.T) {
	data := []byte(file(t, "optuna-journal.log"))
	s, err := ParseOptunaJournal(data, "j", "forest")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Parameters, []string{"kind", "threads", "rate", "depth"}) || len(s.Runs) != 24 {
		t.Fatalf("%+v", s)
	}
	if s.When["depth"] != "kind == 'tree'" || len(s.When) != 1 {
		t.Errorf("when %q", s.When)
	}
	if !slices.Equal(s.Metrics, []Metric{{Name: "value", Known: true}}) {
		t.Errorf("metrics %+v", s.Metrics)
	}
	var def strings.Builder
	if err := s.WriteDefinition(&def, "forest.csv"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{ // as the trials drew them
		`"threads": {type: int, min: 1, max: 8}`, `"rate": {type: real, min: 0.001, max: 1, log: true}`,
		`"depth": {type: int, min: 2, max: 10, step: 2, when: "kind == 'tree'"}`,
	} {
		if !strings.Contains(def.String(), "  "+want+"\n") {
			t.Errorf("no %s in\n%s", want, &def)
		}
	}
	states := map[string]int{}
	for _, r := range s.Runs {
		states[r.Failed]++
		if (r.Failed != "") != math.IsNaN(r.Values[0]) || (r.Failed == optunaPruned) != (r.Config[1] == "3") ||
			(r.Failed == optunaFail) != (r.Config[1] == "5") || !(r.Elapsed > 0) {
			t.Errorf("%+v", r)
		}
	}
	if states[optunaPruned] == 0 || states[optunaFail] == 0 {
		t.Errorf("states %v: the file has no pruned or no failed trial", states)
	}
	if r := s.Runs[1]; r.Values[0] != 2.4108813350036358 ||
		!slices.Equal(r.Config, []string{"tree", "2", "0.010881335003635882", "4"}) {
		t.Errorf("%+v", r)
	}
	if s, err = ParseOptunaJournal(data, "j", "two"); err != nil || len(s.Runs) != 10 {
		t.Fatalf("%+v, %v", s, err)
	}
	if !slices.Equal(s.Metrics, []Metric{{Name: "time", Known: true}, {Name: "quality", Known: true, Maximize: true}}) {
		t.Errorf("metrics %+v", s.Metrics)
	}
	if half, err := ParseOptunaJournal(data[:len(data)-40], "j", "two"); err != nil || len(half.Runs) != 9 {
		t.Errorf("a writer who was killed: %+v, %v", half, err)
	}
}

const optunaHead = `{"op_code":0,"worker_id":"w","study_name":"s","directions":[1]}` + "\n"

// optunaTrialOf returns the lines of a trial with one categorical parameter.
func optunaTrialOf(id, param, choice, value string) string {
	return `{"op_code":4,"worker_id":"w","study_id":0}` + "\n" +
		`{"op_code":5,"worker_id":"w","trial_id":` + id + `,"param_name":"` + param + `","param_value_internal":` + choice +
		`,"distribution":"{\"name\":\"CategoricalDistribution\",\"attributes\":{\"choices\":[null,true,\"x\"]}}"}` + "\n" +
		`{"op_code":7,"worker_id":"w","trial_id":` + id + `,"step":0,"intermediate_value":NaN}` + "\n" +
		`{"op_code":8,"worker_id":"w","trial_id":` + id + `,"user_attr":{"power":3}}` + "\n" +
		`{"op_code":6,"worker_id":"w","trial_id":` + id + `,"state":1,"values":[` + value + `]}` + "\n"
}

// User attributes that are numbers are metrics; an entry after the end of a trial does nothing; a trial may be added
// whole.
func TestOptunaJournalOps(t *testing.T) {
	s, err := ParseOptunaJournal([]byte(optunaHead+optunaTrialOf("0", "a", "0", "7")+
		`{"op_code":6,"worker_id":"w","trial_id":0,"state":3,"values":null}`+"\n"+
		`{"op_code":4,"worker_id":"w","study_id":0,"state":1,"value":5,"params":{"a":2},"distributions":`+
		`{"a":"{\"name\":\"CategoricalDistribution\",\"attributes\":{\"choices\":[null,true,\"x\"]}}"},`+
		`"user_attrs":{"power":4}}`+"\n"), "j", "")
	if err != nil || len(s.Runs) != 2 || len(s.Metrics) != 2 || s.Metrics[1].Name != "power" {
		t.Fatalf("%+v, %v", s, err)
	}
	for i, want := range []Run{
		{Config: []string{"None"}, Values: []float64{7, 3}},
		{Config: []string{"x"}, Values: []float64{5, 4}},
	} {
		if r := s.Runs[i]; !slices.Equal(r.Config, want.Config) || !slices.Equal(r.Values, want.Values) || r.Failed != "" {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	for text, want := range map[string]string{
		optunaHead: "j: the study has no parameters",
		optunaHead + optunaTrialOf("0", "a", "3", "7"): "j:3:1: the journal of Optuna: " +
			"trial 0, parameter a: there is no choice 3 of 3",
		optunaHead + optunaTrialOf("1", "a", "0",
			"7"): "j:3:1: the journal of Optuna: there is no trial 1",
		optunaHead + optunaTrialOf("0", "a", "0", "NaN"): "j:6:1: the journal of Optuna: ",
		optunaHead + optunaTrialOf("0", "a", "0", "7") + optunaTrialOf("1", "b", "0",
			"8"): "j: s: some trials have no parameter a",
		optunaHead + strings.Replace(optunaHead, `"s"`, `"r"`, 1):        "j: the studies are s, r",
		optunaHead + `{"op_code":1,"worker_id":"w","study_id":0}` + "\n": "j: the studies are ",
	} {
		if _, err := ParseOptunaJournal([]byte(text), "j", ""); err == nil || !strings.HasPrefix(err.Error(), want) ||
			assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzOptunaJournal reads any file as a study whose rows are as long as its head, or refuses it.
func FuzzOptunaJournal(f *testing.F) {
	f.Add([]byte(optunaHead + optunaTrialOf("0", "a", "0", "7") + optunaTrialOf("1", "a", "2", "8")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !IsOptunaJournal(data) {
			return
		}
		s, err := ParseOptunaJournal(data, "f", "")
		sound(t, s, err)
	})
}

// The range of a parameter is the widest of the trials and has the values that were set by hand. Without one range
// for all trials, or with one value, it is left to the table.
func TestOptunaRanges(t *testing.T) {
	set := func(d string, x float64) *optunaTrial {
		o := &optunaTrial{params: map[string]string{}}
		if err := o.set("x", x, d); err != nil {
			t.Fatal(err)
		}
		return o
	}
	const (
		real1  = `{"name": "FloatDistribution", "attributes": {"step": null, "low": 0.1, "high": 1.0, "log": true}}`
		real2  = `{"name": "FloatDistribution", "attributes": {"step": null, "low": 0.2, "high": 2.0, "log": true}}`
		linear = `{"name": "FloatDistribution", "attributes": {"step": null, "low": 0.2, "high": 2.0, "log": false}}`
		single = `{"name": "IntDistribution", "attributes": {"step": 1, "low": 3, "high": 3, "log": false}}`
		old    = `{"name": "IntLogUniformDistribution", "attributes": {"low": 1, "high": 64, "step": 1}}`
		grid   = `{"name": "DiscreteUniformDistribution", "attributes": {"low": 0, "high": 1, "q": 0.25}}`
	)
	for _, c := range []struct {
		trials []*optunaTrial
		want   string
	}{
		{[]*optunaTrial{set(real1, 0.5), set(real2, 1)}, "type: real, min: 0.1, max: 2, log: true"},
		{[]*optunaTrial{set(real1, 0.05)}, "type: real, min: 0.05, max: 1, log: true"},
		{[]*optunaTrial{set(real1, 0.5), set(linear, 1)}, ""},
		{[]*optunaTrial{set(single, 3)}, ""},
		{[]*optunaTrial{set(old, 8)}, "type: int, min: 1, max: 64, log: true"},
		{[]*optunaTrial{set(grid, 0.5)}, "type: real, min: 0, max: 1, step: 0.25"},
	} {
		got := ""
		if r, ok := (&optunaStudy{}).ranges([]string{"x"}, c.trials)["x"]; ok {
			got = r.keys()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
