package planning

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workflow/request"
)

var update = flag.Bool("update", false, "write the files of testdata")

// planOf returns the plan of requests for two small executions: align depends on its input, sort does not.
func planOf(t *testing.T, format string) (RequestFormat, *RequestPlan) {
	t.Helper()
	f, _, err := ParseRequestFormat(format)
	if err != nil {
		t.Fatal(err)
	}
	given := Given{}
	for run := range 4 {
		var b strings.Builder
		b.WriteString("id,kind,run_s,in_B,memory_B,ask_memory_B,ask_time_s\n")
		for i := range 30 {
			in := int64(1+(i+run)%30) * 100_000_000
			fmt.Fprintf(&b, "a%d,align,%d,%d,%d,16000000000,86400\n", i, 60+20*(i%30), in, 500_000_000+3*in+int64(i%5)*1e6)
			fmt.Fprintf(&b, "s%d,sort,%d,%d,%d,8000000000,86400\n", i, 30+i%7, in, 900_000_000+int64(i*37%11)*1e7)
		}
		given[fmt.Sprintf("runs/%d.csv", run)] = []byte(b.String())
	}
	p, err := MakeRequests(given, []string{"runs"}, f, RequestOptions{Failures: 0.02, Assume: "8GB"})
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

// TestWrittenFormats compares the output with files that were looked at.
func TestWrittenFormats(t *testing.T) {
	for _, f := range RequestFormats() {
		_, p := planOf(t, f.Name)
		var got bytes.Buffer
		if err := f.Write(&got, p); err != nil {
			t.Fatal(err)
		}
		golden(t, f.Name, got.Bytes())
		if !bytes.Contains(got.Bytes()[:200], []byte(Mark)) {
			t.Errorf("%s: no mark in its first lines", f.Name)
		}
	}
	_, p := planOf(t, "sbatch")
	var text, js bytes.Buffer
	if err := p.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "text", text.Bytes())
	if err := p.WriteJSON(&js); err != nil {
		t.Fatal(err)
	}
	var back RequestPlan
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || len(back.Kinds) != 2 || back.LeftOut.Tasks != 240 {
		t.Errorf("%v: %+v", err, back)
	}
	if back.Now.Wasted < 3*back.LeftOut.Wasted || back.LeftOut.FailedShare() > 0.02 {
		t.Errorf("now %+v, left out %+v", back.Now, *back.LeftOut)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// hostile are names of kinds that try to be code in one format or another.
var hostile = []string{
	"a'b", `a"b`, `a\b`, "a$(touch pwned)b", "a`touch pwned`b", "a${1+1}b", "a\nb: c", "*", "a|b", "!a", "a.b", "a b",
	"'; touch pwned; '",
	"') touch pwned ;; (x", "a*/b", "#", "-", "α", "a\tb", `\u000a`, "__import__('os').system('touch pwned')", "a:b=c",
}

// hostilePlan asks for something for each of the hostile names, and for one that is not.
func hostilePlan() *RequestPlan {
	p := &RequestPlan{Executions: 1}
	for i, name := range append([]string{"plain"}, hostile...) {
		p.Kinds = append(p.Kinds, request.Kind{
			Name: name, Tasks: 1,
			Memory: request.Choice{Rule: request.Constant(float64(100+i) * (1 << 20)), Peak: 1},
			Time:   request.Choice{Rule: request.Constant(600), Peak: 1},
		})
	}
	return p
}

// written writes a plan in a format into a new folder.
func written(t *testing.T, name string, p *RequestPlan) (dir, file string) {
	t.Helper()
	f, _, err := ParseRequestFormat(name)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	file = filepath.Join(dir, name)
	if f.File != "" {
		if err := os.Mkdir(file, 0o755); err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(file, f.File)
	}
	var b bytes.Buffer
	if err := f.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func notPwned(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a name was run")
	}
}

// TestSbatchScript runs the script by the shell: every name gets its own request, and none is run.
func TestSbatchScript(t *testing.T) {
	testbed.Outside(t)
	p := hostilePlan()
	dir, file := written(t, "sbatch", p)
	ask := func(args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{file}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for i, k := range p.Kinds {
		got, err := ask("ask", k.Name, "2")
		if want := fmt.Sprintf("--mem=%dM\n--time=20\n", 2*(100+i)); err != nil || got != want {
			t.Errorf("%q: %q %v, want %q", k.Name, got, err, want)
		}
	}
	for _, bad := range [][]string{
		{"ask", "anything", "1"},
		{"ask", "plain", "x"},
		{"ask"},
		{},
		{"submit", "plain", "job"},
	} {
		if got, err := ask(bad...); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
	notPwned(t, dir)

	// By the size of the input: a rule of 10 MiB and 2 bytes a byte, between 20 and 40 MiB.
	p.Kinds[0].Memory.Rule = request.Rule{Base: 10 << 20, PerByte: 2, Low: 20 << 20, High: 40 << 20}
	dir, file = written(t, "sbatch", p)
	for size, want := range map[int]string{0: "--mem=20M", 10 << 20: "--mem=31M", 100 << 20: "--mem=40M"} {
		in := filepath.Join(dir, "the input")
		if err := os.WriteFile(in, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(in, int64(size)); err != nil {
			t.Fatal(err)
		}
		if got, err := ask("ask", "plain", "1", in); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%d bytes: %q %v, want %s", size, got, err, want)
		}
	}
}

// TestSbatchSubmitTriesAgain: a job that had too little memory is submitted with twice as much, one that
// failed by itself is not. sbatch and scontrol are fakes.
func TestSbatchSubmitTriesAgain(t *testing.T) {
	testbed.Outside(t)
	dir, file := written(t, "sbatch", hostilePlan())
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	fake := func(name, script string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fake("sbatch", `echo "$@" >>asked; echo "7;cluster"; case " $* " in *" --mem=400M "*) exit 0 ;; esac; exit 9`)
	for state, want := range map[string]struct {
		asked string
		code  int
	}{
		"OUT_OF_MEMORY": {"100M 10,200M 20,400M 40", 0},
		"TIMEOUT":       {"100M 10,200M 20,400M 40", 0},

		"FAILED Reason=JobLaunchFailure ExitCode=0:9":  {"100M 10,200M 20,400M 40", 0},
		"FAILED Reason=NonZeroExitCode ExitCode=137:0": {"100M 10,200M 20,400M 40", 0},
		"FAILED Reason=NonZeroExitCode ExitCode=9:0":   {"100M 10", 9},
		"CANCELLED Reason=None ExitCode=0:9":           {"100M 10", 9},
	} {
		fake("scontrol", `[ "$*" = "show job -o 7" ] && echo "JobId=7 JobName=x JobState=`+state+` UserId=u"`)
		os.Remove(filepath.Join(dir, "asked"))
		cmd := exec.Command("sh", file, "submit", "plain", "--", "job.sh", "two words")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want.code {
			t.Errorf("%s: exit %d: %s %v", state, code, out, err)
		}
		asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
		var got []string
		for l := range strings.Lines(string(asked)) {
			f := strings.Fields(l) // --parsable --wait --mem=… --time=… job.sh two words
			if len(f) != 7 || f[4] != "job.sh" {
				t.Fatalf("%s: sbatch %q", state, l)
			}
			got = append(got, strings.TrimPrefix(f[2], "--mem=")+" "+strings.TrimPrefix(f[3], "--time="))
		}
		if strings.Join(got, ",") != want.asked {
			t.Errorf("%s: asked %q, want %q", state, got, want.asked)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for _, bad := range []string{"", "nextflow", "sbatch=", "=x", "sbatch =x"} {
		if _, _, err := ParseRequestFormat(bad); err == nil {
			t.Errorf("%q is a format", bad)
		}
	}
	if f, file, err := ParseRequestFormat("sbatch=a=b"); err != nil || f.Name != "sbatch" || file != "a=b" {
		t.Errorf("%v %q %v", f.Name, file, err)
	}
}
