package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// Slurm is the [System] of the commands sbatch, squeue, sacct, scancel and scontrol.
type Slurm struct {
	user string
	env  []string
}

var _ System = (*Slurm)(nil)

// NewSlurm returns Slurm, or an error of the class usage if its commands are not on PATH.
func NewSlurm() (*Slurm, error) {
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "there is no Slurm here: no %s on PATH", name),
				"run it on a login node of the cluster, or load the module that has Slurm's commands")
		}
	}
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	return &Slurm{user: u.Username, env: slurmEnv(os.Environ())}, nil
}

// slurmEnv returns an environment in which no variable changes the behaviour or output of Slurm's commands.
func slurmEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		for _, p := range []string{"SQUEUE_", "SACCT_", "SBATCH_", "SCANCEL_", "SCONTROL_", "SLURM_TIME_FORMAT="} {
			if strings.HasPrefix(v, p) {
				return true
			}
		}
		return false
	})
}

// call runs a command and returns its output. The error has the last line of the command's error output.
func (s *Slurm) call(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = s.env
	cmd.WaitDelay = time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", assay.Errorf(assay.ClassUnavailable, "%s does not end", name)
	}
	if err != nil {
		if lines := assay.LastLines(complaint.Bytes(), 1); len(lines) > 0 {
			err = errors.New(strings.TrimPrefix(strings.TrimPrefix(lines[0], name+": "), "error: "))
		}
		return out.String(), assay.Errorf(assay.ClassUnavailable, "%s: %w", name, err)
	}
	return out.String(), nil
}

// Submit implements [System].
func (s *Slurm) Submit(ctx context.Context, r Request) (string, error) {
	out, err := s.call(ctx, "sbatch", sbatch(r)...)
	if err != nil {
		return "", submitError(err)
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // of a federation, the cluster follows
	if _, e := strconv.ParseInt(id, 10, 64); e != nil {
		return "", assay.Errorf(assay.ClassUnavailable, "sbatch printed %q in place of a number", strings.TrimSpace(out))
	}
	return id, nil
}

// sbatch returns the arguments of sbatch. The user's options follow ours, except those that identify the job.
func sbatch(r Request) []string {
	args := []string{"--parsable", "--no-requeue", "--export=ALL", "--open-mode=append"}
	add := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			add(name, strconv.Itoa(n))
		}
	}
	add("partition", r.Partition)
	add("account", r.Account)
	number("nodes", r.Nodes)
	number("cpus-per-task", r.CPUs)
	if r.MemoryB > 0 {
		add("mem", fmt.Sprintf("%.0fK", math.Ceil(r.MemoryB/1024)))
	}
	if r.GPUs > 0 {
		add("gres", "gpu:"+strconv.Itoa(r.GPUs))
	}
	if r.Walltime > 0 {
		number("time", int(math.Ceil(r.Walltime.Minutes())))
	}
	args = append(args, r.Extra...)
	literal := strings.NewReplacer("%", "%%")
	return append(args, "--job-name="+r.Name, "--chdir="+r.Dir, "--output="+literal.Replace(r.Output), r.Script)
}

// refusals are parts of sbatch's messages for a job that it will never accept, and full for when it accepts no more
// jobs.
var (
	refusals = []string{
		"invalid partition", "invalid account", "invalid qos", "invalid feature", "invalid constraint", "invalid generic",
		"invalid time limit", "requested node configuration is not available", "requested time limit is invalid",
		"requested partition configuration not available", "user's group not permitted", "access/permission denied",
		"memory specification can not be satisfied", "node count specification invalid", "more processors requested",
		"unrecognized option", "unknown option", "invalid option", "unable to open file", "invalid --", "invalid argument",
		"job violates accounting/qos policy (job submit limit, user's size and/or time limits)", "unknown user",
		"invalid user",
		"task count specification invalid", "invalid numeric value", "invalid trackable resource", "invalid gres",
	}
	full = []string{
		"maxsubmit", "job submit limit", "maximum number of jobs", "job limit", "temporarily unable to accept job",
	}
)

