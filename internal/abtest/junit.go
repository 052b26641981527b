package abtest

import (
	"cmp"
	"encoding/xml"
	"io"
	"strings"
)

// The elements of a JUnit file, as CI servers read them.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Seconds float64      `xml:"time,attr"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
		Skipped *junitReason `xml:"skipped"`
		Output  string       `xml:"system-out,omitempty"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as a JUnit file with a test case for each comparison: one that fails the
// gate is a failure, an undecided one is skipped, with the reason. If failed is not nil, it ended the
// runs and is an error of a case of its own.
func (r Report) WriteJUnit(w io.Writer, failed error) error {
	suite := junitSuite{Name: "assay compare"}
	took := map[string]float64{}
	for _, c := range r.Comparisons {
		class := "assay." + cmp.Or(c.Benchmark, "compare")
		// The duels of one benchmark share its rounds.
		x := junitCase{Class: class, Name: c.title(), Seconds: max(0, c.Seconds-took[class])}
		took[class] = max(took[class], c.Seconds)
		var text strings.Builder
		if err := NewReport([]Result{c}).Write(&text); err != nil {
			return err
		}
		switch c.Outcome {
		case Failed:
			x.Failure = &junitReason{c.gate() + ": " + c.signedText(), text.String()}
			suite.Failures++
		case Unknown:
			x.Skipped = &junitReason{Message: strings.Join(append([]string{c.gate()}, c.Advice...), "; ")}
			x.Output = text.String()
			suite.Skipped++
		default:
			x.Output = text.String()
		}
		suite.Cases = append(suite.Cases, x)
	}
	if failed != nil {
		suite.Cases = append(suite.Cases, junitCase{
			Class: "assay.compare", Name: "runs", Error: &junitReason{Message: failed.Error()},
		})
		suite.Errors++
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{
		Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped, Suite: suite,
	}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
