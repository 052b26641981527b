package testbed

// This file is a stand-in for the commands of Slurm, for tests: sbatch, squeue, sacct, scancel, scontrol and
// srun, as one function each, whose state is a directory, $FAKESLURM. Jobs are processes of this machine.
//
// A test makes it fail by files in that directory:
//
//	down        no command reaches the controller
//	full, refuse   sbatch takes no more, or reports an unknown partition
//	unsure      sbatch submits and returns an error
//	empty, garbage   the output of squeue
//	lie         the state that squeue and sacct report for every job that has ended
//	hidden      jobs are forgotten once they have ended
//	hold        jobs wait
//	short       how long jobs have in truth, such as 20s
//	old         a Slurm that does not give a job its end time
//	broken      jobs fail without starting their script
//	calls       is written: a line for each command that was called

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Commands returns the commands by their names; testscript.Main takes them.
func Commands() map[string]func() {
	all := map[string]func(dir string, args []string) int{
		"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel, "scontrol": scontrol, "srun": srun,
		"fakeslurmd": fakeslurmd,
	}
	out := map[string]func(){}
	for name, f := range all {
		out[name] = func() {
			dir := os.Getenv("FAKESLURM")
			if dir == "" {
				fmt.Fprintln(os.Stderr, name+": FAKESLURM is not set")
				os.Exit(2)
			}
			if name != "fakeslurmd" {
				logCall(dir, name, os.Args[1:])
				if there(dir, "down") {
					fmt.Fprintln(os.Stderr, name+": error: Unable to contact slurm controller (connect failure)")
					os.Exit(1)
				}
			}
			os.Exit(f(dir, os.Args[1:]))
		}
	}
	return out
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func logCall(dir, name string, args []string) {
	f, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, name, strings.Join(args, " "))
}

// value returns the value of --NAME=VALUE, "" if it is not there.
func value(args []string, name string) (v string) {
	for _, a := range args {
		if x, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			v = x
		}
	}
	return v
}

// A job is a directory DIR/jobs/ID with the files name, state, limit and pid.
func job(dir string, id int) string { return filepath.Join(dir, "jobs", strconv.Itoa(id)) }

func get(at, name string) string {
	b, _ := os.ReadFile(filepath.Join(at, name))
	return strings.TrimSpace(string(b))
}

func set(at, name, text string) {
	tmp := filepath.Join(at, "."+name)
	if os.WriteFile(tmp, []byte(text+"\n"), 0o600) == nil {
		_ = os.Rename(tmp, filepath.Join(at, name))
	}
}

