package assay

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyText draws text of any bytes, of those that JSON escapes or cannot hold above all.
var anyText = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{
		"", "a b", "\xff\xfe", "\x00", "é漢🎉", "\u2028", `{"base64":"eA=="}`, "<&>", `"\`,
		"a\xc3", "\ufffd",
	}),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
)

// list draws a list, nil rather than empty.
func list[T any](of *rapid.Generator[T], most int) *rapid.Generator[[]T] {
	return rapid.Custom(func(t *rapid.T) []T {
		all := rapid.SliceOfN(of, 0, most).Draw(t, "list")
		if len(all) == 0 {
			return nil
		}
		return all
	})
}

// anySource draws a source by its textual form.
var anySource = rapid.Custom(func(t *rapid.T) MetricSource {
	name := rapid.StringMatching(`[a-zé]{1,8}`).Draw(t, "name")
	text := rapid.OneOf(
		rapid.SampledFrom([]string{
			"stdout:/took ([0-9.]+) s/", "stderr:/a/b (?:<|>)(.*)/", "json:out.json#/a/0/b~1c~0", "json:out.json",
			"json:out.json#",
			"json:a#b.json#/x", "json:a#b#", "size:" + SetupDir + "/x", "json:#a#", "json:\xff#/\xff", "size:\xff out",
			"cmd:wc -l <\xff\n", "cmd: x", "gpu:energy", "gpu:utilization",
		}),
		rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"json:", "size:", "cmd:"}).Draw(t, "kind") + anyText.Draw(t, "rest")
		}),
	).Filter(func(text string) bool { _, err := ParseMetricSource(name, text); return err == nil }).Draw(t, "source")
	s, _ := ParseMetricSource(name, text)
	s.Poll = rapid.SampledFrom([]time.Duration{0, 1, time.Second}).Draw(t, "poll")
	return s
})

var anyDuration = rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })

var anyNumber = rapid.OneOf(rapid.Float64(),
	rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-320, math.MaxFloat64, 0.1}))

var anyJob = rapid.Custom(func(t *rapid.T) Job {
	j := Job{
		Config: list(anyNumber, 5).Draw(t, "config"),
		Argv:   list(anyText, 5).Draw(t, "argv"), Env: list(anyText, 3).Draw(t, "env"), Dir: anyText.Draw(t, "dir"),
		Interval: anyDuration.Draw(t, "interval"), Limit: anyDuration.Draw(t, "limit"),
		Grace:   anyDuration.Draw(t, "grace"),
		Prepare: list(anyText, 3).Draw(t, "prepare"), Cleanup: list(anyText, 3).Draw(t, "cleanup"),
		Warmup: rapid.Int().Draw(t, "warmup"), Metrics: list(anySource, 4).Draw(t, "metrics"),
		Priority: rapid.Int().Draw(t, "priority"),
	}
	if rapid.Bool().Draw(t, "named") {
		j.ID = RunID{
			Study: rapid.String().Draw(t, "study"), Trial: rapid.Int64().Draw(t, "trial"),
			Repeat: rapid.Int().Draw(t, "repeat"), Attempt: rapid.Int().Draw(t, "attempt"),
		}
	}
	j.Live = rapid.Bool().Draw(t, "live")
	j.Verify = list(anyText, 3).Draw(t, "verify")
	j.Data = anyText.Draw(t, "data")
	j.Files = list(rapid.Custom(func(t *rapid.T) File {
		return File{anyText.Draw(t, "file"), anyText.Draw(t, "text")}
	}), 3).Draw(t, "files")
	j.Inputs = list(rapid.Custom(func(t *rapid.T) Input {
		return Input{
			rapid.String().Draw(t, "input"), rapid.String().Draw(t, "hash"), rapid.Int64().Draw(t, "size"),
			rapid.Bool().Draw(t, "exec"),
		}
	}), 3).Draw(t, "staged")
	j.Shared = list(rapid.Custom(func(t *rapid.T) Shared {
		return Shared{rapid.String().Draw(t, "path"), rapid.Int64().Draw(t, "size")}
	}), 3).Draw(t, "shared")
	j.Outputs = list(rapid.String(), 3).Draw(t, "outputs")
	if rapid.Bool().Draw(t, "set up") {
		j.Setup = &Setup{
			Argv: list(anyText, 3).Draw(t, "setup"), Env: list(anyText, 3).Draw(t, "setup env"),
			Inputs: list(anyText, 3).Draw(t, "inputs"), Limit: anyDuration.Draw(t, "setup limit"),
			Left: anyDuration.Draw(t, "setup left"), Parallel: rapid.Bool().Draw(t, "parallel"),
		}
	}
	if r := rapid.MapOfN(rapid.String(), anyNumber, 0, 3).Draw(t, "resources"); len(r) > 0 {
		j.Resources = r
	}
	return j
})

// same compares two jobs, and expressions by their text.
func same(a, b Job) bool {
	text := func(j *Job) (all []string) {
		metrics := make([]MetricSource, len(j.Metrics))
		for i, m := range j.Metrics {
			if m.Pattern != nil {
				all, m.Pattern = append(all, m.Pattern.String()), nil
			}
			metrics[i] = m
		}
		j.Metrics = metrics
		return all
	}
	return reflect.DeepEqual(text(&a), text(&b)) && reflect.DeepEqual(a, b)
}

func TestJobRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyJob.Draw(t, "job")
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Job
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !same(got, want) {
			t.Fatalf("%+v\nis written as %s\nand read as %+v", want, b, got)
		}
	})
}

func TestJobJSON(t *testing.T) {
	source, err := ParseMetricSource("rate", "stdout:/rate: (.*)/")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		job  Job
		want string
	}{
		{Job{}, `{}`},
		{Job{Argv: []string{"a", "\xff"}, Env: []string{}}, `{"argv":["a",{"base64":"/w=="}]}`},
		{
			Job{
				ID: RunID{"s", 3, 1, 2}, Config: Config{1, 0.5}, Argv: []string{"p"}, Env: []string{"A=1"}, Dir: "/d",
				Resources: map[string]float64{"cpus": 2}, Interval: 1, Limit: 2, Grace: 3, Prepare: []string{"q"},
				Cleanup: []string{"r"},
				Warmup:  4, Metrics: []MetricSource{source}, Priority: -5,
				Setup: &Setup{Argv: []string{"cc"}, Inputs: []string{"*.c"}, Limit: 5, Parallel: true},
				Files: []File{{"f", "x"}}, Verify: []string{"cmp"},
				Inputs: []Input{{"in", "ab", 6, true}}, Shared: []Shared{{"/data", -1}}, Outputs: []string{"*.log"},
			},
			`{"id":{"study":"s","trial":3,"repeat":1,"attempt":2},"config":[1,0.5],` +
				`"argv":["p"],"env":["A=1"],"dir":"/d",` +
				`"resources":{"cpus":2},"interval_ns":1,"limit_ns":2,` +
				`"grace_ns":3,"prepare":["q"],"cleanup":["r"],"warmup":4,` +
				`"metrics":[{"name":"rate","source":"stdout:/rate: (.*)/"}],"priority":-5,` +
				`"setup":{"argv":["cc"],"inputs":["*.c"],"limit_ns":5,"parallel":true},` +
				`"files":[{"name":"f","text":"x"}],"verify":["cmp"],` +
				`"inputs":[{"name":"in","sha256":"ab","size":6,"exec":true}],"shared":[{"path":"/data","size":-1}],` +
				`"outputs":["*.log"]}`,
		},
	} {
		if got, err := json.Marshal(tt.job); err != nil || string(got) != tt.want {
			t.Errorf("%+v\nis written as %s, %v\nwant %s", tt.job, got, err, tt.want)
		}
	}
}

// A job that JSON cannot represent is refused: never is another job sent.
func TestJobWithoutJSON(t *testing.T) {
	for says, job := range map[string]Job{
		`study "\xff"`:      {ID: RunID{Study: "\xff"}},
		`input "\xff"`:      {Inputs: []Input{{Name: "\xff"}}},
		`path "\xff"`:       {Shared: []Shared{{Path: "\xff"}}},
		`outputs "\xff"`:    {Outputs: []string{"\xff"}},
		`resource "\xff"`:   {Resources: map[string]float64{"\xff": 1}},
		"name is not UTF":   {Metrics: []MetricSource{{Name: "\xff", Kind: FromSize, File: "f"}}},
		"unsupported":       {Config: Config{math.NaN()}},
		"+Inf":              {Resources: map[string]float64{"cpus": math.Inf(1)}},
		"distinguished":     {Metrics: []MetricSource{{Name: "m", Kind: FromJSON, File: "a#/b", Pointer: "/c"}}},
		"exactly one group": {Metrics: []MetricSource{{Name: "m"}}},
		"does not begin":    {Metrics: []MetricSource{{Name: "m", Kind: FromJSON, File: "a", Pointer: "c"}}},
	} {
		if b, err := json.Marshal(job); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v is written as %s, error %v, want one that says %q", job, b, err, says)
		}
	}
	for _, text := range []string{
		`{"argv":[{"base64":"!"}]}`, `{"argv":[1]}`,
		`{"metrics":[{"name":"m","source":"x"}]}`, `{"config":["1"]}`,
	} {
		var j Job
		if err := json.Unmarshal([]byte(text), &j); err == nil {
			t.Errorf("%s is read as %+v", text, j)
		}
	}
}

func FuzzUnmarshalJob(f *testing.F) {
	f.Add(`{"id":{"study":"s","trial":1,"attempt":1},"argv":["a",{"base64":"/w=="}],` +
		`"metrics":[{"name":"m","source":"json:a#b#"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var j, again Job
		if json.Unmarshal([]byte(text), &j) != nil {
			return
		}
		b, err := json.Marshal(j)
		if err != nil {
			t.Fatalf("%s is read as %+v, which cannot be written: %v", text, j, err)
		}
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		if b2, err := json.Marshal(again); err != nil || string(b2) != string(b) {
			t.Errorf("%s becomes %s, then %s: %v", text, b, b2, err)
		}
	})
}

var anyMeasurement = rapid.Custom(func(t *rapid.T) Measurement {
	m := Measurement{
		Elapsed: anyDuration.Draw(t, "elapsed"), ExitCode: rapid.Int().Draw(t, "code"),
		Signal:  rapid.String().Draw(t, "signal"),
		Metrics: rapid.MapOfN(rapid.String(), anyNumber, 0, 4).Draw(t, "metrics"),
		Missing: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "missing"),
	}
	if rapid.Bool().Draw(t, "waited") {
		m.Began = time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC()
	}
	if len(m.Metrics) == 0 {
		m.Metrics = nil
	}
	if len(m.Missing) == 0 {
		m.Missing = nil
	}
	return m
})

// A measurement crosses as JSON, except the output.
func TestMeasurementRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyMeasurement.Draw(t, "measurement")
		sent := want
		sent.Stdout, sent.Stderr = []byte("out"), []byte("err")
		b, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		var got Measurement
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\nis written as %s\nand read as %+v, %v", want, b, got, err)
		}
	})
}
