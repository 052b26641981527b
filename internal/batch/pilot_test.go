package batch

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// squeue's time left is read in all its forms; a text that is no time is an error, not no limit.
func TestTimeLeft(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0:05": 5 * time.Second, "12:34": 12*time.Minute + 34*time.Second,
		"1:02:03":    time.Hour + 2*time.Minute + 3*time.Second,
		"2-03:04:05": 51*time.Hour + 4*time.Minute + 5*time.Second, "0:00": 0,
	} {
		if left, ends, err := timeLeft(text); left != want || !ends || err != nil {
			t.Errorf("%s: %v, %v, %v", text, left, ends, err)
		}
	}
	if left, ends, err := timeLeft("UNLIMITED"); left != 0 || ends || err != nil {
		t.Errorf("without a limit: %v, %v, %v", left, ends, err)
	}
	for _, text := range []string{"", "INVALID", "NOT_SET", "5", "1:2:3:4", "-1:00", "1-2", "1-:00", "x:00"} {
		if left, _, err := timeLeft(text); err == nil {
			t.Errorf("%q is %v", text, left)
		}
	}
}

// The environment of a job has its place, and an ID that is no number is no job.
func TestAllocated(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "")
	if a, is := Allocated(); is {
		t.Errorf("%+v outside of Slurm", a)
	}
	t.Setenv("SLURM_JOB_ID", "42")
	t.Setenv("SLURMD_NODENAME", "n7")
	t.Setenv("SLURM_JOB_NUM_NODES", "3")
	if a, is := Allocated(); !is || a != (Allocation{"42", "n7", 3}) {
		t.Errorf("%+v, %v", a, is)
	}
	t.Setenv("SLURM_JOB_END_TIME", "1800000000")
	if end, err := (Allocation{Job: "42"}).Ends(t.Context()); err != nil || end.Unix() != 1800000000 {
		t.Errorf("ends %v, %v", end, err)
	}
}

// A job of workers asks for one of them on each node, and the user's options come after that.
func TestPilotArgs(t *testing.T) {
	args := Pilot{Nodes: 3, Time: 90 * time.Second, Dir: "/s/50%", Extra: []string{"--time=9"}}.args("/s/50%/workers-1.sh")
	text := strings.Join(args, " ")
	for _, want := range []string{
		"--nodes=3 --ntasks=3 --ntasks-per-node=1 --time=2 --time=9 ", "--output=/s/50%%/workers-1.out /s/50%/workers-1.sh",
		"--no-requeue ", "--job-name=assay-workers ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	t.Setenv("SLURM_CPUS_PER_TASK", "8")
	srun := Srun(2, []string{"--overlap"}, []string{"assay", "worker"})
	if !slices.Equal(srun, []string{
		"srun", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0", "--cpus-per-task=8",
		"--overlap", "assay", "worker",
	}) {
		t.Errorf("%q", srun)
	}
	if got := quoted([]string{"a b", "it's"}); got != ` 'a b' 'it'\''s'` {
		t.Errorf("%s", got)
	}
}
