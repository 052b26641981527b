package api

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// schemathesis returns the program that scripts/deps.sh installs, "" if it is not there.
func schemathesis() string {
	if path, err := exec.LookPath("schemathesis"); err == nil {
		return path
	}
	path := testbed.Installed("schemathesis", "bin", "schemathesis")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// beyond are the requests whose flaws the document cannot describe completely: the definition of a
// study, the values of the parameters of one, and a workflow. The others must be accepted if they are as the
// document requires. A wrong request may be refused as too large, too.
const beyond = `
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
[[operations]]
include-operation-id = "post-studies"
checks.positive_data_acceptance.expected-statuses = ["2xx", 403, 409, 422]

[[operations]]
include-operation-id = "post-studies-study-trials"
checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 409, 422]

[[operations]]
include-operation-id = "post-studies-study-ask"
checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 409, 422]

[[operations]]
include-operation-id = "post-studies-study-tell"
checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 409, 422]
# Two refusals come before what the body is: a body that is too large, of more results than there may be, and an
# Idempotency-Key that was used for another request.
checks.negative_data_rejection.expected-statuses = [400, 401, 403, 404, 406, 409, 413, 422, 428, "5xx"]

[[operations]]
include-operation-id = "post-studies-study-recall"
checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 409, 422]

[[operations]]
include-operation-id = "post-check"
checks.positive_data_acceptance.expected-statuses = ["2xx", 403, 409, 422]

[[operations]]
include-operation-id = "post-plan"
checks.positive_data_acceptance.expected-statuses = ["2xx", 409, 422]

[[operations]]
include-operation-id = "post-studies-study-predict"
checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 409, 422]

[[operations]]
include-operation-id = "put-blobs-hash"
checks.positive_data_acceptance.expected-statuses = ["2xx", 422]

[[operations]]
include-operation-id = "patch-studies-study-budget"
checks.positive_data_acceptance.expected-statuses = ["2xx", 404, 409, 422]
`

// TestSchemathesis sends a server the requests that schemathesis makes from its OpenAPI document, in all
// phases: every answer is one that the document has.
func TestSchemathesis(t *testing.T) {
	testbed.System(t)
	program := schemathesis()
	if program == "" {
		testbed.Lacks(t, "schemathesis")
	}
	examples := "5"
	if os.Getenv("ASSAY_SOAK") != "" {
		examples = "100"
	}
	for seed := 1; seed <= 3; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Stream = 20 * time.Millisecond })
			cmd := exec.CommandContext(t.Context(), program, "run", r.at.URL+"/openapi.json",
				"--phases", "examples,coverage,fuzzing,stateful", "--seed", fmt.Sprint(seed), "--max-examples", examples,
				"--header", "Authorization: Bearer secret-root", "--no-color", "--generation-database", "none",
				"--request-timeout", "20", "--continue-on-failure", "--suppress-health-check", "all")
			cmd.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(cmd.Dir, "schemathesis.toml"), []byte(beyond), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, tail(string(out), 60000))
			}
			t.Log(tail(string(out), 1200))
		})
	}
}

func tail(s string, n int) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-n):]
}
