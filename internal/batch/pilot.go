package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// A Pilot is a job of Slurm in which workers of a fleet live: one job for many short runs.
type Pilot struct {
	Nodes int           // as many workers, one on each; 0 leaves it to Extra
	Time  time.Duration // lifetime, in whole minutes; 0 is the partition's default
	Dir   string        // an absolute path, of the script and its output
	Argv  []string      // the command in the script, which begins the workers of an allocation
	Extra []string      // further arguments of sbatch
}

// PilotName is the name of jobs of workers. No [Runner] takes one for its own.
const PilotName = Prefix + "workers"

// SubmitPilot submits a job of workers and returns its number, and the file that has its output.
func (s *Slurm) SubmitPilot(ctx context.Context, p Pilot) (id, output string, err error) {
	if !filepath.IsAbs(p.Dir) || strings.ContainsAny(p.Dir, "\n\x00") {
		return "", "", assay.Errorf(assay.ClassUsage, "%q is no path that a job could find", p.Dir)
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return "", "", err
	}
	script, err := os.CreateTemp(p.Dir, "workers-*.sh")
	if err != nil {
		return "", "", err
	}
	_, err = script.WriteString("#!/bin/sh\nexec" + quoted(p.Argv) + "\n")
	if err = errors.Join(err, script.Chmod(0o700), script.Close()); err != nil {
		return "", "", err
	}
	out, err := s.call(ctx, "sbatch", p.args(script.Name())...)
	if err != nil {
		return "", "", submitError(err)
	}
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";")
	if _, e := strconv.ParseInt(id, 10, 64); e != nil {
		return "", "", assay.Errorf(assay.ClassUnavailable, "sbatch printed %q in place of a number", strings.TrimSpace(out))
	}
	return id, strings.TrimSuffix(script.Name(), ".sh") + ".out", nil
}

// args returns the arguments of sbatch. The job is not requeued: another job begins new workers after an allocation has
// ended.
func (p Pilot) args(script string) []string {
	args := []string{"--parsable", "--no-requeue", "--export=ALL", "--open-mode=append", "--job-name=" + PilotName}
	if p.Nodes > 0 {
		n := strconv.Itoa(p.Nodes)
		args = append(args, "--nodes="+n, "--ntasks="+n, "--ntasks-per-node=1")
	}
	if p.Time > 0 {
		args = append(args, "--time="+strconv.Itoa(int(Minutes(p.Time)/time.Minute)))
	}
	args = append(args, p.Extra...)
	literal := strings.NewReplacer("%", "%%")
	return append(args, "--chdir="+p.Dir, "--output="+literal.Replace(strings.TrimSuffix(script, ".sh")+".out"), script)
}

// Srun returns the command that starts a program once on each of a number of nodes of the present allocation.
//
// The end of one worker does not end the others. Slurm's steps do not inherit the number of processors of the job's
// tasks, so that it is passed again.
func Srun(nodes int, extra, argv []string) []string {
	n := strconv.Itoa(nodes)
	args := []string{"srun", "--nodes=" + n, "--ntasks=" + n, "--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0"}
	if cpus := os.Getenv("SLURM_CPUS_PER_TASK"); cpus != "" {
		args = append(args, "--cpus-per-task="+cpus)
	}
	return append(append(args, extra...), argv...)
}

// An Allocation is the Slurm allocation of the job in which this process runs.
type Allocation struct {
	Job   string // its number
	Node  string // this machine's name in Slurm; "" if unknown
	Nodes int    // how many machines it has
}

// Allocated returns the allocation in which this process is, by its environment, and whether there is one.
func Allocated() (Allocation, bool) {
	a := Allocation{Job: os.Getenv("SLURM_JOB_ID"), Node: os.Getenv("SLURMD_NODENAME"), Nodes: 1}
	for _, name := range []string{"SLURM_JOB_NUM_NODES", "SLURM_NNODES"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			a.Nodes = n
			break
		}
	}
	_, err := strconv.ParseInt(a.Job, 10, 64)
	return a, err == nil
}

// Ends returns when an allocation ends, the zero time for one without an end. Newer versions of Slurm set it in the
// environment. With others, Slurm is queried for the remaining time, so that differing clocks do no harm.
func (a Allocation) Ends(ctx context.Context) (time.Time, error) {
	if at, err := strconv.ParseInt(os.Getenv("SLURM_JOB_END_TIME"), 10, 64); err == nil && at > 0 {
		return time.Unix(at, 0), nil
	}
	s := &Slurm{env: slurmEnv(os.Environ())}
	var err error
	for wait := time.Second; ; wait *= 2 { // a controller that is busy, or has not noted the beginning of the job
		var out string
		asked := time.Now()
		if out, err = s.call(ctx, "squeue", "--noheader", "--jobs="+a.Job, "--format=%L"); err == nil {
			var left time.Duration
			var ends bool
			if left, ends, err = timeLeft(strings.TrimSpace(out)); err == nil {
				if !ends {
					return time.Time{}, nil
				}
				return asked.Add(left), nil
			}
		}
		if wait > 8*time.Second {
			return time.Time{}, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// timeLeft reads a time of Slurm, [D-][HH:]MM:SS. ends is false where there is no limit.
func timeLeft(text string) (left time.Duration, ends bool, err error) {
	if text == "UNLIMITED" {
		return 0, false, nil
	}
	bad := assay.Errorf(assay.ClassUnavailable, "squeue printed %q in place of the remaining time", text)
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	parts := strings.Split(clock, ":")
	if len(parts) > 3 || len(parts) < 2 {
		return 0, false, bad
	}
	total, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, false, bad
	}
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return 0, false, bad
		}
		total = total*[]uint64{24, 60, 60}[i] + n
	}
	return time.Duration(total) * time.Second, true, nil
}

// quoted returns words for sh, each after a space.
func quoted(argv []string) string {
	var b strings.Builder
	for _, arg := range argv {
		b.WriteString(" '" + strings.ReplaceAll(arg, "'", `'\''`) + "'")
	}
	return b.String()
}
