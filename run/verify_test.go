package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

func TestVerify(t *testing.T) {
	good := assay.Measurement{Metrics: map[string]float64{"elapsed": 1}, Stdout: []byte("of the run")}
	for _, tt := range []struct {
		name   string
		run    assay.Measurement
		err    error // of the run
		check  assay.Measurement
		failed error // of the check
		ran    string
		want   string // the failure
	}{
		{"right", good, nil, assay.Measurement{}, nil, "job check", ""},
		{
			"wrong", good, nil,
			assay.Measurement{ExitCode: 1, Stderr: []byte("a\nb differs\n")},
			nil, "job check",
			"wrong output: verify exited with code 1: b differs",
		},
		{"ended", good, nil, assay.Measurement{ExitCode: 139, Signal: "SIGSEGV"}, nil, "job check", "was ended by SIGSEGV"},
		{"absent", good, nil, assay.Measurement{}, fmt.Errorf("no cmp: %w", fs.ErrNotExist), "job check", "verify: no cmp"},
		{"limit", good, nil, assay.Measurement{Elapsed: 5e9}, assay.ErrLimit, "job check", "verify: time limit of 5s"},
		{"failed run", assay.Measurement{ExitCode: 3}, nil, assay.Measurement{ExitCode: 1}, nil, "job", ""},
		{"stopped run", good, errors.New("stopped"), assay.Measurement{ExitCode: 1}, nil, "job", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ran []string
			var jobs []assay.Job
			r := WithVerify(runnerFunc(func(_ context.Context, job assay.Job, _ func(assay.Measurement)) (
				assay.Measurement, error,
			) {
				ran, jobs = append(ran, job.Argv[0]), append(jobs, job)
				if job.Argv[0] == "job" {
					return tt.run, tt.err
				}
				return tt.check, tt.failed
			}))
			job := assay.Job{
				ID: assay.RunID{Study: "s", Trial: 1, Attempt: 2}, Argv: []string{"job"}, Env: []string{"A=1"}, Dir: "/d",
				Verify: []string{"check"}, Resources: map[string]float64{"cpus": 1},
			}
			m, err := r.Run(t.Context(), job, nil)
			reason := ""
			if m.Failure != nil {
				reason = m.Failure.Reason
			}
			if !strings.Contains(reason, tt.want) || (reason == "") != (tt.want == "") {
				t.Errorf("failure %q, want %q", reason, tt.want)
			}
			if got := strings.Join(ran, " "); got != tt.ran {
				t.Errorf("ran %s, want %s", got, tt.ran)
			}
			if (err != nil) != (tt.err != nil || tt.name == "limit") || string(m.Stdout) != string(tt.run.Stdout) {
				t.Errorf("got %+v, %v", m, err)
			}
			if len(jobs) == 2 && (jobs[1].ID.Attempt != 0 || jobs[1].Resources != nil || jobs[1].Dir != "/d" ||
				!slices.Equal(jobs[1].Env, job.Env) || jobs[0].Verify != nil) {
				t.Errorf("it is run as %+v", jobs[1])
			}
		})
	}
}

// A warm-up run and a hook are not verified; a clean-up comes after.
func TestVerifyBetweenRunAndCleanup(t *testing.T) {
	inner := &script{}
	job := assay.Job{
		Argv: []string{"job"}, Verify: []string{"check"}, Prepare: []string{"before"}, Cleanup: []string{"after"}, Warmup: 1,
	}
	if _, err := WithHooks(WithVerify(Metrics(inner))).Run(t.Context(), job, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"before", "job", "job", "check", "after"}; !slices.Equal(inner.ran, want) {
		t.Errorf("ran %v, want %v", inner.ran, want)
	}
}
