package assay

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// jobJSON is the JSON of a Job. Zero fields are left out.
type jobJSON struct {
	ID        RunID              `json:"id,omitzero"`
	Config    Config             `json:"config,omitempty"`
	Argv      []rawText          `json:"argv,omitempty"`
	Env       []rawText          `json:"env,omitempty"`
	Dir       rawText            `json:"dir,omitempty"`
	Resources map[string]float64 `json:"resources,omitempty"`
	Interval  time.Duration      `json:"interval_ns,omitempty"`
	Limit     time.Duration      `json:"limit_ns,omitempty"`
	Grace     time.Duration      `json:"grace_ns,omitempty"`
	Prepare   []rawText          `json:"prepare,omitempty"`
	Cleanup   []rawText          `json:"cleanup,omitempty"`
	Warmup    int                `json:"warmup,omitempty"`
	Metrics   []MetricSource     `json:"metrics,omitempty"`
	Priority  int                `json:"priority,omitempty"`
	Setup     *setupJSON         `json:"setup,omitempty"`
	Service   *serviceJSON       `json:"service,omitempty"`
	Files     []fileJSON         `json:"files,omitempty"`
	Live      bool               `json:"live,omitempty"`
	Verify    []rawText          `json:"verify,omitempty"`
	Data      rawText            `json:"data,omitempty"`
	Traces    map[string]Trace   `json:"traces,omitempty"`
	Inputs    []Input            `json:"inputs,omitempty"`
	Shared    []Shared           `json:"shared,omitempty"`
	Outputs   []string           `json:"outputs,omitempty"`
	Secrets   []rawText          `json:"secrets,omitempty"`
}

// MarshalJSON implements [json.Marshaler]. Reading it back gives an equal job, in which an empty list or map is nil.
//
// Arguments, variables and files may be any bytes. It returns an error for a
// number that is not finite, a name of a study, resource, metric, input or output that is not
// UTF-8, and a metric whose textual form would be read as another one.
func (j Job) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(j.ID.Study) {
		return nil, fmt.Errorf("the name of study %q is not UTF-8", j.ID.Study)
	}
	for _, in := range j.Inputs {
		if !utf8.ValidString(in.Name) {
			return nil, fmt.Errorf("the name of input %q is not UTF-8", in.Name)
		}
	}
	for _, at := range j.Shared {
		if !utf8.ValidString(at.Path) {
			return nil, fmt.Errorf("the shared path %q is not UTF-8", at.Path)
		}
	}
	for _, pattern := range j.Outputs {
		if !utf8.ValidString(pattern) {
			return nil, fmt.Errorf("the pattern of outputs %q is not UTF-8", pattern)
		}
	}
	for name := range j.Traces {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("the name of resource %q is not UTF-8", name)
		}
	}
	for name := range j.Resources {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("the name of resource %q is not UTF-8", name)
		}
	}
	return json.Marshal(jobJSON{
		j.ID, j.Config, raw(j.Argv), raw(j.Env), rawText(j.Dir), j.Resources, j.Interval, j.Limit, j.Grace,
		raw(j.Prepare), raw(j.Cleanup), j.Warmup, j.Metrics, j.Priority,
		j.Setup.json(), j.Service.json(), fileTexts(j.Files), j.Live, raw(j.Verify), rawText(j.Data), j.Traces,
		j.Inputs, j.Shared, j.Outputs, raw(j.Secrets),
	})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (j *Job) UnmarshalJSON(b []byte) error {
	var r jobJSON
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	*j = Job{
		r.ID, r.Config, texts(r.Argv), texts(r.Env), texts(r.Secrets), string(r.Dir), r.Resources, r.Interval, r.Limit,
		r.Grace,
		texts(r.Prepare), texts(r.Cleanup), r.Warmup, r.Metrics, r.Priority,
		r.Setup.setup(), r.Service.service(), filesOf(r.Files), r.Live, texts(r.Verify), string(r.Data), r.Traces,
		r.Inputs, r.Shared, r.Outputs,
	}
	return nil
}

// A rawText is text that may be no UTF-8, such as the name of a file. Its JSON
// is a string, or {"base64":…} if a string cannot hold it.
type rawText string

type rawJSON struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements [json.Marshaler].
func (s rawText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(s)) {
		return json.Marshal(string(s))
	}
	return json.Marshal(rawJSON{[]byte(s)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *rawText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var r rawJSON
		err := json.Unmarshal(b, &r)
		*s = rawText(r.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(s))
}

// raw and texts convert lists; an empty list becomes nil.
func raw(all []string) []rawText {
	var out []rawText
	for _, s := range all {
		out = append(out, rawText(s))
	}
	return out
}

func texts(all []rawText) []string {
	var out []string
	for _, s := range all {
		out = append(out, string(s))
	}
	return out
}
