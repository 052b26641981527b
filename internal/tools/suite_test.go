package main

import (
	"strings"
	"testing"
	"time"
)

const events = `{"Action":"run","Package":"a","Test":"TestOne"}
{"Action":"output","Package":"a","Test":"TestOne","Output":"    a_test.go:7: it is wrong\n"}
{"Action":"fail","Package":"a","Test":"TestOne","Elapsed":0.1}
{"Action":"output","Package":"a","Test":"TestTwo","Output":"    a_test.go:9: missing node: no program\n"}
{"Action":"skip","Package":"a","Test":"TestTwo","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestScripts/x","Output":"    testscript.go:584: missing node:\n"}
{"Action":"skip","Package":"a","Test":"TestScripts/x","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestThree","Output":"    a_test.go:9: only in make system\n"}
{"Action":"skip","Package":"a","Test":"TestThree","Elapsed":0}
{"Action":"output","Package":"a","Output":"testbed: a process is left behind: 7 sleep\n"}
{"Action":"fail","Package":"a","Elapsed":2.5}
{"Action":"pass","Package":"b","Test":"TestOne","Elapsed":1}
{"Action":"pass","Package":"b","Elapsed":1}
`

// A report shows each failed test with its reason, and counts the skipped tests by the thing that the machine lacks.
func TestReport(t *testing.T) {
	r := newReport()
	var out strings.Builder
	r.read(strings.NewReader(events), &out)
	r.write(&out, 3*time.Second)
	const want = `    a_test.go:7: it is wrong
testbed: a process is left behind: 7 sleep
fail a 2.5s
pass b 1.0s
slow: a 2.5s
slow: b 1.0s
missing node: 2 tests skipped
2 packages in 3s
1 passed, 1 failed, 3 skipped
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A line that is no event, such as a message of the go command, is printed as it is.
func TestReportPassesOtherLinesOn(t *testing.T) {
	r := newReport()
	var out strings.Builder
	r.read(strings.NewReader("go: no such package\n"), &out)
	if out.String() != "go: no such package\n" {
		t.Errorf("got %q", out.String())
	}
}
