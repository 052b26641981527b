package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A house is a directory with recorded tables and a store, and runs commands in it.
type house struct {
	t   *testing.T
	dir string
}

// newHouse returns one with
//   - t.yaml: 12 configurations of threads and codec, with elapsed and power;
//   - m.yaml: 25 assignments of cpu and rtt, with 20/cpu + 3·rtt + 1 seconds;
//   - e.yaml: 4 environments of 16 configurations of x and y, with 3 runs each;
//   - w.json: a workflow of three tasks;
//   - c.yaml: a command with a parameter n that always fails;
//   - runs.txt: ten run times.
func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t, t.TempDir()}
	t.Setenv("XDG_STATE_HOME", h.dir)
	t.Setenv("ASSAY_ONLINE", "")
	var table, bench, envs strings.Builder
	table.WriteString("threads,codec,time_s,power\n")
	for _, threads := range []int{1, 2, 4, 8} {
		for k, codec := range []string{"a", "b", "c"} {
			fmt.Fprintf(&table, "%d,%s,%g,%d\n", threads, codec, 8/float64(threads)+0.3*float64(k), 10+threads+k)
		}
	}
	bench.WriteString("cpu,rtt,s\n")
	for cpu := 1; cpu <= 5; cpu++ {
		for rtt := range 5 {
			fmt.Fprintf(&bench, "%d,%d,%g\n", cpu, rtt, 20/float64(cpu)+3*float64(rtt)+1)
		}
	}
	envs.WriteString("env,x,y,t1,t2,t3\n")
	for i := range 64 {
		e, x, y := i/16, i/4%4, i%4
		v := float64(1 + (x-2)*(x-2) + (y-1)*(y-1) + e)
		fmt.Fprintf(&envs, "%d,%d,%d,%g,%g,%g\n", e, x, y, v, 1.2*v, 1.4*v)
	}
	for name, text := range map[string]string{
		"t.csv": table.String(), "m.csv": bench.String(), "e.csv": envs.String(),
		"t.yaml": "replay: {file: t.csv, parameters: [threads, codec], metrics: {elapsed: time_s, power: power}}\n",
		"m.yaml": "replay: {file: m.csv, parameters: [cpu, rtt], metrics: {elapsed: s}}\n",
		"e.yaml": "replay: {file: e.csv, parameters: [x, y], metrics: {elapsed: [t1, t2, t3]}, where: {env: 0}}\n",
		"c.yaml": "command: [test, '{n}', -lt, '0']\nparameters: {n: 1..4}\n",
		"w.json": `{"name": "w", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": [` + "\n" +
			`{"name": "a", "id": "a", "parents": [], "children": ["b", "c"]}, ` +
			`{"name": "b", "id": "b", "parents": ["a"], "children": []},` + "\n" +
			`{"name": "c", "id": "c", "parents": ["a"], "children": []}]}, ` +
			`"execution": {"makespanInSeconds": 30, "executedAt": "2024-01-01T00:00:00Z",` + "\n" +
			`"tasks": [{"id": "a", "runtimeInSeconds": 10}, {"id": "b", "runtimeInSeconds": 20}, ` +
			`{"id": "c", "runtimeInSeconds": 5}]}}}`,
		"runs.txt": "1\n1.01\n1.02\n1.05\n1.01\n1.2\n1.03\n1.02\n1.01\n1.04\n",
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// path returns the path of a file in the house. An argument that is no file stays as it is.
func (h *house) path(arg string) string {
	for _, end := range []string{".yaml", ".json", ".csv", ".txt", ".svg"} {
		if strings.HasSuffix(arg, end) {
			return filepath.Join(h.dir, arg)
		}
	}
	return arg
}

// try runs a command line, whose words have spaces between them.
func (h *house) try(line, in string) (code int, out, errs string) {
	h.t.Helper()
	var args []string
	for arg := range strings.FieldsSeq(line) {
		args = append(args, h.path(arg))
	}
	return h.tryArgs(args, in)
}

// tryArgs runs a command.
func (h *house) tryArgs(args []string, in string) (code int, out, errs string) {
	h.t.Helper()
	var o, e bytes.Buffer
	code = execute(streams{strings.NewReader(in), &o, &e}, args)
	return code, o.String(), e.String()
}

// run returns the output of a command that has to succeed.
func (h *house) run(line string) string {
	h.t.Helper()
	code, out, errs := h.try(line, "")
	if code != 0 {
		h.t.Fatalf("assay %s: exit code %d\n%s", line, code, errs)
	}
	return out
}

// want are the types of the values of a JSON object by their keys, in which a map or a list stands
// for an object, or for the elements of a list that is not empty. A key that ends with "?" may be
// missing.
type want map[string]any

// The types in a want, beside a want and a []want.
const (
	str      = "string"
	num      = "number"
	flag     = "bool"
	null     = "number or null"
	objs     = "an object with any keys"
	list     = "a list"
	anything = "anything"
)

// is returns the flaw of a value, or "".
func is(at string, v, w any) string {
	ok := true
	switch w := w.(type) {
	case want:
		m, isObject := v.(map[string]any)
		if !isObject {
			return at + ": not an object"
		}
		return w.check(at, m)
	case []want:
		all, isList := v.([]any)
		if !isList || len(all) == 0 {
			return at + ": not a list with elements"
		}
		for i, e := range all {
			if bad := is(fmt.Sprintf("%s[%d]", at, i), e, w[0]); bad != "" {
				return bad
			}
		}
		return ""
	case string:
		switch _, number := v.(float64); w {
		case str:
			_, ok = v.(string)
		case num:
			ok = number
		case flag:
			_, ok = v.(bool)
		case null:
			ok = number || v == nil
		case objs:
			_, ok = v.(map[string]any)
		case list:
			_, ok = v.([]any)
		}
	}
	if !ok {
		return fmt.Sprintf("%s: %v is not %v", at, v, w)
	}
	return ""
}

// check returns the flaw of an object: a key that is missing, or not in the contract, or of another type.
func (w want) check(at string, m map[string]any) string {
	for key, t := range w {
		name, optional := strings.CutSuffix(key, "?")
		v, ok := m[name]
		if !ok && optional {
			continue
		}
		if !ok {
			return at + ": no key " + name
		}
		if bad := is(at+"."+name, v, t); bad != "" {
			return bad
		}
	}
	for name := range m {
		_, always := w[name]
		if _, sometimes := w[name+"?"]; !always && !sometimes {
			return at + ": a key that the contract does not know: " + name
		}
	}
	return ""
}

var (
	bestTrial = want{
		"trial": num, "config": objs, "value": num, "metrics": objs, "command?": list, "dir?": str, "env?": list,
		"runs?": num,
	}
	counts = want{
		"total": num, "done": num, "censored": num, "failed": num, "infeasible": num, "withdrawn?": num,
	}
	budgetAt = want{"kind": str, "value": num, "seconds?": num}
	tail     = want{"kind": str, "index": null, "ci95": list, "from": num, "threshold": null, "line_r2": null}
	limit    = want{"at": objs, "parts_s": objs}
	answer   = want{
		"keep": flag, "trial": num, "config": objs, "value": num, "runs": num, "candidate?": objs, "gain": str,
		"shown": flag, "least?": anything, "limits?": list, "passed_over?": list, "run?": str,
	}
)

// The JSON of each command has the keys and types that scripts rely on, and no others.
func TestContracts(t *testing.T) {
	testbed.Outside(t)
	h := newHouse(t)
	h.run("tune t.yaml --trials 12 --study s")
	h.run("tune e.yaml --trials 6 --repeat 3 --estimator min --study r")
	h.run("tune m.yaml --trials 20 --search random --study m2")
	h.run("learn m.yaml --trials 12 --study lm --model lm.json")
	for line, w := range map[string]want{
		"tune t.yaml --trials 8 --study x --json": {
			"study": str, "objective": want{"metric": str, "goal": str, "unit?": str, "levels?": flag}, "best": bestTrial,
			"answer?": answer, "trials": counts,
			"spent_s": num, "lost_s": num, "saved_s": num, "overhead_s": num, "ended_by": str, "ended_why?": str, "gain?": objs,
			"repeated?": objs, "refuted?": list,
		},
		"study ls --json": {
			"study": str, "state": str, "priority": num, "app": str, "class?": str, "objective": str, "unit?": str, "best": null,
			"best_trial": num, "best_runs?": num, "gain?": str, "keep?": flag, "trials": num, "done": num, "censored": num,
			"failed": num, "infeasible": num, "withdrawn": num, "running": num, "spent_s": num, "saved_s": num, "lost_s": num,
			"events": num, "created": str, "last": str, "ended_by": str,
		},
		"study show s --json": {
			"study": str, "spec": objs, "trials": counts, "spent_s": num, "best": bestTrial, "ended_by?": str, "ended_why?": str,
			"cuts?": list, "gain?": objs, "repeated?": objs, "refuted?": list, "workers?": list,
			"limits?": []want{{"limit": str, "measured": num, "broken": num}}, "answer?": answer,
		},
		"study trials s --json": {
			"id": num, "config": objs, "state": str, "value": null, "metrics": objs, "reason": str, "decision?": objs,
			"curve?": objs, "attempts?": num, "elapsed_s": num, "started": str, "ended": anything,
		},
		"study explain s --json": {
			"study": str, "metric": str, "trials": num, "exact": num, "explained": num, "relative": flag, "base": num,
			"predicted": num, "best": bestTrial,
			"parameters": []want{{"name": str, "value": anything, "effect": num, "importance": num, "main_effect": num}},
			"limits?":    list,
			"answer?":    answer,
		},
		"study similar s --json": {
			"study": str, "correlation": null, "points": num, "trials": num, "reason?": str, "estimate?": flag, "fits?": flag,
		},
		"study similar s --prune --json": {
			"study": str, "after": num, "helpers": list, "notes": list, "cuts": list, "space_left": num,
			"later_trials": num, "later_outside": num, "best": null, "best_left": null, "loss": null,
		},
		"study noise - --json": {
			"study?": str, "config?": str, "runs": num, "configurations": num,
			"min": num, "median": num, "mean": num, "cv": null, "tail": tail, "truncated?": tail,
			"verdict": str, "estimator": str, "repeat": num, "repeat_pareto": null, "advice": str, "ranks?": objs,
		},
		"learn --from lm --model l2.json --json": {
			"study": str, "model": str, "runs": num, "failed": num, "error_percent": null, "expected_error_percent": null,
			"spent_s": num, "ended_by": str,
			"limits?": []want{limit},
		},
		"predict lm.json --json": {
			"runs": num, "failed": num, "error_percent": null, "expected_error_percent": null, "limits?": []want{limit},
			"attributes": []want{{"name": str, "min?": num, "max?": num, "values?": list}},
			"measured":   []want{{"at": objs, "measured_s": num, "without_s": null}},
		},
		"predict lm.json --at cpu=2,rtt=1 --json": {
			"at": objs, "seconds": num, "low_s": num, "high_s": null, "parts_s?": objs, "data_flow": num, "fails": num,
		},
		"predict lm.json --against m2 --json": {
			"study": str, "mape_percent": num, "covered": num, "trained": num,
			"runs": []want{{"trial": num, "at": objs, "measured_s": num, "seconds": num, "low_s": num, "high_s": null}},
		},
		"profile --data t.csv --json": {
			"version": num, "data": str, "attributes": objs, "bytes": num, "files": num, "directories": num, "others": num,
			"size_quantiles": []want{{"level": num, "bytes": num}},
		},
		"doctor --json": {"version": str, "facts": list},
		"bench t.yaml --methods rs,auto --trials 4 --seeds 2 --json": {
			"studies": list, "methods": list, "seeds": num,
			"rows": []want{{
				"study": str, "method": str, "budget": budgetAt, "re_mean": num, "re_ci95": list, "re_median": num,
				"re_by_seed": list, "trials_mean": num, "completed_mean": num, "found": num, "outside_mean": num,
				"early_mean": num, "wrong_mean": num,
				"spent_s_mean": num, "overhead_ms_per_trial": num, "deciding_ms_per_trial": num, "curve?": list,
			}},
			"geomean": []want{{"method": str, "budget": budgetAt, "re": num, "re_ci95": list}},
		},
		"plan w.json --slots 1,2 --json": {
			"workflow": str, "tasks": num, "format": str, "system?": str, "work_s": num, "site?": str,
			"levels":    []want{{"method": str, "levels": []want{{"tasks": num, "sum_s": num, "max_s": num}}}},
			"estimates": list, "bounds": list, "pareto": list, "recommendation": objs, "calibration?": objs, "recorded?": objs,
			"sites?": list, "notes?": list,
		},
		"compare -n 2 --json -- true -- true": {
			"metric": str, "goal": str, "a": objs, "b": objs, "change": null, "ci": list, "level": num, "p": num, "verdict": str,
			"pairs": num, "looks": num, "stopped_early": flag, "seconds": num, "warnings?": list,
		},
	} {
		in, err := os.ReadFile(h.path("runs.txt"))
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := h.try(line, string(in))
		if code != 0 {
			t.Errorf("assay %s: exit code %d\n%s", line, code, errs)
			continue
		}
		for d, n := json.NewDecoder(strings.NewReader(out)), 0; ; n++ {
			var v any
			if err := d.Decode(&v); err != nil {
				if n == 0 {
					t.Errorf("assay %s: no JSON: %v\n%s", line, err, out)
				}
				break
			}
			var shape any = w
			if _, ok := v.([]any); ok { // of predict --at
				shape = []want{w}
			}
			if bad := is("", v, shape); bad != "" {
				t.Errorf("assay %s: %s\n%s", line, bad, out)
				break
			}
		}
	}
}

// write writes a file into the house and returns its path.
func (h *house) write(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// read returns the text of a file.
func (h *house) read(path string) string {
	h.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}