// ids returns the numbers of all jobs.
func ids(dir string) (all []int) {
	entries, _ := os.ReadDir(filepath.Join(dir, "jobs"))
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

func sbatch(dir string, args []string) int {
	switch {
	case there(dir, "refuse"):
		fmt.Fprintln(os.Stderr, "sbatch: error: invalid partition specified: "+value(args, "partition")+
			"\nsbatch: error: Batch job submission failed: Invalid partition name specified")
		return 1
	case there(dir, "full"):
		fmt.Fprintln(os.Stderr, "sbatch: error: Batch job submission failed: QOSMaxSubmitJobPerUserLimit")
		return 1
	}
	id := 1
	for {
		err := os.MkdirAll(filepath.Join(dir, "jobs"), 0o700)
		if err == nil {
			err = os.Mkdir(job(dir, id), 0o700)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		id++
	}
	at := job(dir, id)
	set(at, "name", value(args, "job-name"))
	set(at, "limit", value(args, "time"))
	set(at, "args", strings.Join(args, "\n"))
	set(at, "script", args[len(args)-1])
	set(at, "output", strings.ReplaceAll(value(args, "output"), "%%", "%"))
	set(at, "state", "PENDING")
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	daemon := &exec.Cmd{
		Path: self, Args: []string{"fakeslurmd", strconv.Itoa(id)}, Dir: value(args, "chdir"),
		Env: os.Environ(),
	}
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := daemon.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if there(dir, "unsure") {
		fmt.Fprintln(os.Stderr, "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
		return 1
	}
	fmt.Println(id)
	return 0
}

// fakeslurmd is the life of one job.
func fakeslurmd(dir string, args []string) int {
	id, _ := strconv.Atoi(args[0])
	at := job(dir, id)
	for there(dir, "hold") && !there(at, "cancel") && there(dir, "jobs") {
		time.Sleep(20 * time.Millisecond)
	}
	if there(at, "cancel") {
		set(at, "state", "CANCELLED")
		return 0
	}
	if there(dir, "broken") {
		set(at, "state", "FAILED")
		return 0
	}
	out, err := os.OpenFile(get(at, "output"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		set(at, "state", "FAILED")
		return 0
	}
	cmd := exec.Command("sh", get(at, "script"))
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), "SLURM_JOB_ID="+args[0], "SLURMD_NODENAME=n1")
	if nodes := value(strings.Split(get(at, "args"), "\n"), "nodes"); nodes != "" {
		cmd.Env = append(cmd.Env, "SLURM_JOB_NUM_NODES="+nodes)
	}
	if minutes, err := strconv.Atoi(get(at, "limit")); err == nil {
		ends := time.Now().Add(time.Duration(minutes) * time.Minute)
		if d, err := time.ParseDuration(get(dir, "short")); err == nil {
			ends = time.Now().Add(d)
		}
		set(at, "ends", strconv.FormatInt(ends.Unix(), 10))
		if !there(dir, "old") {
			cmd.Env = append(cmd.Env, fmt.Sprintf("SLURM_JOB_END_TIME=%d", ends.Unix()))
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	signal.Ignore(syscall.SIGHUP)
	set(at, "state", "RUNNING")
	if err := cmd.Start(); err != nil {
		set(at, "state", "FAILED")
		return 0
	}
	return attend(dir, at, cmd)
}

// attend waits for the end of a job, which it asks for when the job is cancelled.
func attend(dir, at string, cmd *exec.Cmd) int {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			state := "COMPLETED"
			if err != nil {
				state = "FAILED"
			}
			if there(at, "cancel") {
				state = "CANCELLED"
			}
			set(at, "state", state)
			return 0
		case <-time.After(20 * time.Millisecond):
			if there(at, "cancel") || !there(dir, "jobs") {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		}
	}
}

var over = []string{"COMPLETED", "FAILED", "CANCELLED"}

func squeue(dir string, args []string) int {
	if value(args, "format") == "%L" {
		id, _ := strconv.Atoi(value(args, "jobs"))
		at, err := strconv.ParseInt(get(job(dir, id), "ends"), 10, 64)
		if err != nil {
			fmt.Println("INVALID")
			return 0
		}
		left := max(time.Until(time.Unix(at, 0)).Round(time.Second), 0)
		fmt.Printf("%d:%02d\n", int(left.Minutes()), int(left.Seconds())%60)
		return 0
	}
	switch {
	case there(dir, "empty"):
		return 0
	case there(dir, "garbage"):
		fmt.Println("slurm_load_jobs error: ???")
		return 0
	}
	for _, id := range ids(dir) {
		at := job(dir, id)
		state := get(at, "state")
		if ended := slices.Contains(over, state); ended && there(dir, "hidden") {
			continue
		} else if lie := get(dir, "lie"); ended && lie != "" {
			state = lie
		}
		fmt.Printf("%d|%s|%s|None\n", id, get(at, "name"), state)
	}
	return 0
}

// srun starts a program once on each of --nodes=N machines, which are called n1, n2, and so on. It passes SIGTERM on.
func srun(_ string, args []string) int {
	nodes, err := strconv.Atoi(value(args, "nodes"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "srun: error: --nodes:", err)
		return 1
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGTERM)
	var steps []*exec.Cmd
	for n := range nodes {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), fmt.Sprintf("SLURMD_NODENAME=n%d", n+1))
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "srun: error:", err)
			return 1
		}
		steps = append(steps, cmd)
	}
	go func() {
		for range came {
			for _, cmd := range steps {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		}
	}()
	code := 0
	for _, cmd := range steps {
		if err := cmd.Wait(); err != nil {
			code = 1
		}
	}
	return code
}

func sacct(dir string, args []string) int {
	for _, id := range ids(dir) {
		at := job(dir, id)
		if get(at, "name") == value(args, "name") {
			fmt.Printf("%d|%s|%s\n", id, get(at, "name"), get(at, "state"))
		}
	}
	return 0
}

func scancel(dir string, args []string) int {
	for _, id := range ids(dir) {
		at := job(dir, id)
		if name := value(args, "name"); name == get(at, "name") || name == "" && slices.Contains(args, strconv.Itoa(id)) {
			set(at, "cancel", "")
		}
	}
	return 0
}

func scontrol(dir string, args []string) int {
	for _, a := range args {
		if id, ok := strings.CutPrefix(a, "JobId="); ok {
			n, _ := strconv.Atoi(id)
			if limit, ok := strings.CutPrefix(args[len(args)-1], "TimeLimit="); ok {
				set(job(dir, n), "limit", limit)
			}
		}
	}
	return 0
}
