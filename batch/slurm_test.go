package batch

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// What squeue and sacct print is read; of other people's jobs, whatever their names are, nothing is. An answer without a
// single job in it that is not empty is unreadable.
func TestParseJobs(t *testing.T) {
	out := "7|assay-1f-3-0-1|PENDING|Resources\n8|a|b|c|d|RUNNING|x\n9|assay-1f-4-0-1|CANCELLED by 1000\n" +
		"10_2|assay-1f-5-0-1|STRANGE|None\n\n"
	jobs, err := parseJobs("squeue", out)
	want := []Job{
		{"7", "assay-1f-3-0-1", Waiting, "PENDING", "Resources"},
		{"9", "assay-1f-4-0-1", Over, "CANCELLED", ""},
		{"10_2", "assay-1f-5-0-1", Unsure, "STRANGE", "None"},
	}
	if err != nil || !slices.Equal(jobs, want) {
		t.Errorf("%v, %v", jobs, err)
	}
	if jobs, err := parseJobs("squeue", ""); err != nil || jobs != nil {
		t.Errorf("nothing: %v, %v", jobs, err)
	}
	if _, err := parseJobs("squeue", "slurm_load_jobs error: what\n"); err == nil {
		t.Error("garbage is an answer")
	}
}

// What sbatch says tells what will never be taken, what is not taken now, and what may have been taken.
func TestSubmitError(t *testing.T) {
	for text, want := range map[string]error{
		"Batch job submission failed: Invalid partition name specified":                     ErrRefused,
		"Batch job submission failed: Requested node configuration is not available":        ErrRefused,
		"Batch job submission failed: Invalid account or account/partition combination":     ErrRefused,
		"Batch job submission failed: QOSMaxSubmitJobPerUserLimit":                          ErrFull,
		"Batch job submission failed: Slurm temporarily unable to accept job, sleeping":     ErrFull,
		"Batch job submission failed: Socket timed out on send/recv operation":              nil,
		"Batch job submission failed: Unable to contact slurm controller (connect failure)": nil,
	} {
		err := submitError(errors.New(text))
		for _, kind := range []error{ErrRefused, ErrFull} {
			if errors.Is(err, kind) != (kind == want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// What a job is known by comes after all that the user adds, and a path is no pattern.
func TestSbatch(t *testing.T) {
	args := sbatch(Request{
		Name: "assay-1", Script: "/s/script", Output: "/s/50%/job.out", Dir: "/s", Walltime: 90 * time.Second, CPUs: 4,
		MemoryB: 1 << 30, GPUs: 2, Partition: "short", Extra: []string{"--job-name=mine"},
	})
	text := strings.Join(args, " ")
	for _, want := range []string{
		"--time=2 ", "--cpus-per-task=4 ", "--mem=1048576K ", "--gres=gpu:2 ", "--partition=short ", "--no-requeue ",
		"--job-name=mine --job-name=assay-1 ", "--output=/s/50%%/job.out /s/script",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if args[len(args)-1] != "/s/script" {
		t.Errorf("the script is not last: %s", text)
	}
}

// No variable of the user's changes what Slurm's commands do; others stay.
func TestSlurmEnv(t *testing.T) {
	env := slurmEnv([]string{"SQUEUE_FORMAT=x", "SACCT_FORMAT=x", "SBATCH_PARTITION=x", "SLURM_TIME_FORMAT=x", "SLURM_CONF=/c", "A=b"})
	if !slices.Equal(env, []string{"SLURM_CONF=/c", "A=b"}) {
		t.Errorf("%v", env)
	}
}
