package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/setup"
)

// slurmCommand has the subcommands for Slurm besides tune --on slurm.
func slurmCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "slurm", Short: "workers of a server on machines of Slurm", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := &pilotFlags{}
	workers := &cobra.Command{
		Use:   "workers --nodes N --time T [flags] [-- SBATCH-ARGUMENT...]",
		Short: "begin workers of a server in one job of Slurm",
		Long: `workers submits one job of Slurm, which begins a worker of the server on each of its
nodes. So short runs need no job each. A worker takes no run that is expected to
last longer than the rest of the job. It ends before the job, or after --idle
without a run. A run that it had to end is begun anew elsewhere.

Inside a job of Slurm, for example from salloc, it begins the workers there, and
ends with them. Arguments after -- are passed to sbatch, or to srun there.`,
		Example: `  assay slurm workers --nodes 4 --time 2h --accept-commands \
    --server tls://lab.example.org:7701 --token-file ~/rack.token -- --partition=short`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return usagef("%s: further arguments of sbatch come after --", args[0])
			}
			return f.run(cmd, s, args)
		},
	}
	fl := workers.Flags()
	fl.IntVar(&f.nodes, "nodes", 0, "how many nodes, each with one worker (default 1; in a job, all that it has)")
	fl.DurationVar(&f.time, "time", 0, "how `long` the job may last, in whole minutes")
	fl.StringVar(&f.server, "server", "",
		"`address` of the server: tls://HOST:PORT, or unix:/PATH (default $ASSAY_SERVER, or this user's server)")
	fl.StringVar(&f.token, "token-file", "", "`file` with a token of the role worker (default $ASSAY_TOKEN_FILE)")
	fl.IntVar(&f.slots, "slots", 1, "runs at once on each node; each disturbs the measurements of the others")
	fl.StringVar(&f.apps, "apps", "", "`file` of the applications that they run")
	fl.BoolVar(&f.accept, "accept-commands", false,
		"run commands too: anyone with the author role can run any program there as this user")
	fl.DurationVar(&f.idle, "idle", 5*time.Minute,
		"end a worker after this `long` without a run; 0 for never")
	fl.StringVar(&f.spool, "spool", "",
		"`directory` that the nodes share, for the program and the output of workers (default beside the default store)")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.AddCommand(workers)
	return cmd
}

type pilotFlags struct {
	nodes, slots               int
	time, idle                 time.Duration
	server, token, apps, spool string
	accept, json               bool
}

// run submits the job, or begins the workers if this is one.
func (f *pilotFlags) run(cmd *cobra.Command, s streams, extra []string) error {
	a, inside := batch.Allocated()
	switch {
	case f.slots < 1:
		return usagef("--slots %d: at least 1", f.slots)
	case cmd.Flags().Changed("nodes") && f.nodes < 1:
		return usagef("--nodes %d: at least 1", f.nodes)
	case f.idle < 0:
		return usagef("--idle %s: at least 0", f.idle)
	case f.time < 0, f.time == 0 && cmd.Flags().Changed("time"):
		return usagef("--time %s: at least 1m", f.time)
	case f.time == 0 && !inside:
		return assay.WithHint(usagef("a job of workers needs a --time"),
			"--time 2h; they end earlier when there is nothing to run")
	case f.apps == "" && !f.accept:
		return assay.WithHint(usagef("workers without an application run nothing"),
			"--apps FILE names their applications; with --accept-commands authors of the server run any program as this user")
	}
	address, note, err := server.Serving(cmp.Or(f.server, os.Getenv("ASSAY_SERVER")))
	if err != nil {
		return err
	}
	flags, err := f.flags(address)
	if err != nil {
		return err
	}
	if inside {
		return f.here(cmp.Or(f.nodes, a.Nodes), extra, flags)
	}
	if note != "" {
		fmt.Fprintf(s.err, "note: %s\n", note)
	}
	f.nodes = max(f.nodes, 1)
	p := setup.Pilots{
		Nodes: f.nodes, Time: f.time, Spool: f.spool, Extra: extra,
		Args: append([]string{"slurm", "workers", "--nodes=" + strconv.Itoa(f.nodes)}, flags...),
	}
	id, output, err := p.Submit(cmd.Context())
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(s.out, struct {
			Job    string `json:"job"`
			Nodes  int    `json:"nodes"`
			TimeS  int    `json:"time_s"`
			Output string `json:"output"`
		}{id, f.nodes, int(batch.Minutes(f.time).Seconds()), output})
	}
	var l report.Lines
	l.Add("job", "%s: %s for %s", id, report.Count(f.nodes, "worker", "workers"), batch.Minutes(f.time))
	l.Add("output", "%s", report.Visible(output))
	return l.Write(s.out)
}

// flags returns the flags of the workers, with paths that hold on any machine that shares them.
func (f *pilotFlags) flags(address string) ([]string, error) {
	out := []string{"--server=" + address, "--slots=" + strconv.Itoa(f.slots), "--idle=" + f.idle.String()}
	for _, file := range []struct{ flag, path string }{
		{"token-file", cmp.Or(f.token, os.Getenv("ASSAY_TOKEN_FILE"))}, {"apps", f.apps},
	} {
		if file.path == "" {
			continue
		}
		path, err := filepath.Abs(file.path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, usagef("--%s: %v", file.flag, err)
		}
		out = append(out, "--"+file.flag+"="+path)
	}
	if f.accept {
		out = append(out, "--accept-commands")
	}
	return out, nil
}

// here becomes the step of this job that is the workers.
func (f *pilotFlags) here(nodes int, extra, flags []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if f.time > 0 {
		flags = append(flags, "--until="+time.Now().Add(f.time).Format(time.RFC3339))
	}
	argv := batch.Srun(nodes, extra, append([]string{self, "worker"}, flags...))
	srun, err := exec.LookPath(argv[0])
	if err != nil {
		return assay.WithHint(usagef("there is no srun on PATH, though this is a job of Slurm: %w", err),
			"load the module that has Slurm's commands")
	}
	return fmt.Errorf("%s: %w", srun, syscall.Exec(srun, argv, os.Environ()))
}