// submitError returns the error of a submission in the terms of a [System]. An unknown message has an unknown outcome.
func submitError(err error) error {
	text := strings.ToLower(err.Error())
	in := func(all []string) bool {
		return slices.ContainsFunc(all, func(p string) bool { return strings.Contains(text, p) })
	}
	switch {
	case in(full) && !strings.Contains(text, "size and/or time limits"):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case in(refusals):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// squeueFormat has the queried fields of each job.
const squeueFormat = "%i|%j|%T|%r"

// Poll implements [System].
func (s *Slurm) Poll(ctx context.Context) ([]Job, error) {
	out, err := s.call(ctx, "squeue", "--noheader", "--user="+s.user, "--states=all", "--format="+squeueFormat)
	if err != nil {
		return nil, err
	}
	return parseJobs("squeue", out)
}

// parseJobs reads lines of ID|NAME|STATE|REASON, and returns our jobs. An answer with an invalid line and no
// valid one is unreadable.
func parseJobs(command, out string) (jobs []Job, err error) {
	lines, good := 0, 0
	for line := range strings.Lines(out) {
		if line = strings.TrimRight(line, "\r\n "); line == "" {
			continue
		}
		lines++
		f := strings.Split(line, "|")
		if len(f) < 3 || f[0] == "" || f[0][0] < '0' || f[0][0] > '9' {
			continue
		}
		good++
		if !strings.HasPrefix(f[1], Prefix) || len(f) > 4 {
			continue // another user's job, whose name may contain anything
		}
		said, _, _ := strings.Cut(f[2], " ") // CANCELLED by 1000
		j := Job{ID: f[0], Name: f[1], State: slurmState(said), Said: said}
		if len(f) > 3 {
			j.Reason = f[3]
		}
		jobs = append(jobs, j)
	}
	if lines > 0 && good == 0 {
		return nil, assay.Errorf(assay.ClassUnavailable, "output of %s is unreadable: %q", command,
			assay.LastLines([]byte(out), 1))
	}
	return jobs, nil
}

// slurmState returns the meaning of a state of Slurm. An unknown state means waiting.
func slurmState(said string) State {
	switch said {
	case "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return Waiting
	case "RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING":
		return Going
	case "COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "CANCELLED", "BOOT_FAIL", "DEADLINE",
		"REVOKED":
		return Over
	}
	return Unsure
}

// Find implements [System]. For a job that the controller has lost, the accounting reports PENDING or RUNNING for ever,
// so that such a report is not proof: it is one answer of several.
func (s *Slurm) Find(ctx context.Context, names ...string) ([]Job, error) {
	if _, err := exec.LookPath("sacct"); err != nil {
		return nil, nil
	}
	out, err := s.call(ctx, "sacct", "--noheader", "--parsable2", "--allocations", "--user="+s.user,
		"--name="+strings.Join(names, ","),
		"--starttime=now-30days", "--format=JobIDRaw,JobName,State")
	if err != nil && strings.Contains(err.Error(), "accounting storage is disabled") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseJobs("sacct", out)
}

// fewJobs is the number of jobs that are cancelled by name: the number of one of our jobs may be another's by now.
const fewJobs = 8

// Cancel implements [System].
func (s *Slurm) Cancel(ctx context.Context, jobs ...Job) error {
	if len(jobs) <= fewJobs {
		for _, j := range jobs {
			if _, err := s.call(ctx, "scancel", "--quiet", "--user="+s.user, "--name="+j.Name); err != nil {
				return err
			}
		}
		return nil
	}
	args := []string{"--quiet", "--user=" + s.user}
	for _, j := range jobs {
		if j.ID != "" {
			args = append(args, j.ID)
		} else if _, err := s.call(ctx, "scancel", "--quiet", "--user="+s.user, "--name="+j.Name); err != nil {
			return err
		}
	}
	if len(args) == 2 { // it would end all of them
		return nil
	}
	_, err := s.call(ctx, "scancel", args...)
	return err
}

// Lower implements [System].
func (s *Slurm) Lower(ctx context.Context, to time.Duration, jobs ...Job) (int, error) {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	_, err := s.call(ctx, "scontrol", "update", "JobId="+strings.Join(ids, ","),
		fmt.Sprintf("TimeLimit=%d", int(math.Ceil(to.Minutes()))))
	if err != nil {
		return 0, err
	}
	return len(jobs), nil
}
