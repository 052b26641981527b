package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/online"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	keys      keyFlags
	online    string
	socket    string
	listen    string
	tokenFile string
	mode      string
	deadline  string
	study     string
	store     string
	json      bool
}

func serveCommand(s streams) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve --online STUDY.yaml [flags] [-- PROGRAM ARG...]",
		Short: "tune a program while it runs",
		Long: `serve answers the processes (ranks) of a running program: each fetches a
configuration before an iteration and reports its time after it. The study file
needs parameters, but no command.

With a program after --, it is run with ASSAY_ONLINE set, and serve ends with
it; without one, SIGINT or SIGTERM ends it. The same study goes on
where it stopped. Only this user can reach the socket.`,
		Example: `  assay serve --online examples/online/heat/assay.yaml -- examples/online/heat/heat
  assay serve status --at unix:/run/user/1000/assay/heat.sock`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.online, "online", "", "`study file` to tune on line")
	fl.StringVar(&f.socket, "socket", "",
		"`path` of the socket (default: STUDY.sock in $XDG_RUNTIME_DIR/assay, or beside the store)")
	fl.StringVar(&f.listen, "listen", "",
		"loopback `address` in place of the socket, such as 127.0.0.1:0; needs --token-file")
	fl.StringVar(&f.tokenFile, "token-file", "", "`file` with the token of --listen; made if it is not there")
	fl.StringVar(&f.mode, "mode", "free",
		"free: ranks report singly; steps: they wait for each other; same: they also run one configuration")
	fl.StringVar(&f.deadline, "deadline", "",
		"silence after which a rank is given up (default: ten times the longest iteration, at least 1s)")
	f.keys.add(cmd, map[string]string{
		"search": "searcher (default: the searcher of the study file, else " + setup.OnlineSearcher + ")",
	}, "search")
	fl.StringVar(&f.study, "study", "", "name of the study (default: the name in the file, or the file's)")
	fl.StringVar(&f.store, "store", "", "where studies are kept: a `path`, or memory (default in $XDG_STATE_HOME/assay)")
	fl.BoolVar(&f.json, "json", false, "print the result as one JSON object")
	for _, c := range [][2]string{
		{"status", "print the state of a session"},
		{"pause", "have all ranks run the best configuration so far"},
		{"resume", "end a pause"},
		{"restart", "begin the search anew, for a program that has changed"},
		{"end", "end the session"},
	} {
		cmd.AddCommand(serveControl(s, c[0], c[1]))
	}
	return cmd
}

// serveControl is a command to a session that runs.
func serveControl(s streams, verb, short string) *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use: verb, Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			address := cmp.Or(at, os.Getenv("ASSAY_ONLINE"))
			switch {
			case address == "":
				return usagef("which session? Give --at ADDRESS, or set ASSAY_ONLINE")
			case rest.CheckAddress(address) != nil:
				return usagef("%s: not the address of a session, such as "+
					"unix:/run/user/1000/assay/heat.sock or http://127.0.0.1:7001", address)
			}
			b, err := rest.Control(address, verb)
			if err != nil {
				return err
			}
			_, err = s.out.Write(b)
			return err
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "`address` of the session (default $ASSAY_ONLINE)")
	return cmd
}

// run is the command: read, check, and serve.
func (f *serveFlags) run(cmd *cobra.Command, s streams, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if f.online == "" || dash != 0 && len(args) > 0 {
		return usagef("what shall be tuned? assay serve --online STUDY.yaml [-- PROGRAM ARG...]\nsee: assay serve --help")
	}
	if f.listen != "" && (f.socket != "" || f.tokenFile == "") {
		return usagef("--listen excludes --socket and needs --token-file: " +
			"every user of a machine can reach its loopback addresses")
	}
	def, err := f.load(cmd, s.err)
	if err != nil {
		return err
	}
	p, err := setup.New(def, setup.Options{})
	if err != nil {
		return err
	}
	mode, deadline, err := f.options()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		if _, err := run.LookPath(args[0], ""); err != nil {
			return usageError(err)
		}
	}
	h, err := setup.OpenStore(cmd.Context(), f.store)
	if err != nil {
		return err
	}
	defer h.Close()
	session, err := p.Session(cmd.Context(), h, f.study)
	if err != nil {
		return taken(err)
	}
	defer session.Close()
	session.Mode, session.Deadline = mode, deadline
	return f.serve(cmd.Context(), s, session.Options, h.Path, args)
}

// load reads the study file.
func (f *serveFlags) load(cmd *cobra.Command, warn io.Writer) (*spec.Study, error) {
	return loadStudy(warn, f.online, func(def *spec.Study) error {
		if err := f.keys.apply(cmd, def); err != nil {
			return err
		}
		setup.Online(def)
		return nil
	})
}

// options reads the flags for the mode and the end of a session.
func (f *serveFlags) options() (mode online.Mode, deadline time.Duration, err error) {
	if mode, err = online.ParseMode(f.mode); err != nil {
		return mode, 0, usageError(err)
	}
	if f.deadline != "" {
		if deadline, err = spec.ParseDuration(f.deadline); err != nil || deadline <= 0 {
			return mode, 0, usagef("--deadline %s: not a duration such as 90s or 10m", f.deadline)
		}
	}
	return mode, deadline, nil
}

// serve opens the session and answers until the program, a signal or a request
// ends it.
func (f *serveFlags) serve(
	ctx context.Context, s streams, o online.Options, storePath string, program []string,
) error {
	at := rest.Place{Socket: f.socket, Listen: f.listen, TokenFile: f.tokenFile}
	hosted, err := rest.Host(ctx, o, at, storePath)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "serving study %s: ASSAY_ONLINE=%s\n", report.Visible(o.Name), hosted.Address)
	signals := interrupts(ctx)
	defer signals.Stop()
	var p *rest.Program
	if len(program) > 0 {
		p = &rest.Program{Argv: program, In: s.in, Out: s.err}
	}
	end, err := hosted.Run(signals.Hard, signals.Drain, p)
	switch {
	case err != nil:
		return err
	case f.json:
		err = writeJSON(s.out, end.Status.Output(o.Space))
	default:
		err = end.Status.WriteResult(s.out, o.Space)
	}
	if err != nil {
		return err
	}
	if exit, ok := errors.AsType[*exec.ExitError](end.Program); ok {
		fmt.Fprintf(s.err, "assay: the program ended with %v\n", exit)
		return &exitError{codeFailure}
	}
	if end.Program == nil && end.Interrupted && p != nil {
		return &exitError{interruptCode(signals.First())}
	}
	return end.Program
}
