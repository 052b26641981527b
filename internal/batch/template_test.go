package batch_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/spec"
)

// stand puts a stand-in for a command into a directory of PATH: it writes down its arguments, one a line, and prints
// the file NAME.says; if NAME.fails exists, it prints that to stderr and fails.
func stand(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		text := "#!/bin/sh\ncd '" + dir +
			"'\n{ echo \"== $(basename \"$0\")\"; for a in \"$@\"; do printf '%s\\n' \"$a\"; done; } >>calls\n" +
			"n=$(basename \"$0\")\n[ ! -e \"$n.fails\" ] || { cat \"$n.fails\" >&2; exit 1; }\n[ ! -e \"$n.says\" ] || cat " +
			"\"$n.says\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func says(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The files of examples/batch ask for all that a job asks for, and read the output in the systems' manuals.
func TestTemplates(t *testing.T) {
	testbed.Outside(t)
	const mine, other = "assay-1f-3-0-1", "somebody"
	for _, c := range []struct {
		file, commands              string
		printed, id                 string   // by the command that submits
		asked                       []string // lines in a row of its arguments
		submit, refused, full       string   // its name, and what it complains about
		list, listed                string
		want                        []batch.Job
		cancel, cancelled, finished string
	}{
		{
			"pbs.yaml", "qsub qstat qdel qalter", "1234.pbs01\n", "1234.pbs01",
			[]string{
				"-N\n" + mine, "-l\nncpus=4", "-l\nmem=2048mb", "-l\nwalltime=01:02:00", "-q\nshort", "-A\nproj",
				"--x=a b\n/s p/script",
			},
			"qsub", "qsub: Unknown queue\n", "qsub: would exceed queue generic's per-user limit\n",
			"qstat", "Job Id: 1234.pbs01\n    Job_Name = " + mine +
				"\n    Job_Owner = u@h\n    job_state = R\n    queue = q\n\n" +
				"Job Id: 1235.pbs01\n    Job_Name = " + other + "\n    job_state = Q\n\n" +
				"Job Id: 1236.pbs01\n    Job_Name = assay-1f-4-0-1\n    resources_used.mem = 1kb\n    job_state = F\n",
			[]batch.Job{
				{ID: "1234.pbs01", Name: mine, State: batch.Going, Said: "R"},
				{ID: "1236.pbs01", Name: "assay-1f-4-0-1", State: batch.Over, Said: "F"},
			},
			"qdel", "1234.pbs01\n", "qdel: Unknown Job Id 1234.pbs01\n",
		},
		{
			"lsf.yaml", "bsub bjobs bkill", "Job <77> is submitted to queue <short>.\n", "77",
			[]string{"-J\n" + mine, "-n\n4", "-M\n2048M", "-W\n62", "-q\nshort", "-P\nproj", "--x=a b\nsh\n/s p/script"},
			"bsub", "foo: No such queue. Job not submitted.\n", "Pending job threshold reached. Retrying in 60 seconds...\n",
			"bjobs", "77         " + mine + "      PEND\n78         " + other +
				"   RUN\n79    assay-1f-4-0-1    EXIT\n80    assay-1f-5-0-1    UNKWN\n",
			[]batch.Job{
				{ID: "77", Name: mine, State: batch.Waiting, Said: "PEND"},
				{ID: "79", Name: "assay-1f-4-0-1", State: batch.Over, Said: "EXIT"},
				{ID: "80", Name: "assay-1f-5-0-1", State: batch.Unsure, Said: "UNKWN"},
			},
			"bkill", mine + "\n0\n", "No matching job found\n",
		},
		{
			"htcondor.yaml", "condor_submit condor_q condor_history condor_rm", "42.0 - 42.0\n", "42.0",
			[]string{
				"executable = /s p/script", "+AssayName = \"" + mine + "\"", "request_cpus = 4", "request_memory = 2048",
				"accounting_group = proj",
			},
			"condor_submit", "ERROR: 'x' is not a valid job requirement\n",
			"ERROR: Number of submitted jobs would exceed MAX_JOBS_SUBMITTED\n",
			"condor_q", "42 " + mine + " 2\n43 undefined 1\n44 assay-1f-4-0-1 4\n",
			[]batch.Job{
				{ID: "42", Name: mine, State: batch.Going, Said: "2"},
				{ID: "44", Name: "assay-1f-4-0-1", State: batch.Over, Said: "4"},
			},
			"condor_rm", "AssayName == \"" + mine + "\"\n", "Couldn't find/remove all jobs matching constraint\n",
		},
		{
			"hyperqueue.yaml", "hq", "17\n", "17",
			[]string{
				"--name\n" + mine, "--cpus\n4", "--resource\nmem=2048", "--time-limit\n3720s",
				"--x=a b\n--\nsh\n/s p/script",
			},
			"hq", "error: unexpected argument '--x' found\n", "",
			"hq", "+----+---+---+---+\n| ID | Name | State | Tasks |\n+----+----\n| 17 | " + mine + " | RUNNING | 1 |\n| 18 | " +
				other + " | WAITING | 1 |\n",
			[]batch.Job{{ID: "17", Name: mine, State: batch.Going, Said: "RUNNING"}},
			"hq", "cancel\n17\n", "Job 17 not found\n",
		},
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			stand(t, dir, strings.Fields(c.commands)...)
			file, err := spec.LoadSystem("../../examples/batch/" + c.file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := batch.NewTemplate(file)
			if err != nil {
				t.Fatal(err)
			}
			r := batch.Request{
				Name: mine, Script: "/s p/script", Output: "/s p/job.out", Dir: "/s p", Walltime: 62 * time.Minute, CPUs: 4,
				MemoryB: 2 << 30, Account: "proj", Extra: []string{"--x=a b"},
			}
			if c.file == "hyperqueue.yaml" {
				r.Account = ""
			} else if c.file != "htcondor.yaml" {
				r.Partition = "short"
			}
			says(t, dir, c.submit+".says", c.printed)
			if id, err := s.Submit(t.Context(), r); id != c.id || err != nil {
				t.Errorf("submitted as %q, %v", id, err)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			for _, want := range c.asked {
				if !strings.Contains(string(calls), "\n"+want+"\n") {
					t.Errorf("it does not ask %q, but:\n%s", want, calls)
				}
			}
			for text, kind := range map[string]error{
				c.refused: batch.ErrRefused, c.full: batch.ErrFull,
				"Connection timed out\n": nil,
			} {
				says(t, dir, c.submit+".fails", text)
				_, err := s.Submit(t.Context(), r)
				if text != "" && (err == nil || errors.Is(err, batch.ErrRefused) != (kind == batch.ErrRefused) ||
					errors.Is(err, batch.ErrFull) != (kind == batch.ErrFull)) {
					t.Errorf("%q: %v", text, err)
				}
			}
			if err := os.Remove(filepath.Join(dir, c.submit+".fails")); err != nil {
				t.Fatal(err)
			}
			says(t, dir, c.submit+".says", "what is this?\n")
			if id, err := s.Submit(t.Context(), r); err == nil || errors.Is(err, batch.ErrRefused) {
				t.Errorf("an answer that cannot be read is %q, %v", id, err)
			}
			says(t, dir, c.list+".says", c.listed)
			if jobs, err := s.Poll(t.Context()); err != nil || !slices.Equal(jobs, c.want) {
				t.Errorf("%+v, %v", jobs, err)
			}
			says(t, dir, c.list+".says", "garbage\n")
			if jobs, err := s.Poll(t.Context()); err == nil {
				t.Errorf("garbage is %v", jobs)
			}
			says(t, dir, c.list+".says", "")
			if jobs, err := s.Poll(t.Context()); err != nil || len(jobs) > 0 {
				t.Errorf("nothing is %v, %v", jobs, err)
			}
			says(t, dir, c.list+".fails", "cannot connect\n")
			if jobs, err := s.Poll(t.Context()); err == nil {
				t.Errorf("a server that is away has %v", jobs)
			}
			if err := os.Remove(filepath.Join(dir, c.list+".fails")); err != nil {
				t.Fatal(err)
			}
			if err := s.Cancel(t.Context(), c.want[0]); err != nil {
				t.Error(err)
			}
			if calls, _ = os.ReadFile(filepath.Join(dir, "calls")); !strings.HasSuffix(string(calls), "\n"+c.cancelled) {
				t.Errorf("cancels by\n%s", calls)
			}
			says(t, dir, c.cancel+".fails", c.finished)
			if err := s.Cancel(t.Context(), c.want[0]); err != nil {
				t.Errorf("what is gone: %v", err)
			}
			says(t, dir, c.cancel+".fails", "cannot connect\n")
			if err := s.Cancel(t.Context(), c.want[0]); err == nil {
				t.Error("a server that is away cancels")
			}
		})
	}
}

// A path that a batch system might change is refused before anything is submitted.
func TestTemplatePaths(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	stand(t, dir, "qsub", "qstat", "qdel", "qalter")
	file, err := spec.LoadSystem("../../examples/batch/pbs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := batch.NewTemplate(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/s/$x/script", "/s/%J/script", "/s/a\nb/script", `/s/a"b/script`} {
		if _, err := s.Submit(t.Context(),
			batch.Request{Name: "assay-1", Script: path, Output: "/s/o", Dir: "/s"}); !errors.Is(err, batch.ErrRefused) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "calls")); err == nil {
		t.Error("something was called")
	}
	if err := s.Asks("cpus", "gpus"); err != nil {
		t.Error(err)
	}
	file.Submit.Options = nil
	if err := s.Asks("cpus"); err == nil || !strings.Contains(err.Error(), "pbs.yaml has no option for it") {
		t.Errorf("%v", err)
	}
}
