package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/term"
)

func serverCommand(s streams) *cobra.Command {
	o := server.Options{}
	asJSON, logJSON, quota := false, false, ""
	cmd := &cobra.Command{
		Use:   "server [flags]",
		Short: "run studies for many, on workers anywhere",
		Long: `server holds many studies, and has workers make their runs. After a restart it
resumes the studies that were running, and attaches to runs that continued.

Warning: a server executes programs for others by design. Its socket serves the user
who owns it; --listen serves clients with a token, over TLS. A client with the role
author or admin defines the programs to execute. See docs/server-security.md.`,
		Example: `  assay server
  assay server init --name lab.example.org && assay server --listen 10.0.0.5:7700`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("local-slots") && len(o.Listen) == 0 && o.NATS == "" {
				o.Slots = 1
			}
			if o.Slots < 0 {
				return usagef("--local-slots %d: at least 0", o.Slots)
			}
			if o.Lease < time.Second {
				return usagef("--lease %s: at least 1s", o.Lease)
			}
			var err error
			if o.Blobs, err = parseBytes("--blobs", quota); err != nil {
				return err
			}
			program, err := os.Executable()
			if err != nil {
				return err
			}
			o.Program, o.Version, o.Log = program, version(), server.NewLog(s.err, logJSON)
			ctx, stop := term.UntilSignal(cmd.Context())
			defer stop()
			return server.Run(ctx, o, func(r server.Ready) {
				if asJSON {
					_ = writeJSON(s.out, r) // the server continues without a reader
					return
				}
				fmt.Fprintf(s.out, "assay %s  %s  fleet %s  store %s  %s resumed, %s attached\n", r.Version,
					strings.Join(r.Addresses, " "), strings.Join(r.Fleet, " "), report.Visible(r.Store),
					report.Count(r.Studies, "study", "studies"), report.Count(r.Runs, "run", "runs"))
			})
		},
	}
	cmd.PersistentFlags().StringVar(&o.Dir, "data", "",
		"`directory` of the server (default in $XDG_STATE_HOME/assay/server)")
	fl := cmd.Flags()
	fl.StringVar(&o.Store, "store", "",
		"where studies are kept: sqlite:PATH, postgres://… or memory (default in --data)")
	fl.StringSliceVar(&o.Listen, "listen", nil,
		"answer clients with a token at `HOST:PORT` too, by TLS; workers at the port after it")
	fl.IntVar(&o.Slots, "local-slots", 0, "runs at once on this machine (default 1 without --listen and --nats, else 0)")
	fl.StringVar(&o.NATS, "nats", "",
		"`URL` of NATS with JetStream that carries the queue, in place of one in this process")
	fl.StringVar(&o.Creds, "creds", "", "`file` with the credentials for --nats")
	fl.StringVar(&o.Monitor, "monitor", "",
		"`HOST:PORT` where NATS of this process reports the queue length without a token, for autoscalers")
	fl.DurationVar(&o.Lease, "lease", 30*time.Second, "how long a worker may be silent before its runs are begun anew")
	fl.StringVar(&quota, "blobs", "10G", "how many `bytes` the inputs of studies and the outputs of runs may have in all")
	fl.BoolVar(&asJSON, "json", false, "print the addresses of the server in JSON, once it answers")
	fl.BoolVar(&logJSON, "log-json", false, "log to standard error in JSON, with the begin and end of each attempt")

	var names []string
	initJSON := false
	first := &cobra.Command{
		Use: "init", Short: "make the tokens and certificates of a server that others reach", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			made, err := server.Init(o.Dir, names)
			if err != nil {
				return err
			}
			if initJSON {
				return writeJSON(s.out, made)
			}
			var l report.Lines
			l.Add("authority", "%s", made.CA)
			l.Add("names", "%s", strings.Join(made.Names, " "))
			l.Add("token", "%s, of the role admin: it is in no other place", made.TokenFile)
			return l.Write(s.out)
		},
	}
	first.Flags().StringSliceVar(&names, "name", nil,
		"`names` and addresses of the server, for its certificate (default the machine's)")
	first.Flags().BoolVar(&initJSON, "json", false, "print one JSON object")
	cmd.AddCommand(first)
	cmd.AddCommand(backupCommands(s, &o.Dir)...)
	return cmd
}

// parseBytes reads a size of a flag, such as 10G.
func parseBytes(flag, text string) (int64, error) {
	x, ok := assay.Number(text)
	if !ok || x < 1 || x > 1<<60 {
		return 0, usagef("%s %s: not a size such as 500M or 10G", flag, text)
	}
	return int64(x), nil
}

func workerCommand(s streams) *cobra.Command {
	o := server.Worker{}
	var until, cache string
	days, logJSON := 0, false
	labels := map[string]string{}
	cmd := &cobra.Command{
		Use:   "worker [flags]",
		Short: "make the runs of a server on this machine",
		Long: `worker takes runs from a server and makes them here, measured as assay tune
measures them. It ends by SIGTERM, drain or evict; a run that it had is begun anew
elsewhere; a finished run is reported when the server is back.

It runs the applications of --apps, a file that the server cannot change. With
--accept-commands anyone with the role author can run any program here as this user.`,
		Example: `  assay worker --accept-commands --slots 2
  assay worker --server tls://10.0.0.5:7701 --token-file rack2.token --apps apps.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Slots < 1 {
				return usagef("--slots %d: at least 1", o.Slots)
			}
			if until != "" {
				t, err := time.Parse(time.RFC3339, until)
				if err != nil {
					return usagef("--until %s: not a time such as 2026-01-31T18:00:00Z", until)
				}
				o.Until = t
			}
			if days < 1 || days > 36500 {
				return usagef("--keep-days %d: at least 1", days)
			}
			var err error
			if o.Cache, err = parseBytes("--cache", cache); err != nil {
				return err
			}
			o.Keep = time.Duration(days) * 24 * time.Hour
			o.Server = cmp.Or(o.Server, os.Getenv("ASSAY_SERVER"))
			o.TokenFile = cmp.Or(o.TokenFile, os.Getenv("ASSAY_TOKEN_FILE"))
			o.Labels, o.Version, o.Log = labels, version(), server.NewLog(s.err, logJSON)
			if !logJSON {
				o.Out = s.out
			}
			signals := term.Wait(cmd.Context(), func() {}, server.Hurries)
			defer signals.Stop()
			o.Drain = signals.Drain
			return server.Work(signals.Hard, o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&o.Server, "server", "",
		"`address` of the server: unix:/PATH, or tls://HOST:PORT (default $ASSAY_SERVER, or this user's server)")
	fl.StringVar(&o.TokenFile, "token-file", "", "`file` with a token of the role worker (default $ASSAY_TOKEN_FILE)")
	fl.StringVar(&o.Creds, "creds", "", "`file` with credentials, where --server is NATS that is no server's own")
	fl.StringVar(&o.Name, "name", "", "its `name`, for people (default the machine's)")
	fl.IntVar(&o.Slots, "slots", 1, "runs at once; each disturbs the measurements of the others")
	fl.StringVar(&o.Apps, "apps", "", "`file` of the applications that it runs")
	fl.BoolVar(&o.Accept, "accept-commands", false,
		"run commands too: anyone with the author role can run any program here as this user")
	fl.StringToStringVar(&labels, "label", nil, "`NAME=VALUE` that describes the machine")
	fl.StringVar(&until, "until", "",
		"`time` at which it ends; it takes no run that would last longer (in a job of Slurm, default its end)")
	fl.StringVar(&o.Dir, "data", "",
		"`directory` of the worker: its identity, and outcomes that were not sent (default in $XDG_STATE_HOME/assay/worker)")
	fl.StringVar(&o.API, "api", "",
		"`address` of the server's API, where inputs come from: unix:/PATH or https://HOST:PORT (default beside --server)")
	fl.StringVar(&cache, "cache", "10G", "how many `bytes` of inputs are kept for the next runs")
	fl.IntVar(&days, "keep-days", 7, "how many days the whole output of runs is kept here")
	fl.BoolVar(&logJSON, "log-json", false, "log to standard error in JSON, in place of lines for people")
	fl.DurationVar(&o.Idle, "idle", 0, "end after this `long` without a run")
	fl.DurationVar(&o.Alone, "alone", 0, "end after this `long` without a run and an answer of a server (0: never)")
	return cmd
}
