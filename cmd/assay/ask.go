package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// deskFlags are the flags of ask and tell.
type deskFlags struct {
	remote   remoteFlags
	study    string
	store    string
	wait     time.Duration
	json     bool
	n        int
	open     bool
	again    time.Duration
	withdraw time.Duration
}

func (f *deskFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", "where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	fl.DurationVar(&f.wait, "wait", 10*time.Second, "how long to wait while another process uses the study")
	fl.BoolVar(&f.json, "json", false, "print JSON, one object a line")
	f.remote.instead(cmd)
}

func askCommand(s streams) *cobra.Command {
	f := &deskFlags{}
	cmd := &cobra.Command{
		Use:   "ask STUDY.yaml|STUDY",
		Short: "propose configurations of an external study",
		Long: `ask proposes configurations of an external study: you make its runs, and its file
has parameters and an objective, but no command. assay tell takes the results.

Each trial is recorded before it is printed. It stays open until it has a result:
--open lists the open trials, --again hands out trials older than a given age once
more, and --withdraw takes them back. Nothing is printed when the study is over, or
when the search needs a result first; standard error has the reason.

With --server a server holds the study: a study file creates it there.`,
		Example: `  assay ask study.yaml -n 4 --json
  echo '{"id": 1, "value": 0.25}' | assay tell study
  assay ask study --again 1h --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.ask(cmd, s, args[0]) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "number", "n", 1, "how many trials")
	fl.StringVar(&f.study, "study", "", "name of the study (default: the name in the file, or the file's)")
	fl.BoolVar(&f.open, "open", false, "list the trials that have no result yet, and ask for none")
	fl.DurationVar(&f.again, "again", 0,
		"hand out trials once more that were asked longer ago than this `age`, before new ones")
	fl.DurationVar(&f.withdraw, "withdraw", 0,
		"take back trials that were asked longer ago than this `age`, and ask for none")
	return cmd
}

func tellCommand(s streams) *cobra.Command {
	f := &deskFlags{}
	cmd := &cobra.Command{
		Use:   "tell STUDY < RESULTS",
		Short: "report the results of configurations from assay ask",
		Long: `tell reads the results of trials from standard input, as JSON lines or an array:

  {"id": 1, "value": 1.2}
  {"id": 2, "metrics": {"loss": 1.3, "size": 7e6}}
  {"id": 3, "state": "failed", "reason": "out of memory"}

The states are done, failed, censored (stopped: the value is at least this),
infeasible and withdrawn. A result counts once: to repeat it is no error.
Either all results are taken or none is.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.tell(cmd.Context(), s, args[0]) },
	}
	f.add(cmd)
	return cmd
}

// with opens the desk of a study file, or of a study on record or on a server, for one command.
func (f *deskFlags) with(ctx context.Context, s streams, at string, do func(api.Desk) error) error {
	if f.remote.server != "" {
		return f.at(ctx, s, at, do)
	}
	def, err := f.load(s, at)
	if err != nil {
		return err
	}
	var p *setup.Problem
	if def != nil { // errors of the definition are reported before a store is created
		if p, err = setup.New(def, setup.Options{Warn: warnings(s.err)}); err != nil {
			return err
		}
	}
	h, err := setup.OpenStore(ctx, f.store)
	if err != nil {
		return err
	}
	defer h.Close()
	name := f.study
	if def == nil {
		if def, err = h.Definition(ctx, at); err != nil {
			return noStudy(err, at)
		}
		name = at
		if p, err = setup.New(def, setup.Options{Warn: warnings(s.err)}); err != nil {
			return err
		}
	}
	d, err := p.ExternalSession(ctx, h, name, f.wait)
	if err != nil {
		return taken(err)
	}
	for _, note := range d.Notes {
		fmt.Fprintf(s.err, "note: %s\n", report.Visible(note))
	}
	return errors.Join(do(api.NewDesk(d)), d.Close(ctx))
}

// at opens the desk of a study on a server, which a study file makes there.
func (f *deskFlags) at(ctx context.Context, s streams, at string, do func(api.Desk) error) error {
	if f.store != "" {
		return errTwoPlaces
	}
	def, err := f.load(s, at)
	if err != nil {
		return err
	}
	c, err := f.remote.client()
	if err != nil {
		return err
	}
	defer c.Close()
	var d api.Desk
	if def == nil {
		d, err = api.OpenDesk(ctx, c, at)
	} else {
		var p *setup.Problem
		if p, err = setup.New(def, setup.Options{Warn: warnings(s.err)}); err != nil {
			return err
		}
		if d, err = api.SubmitDesk(ctx, c, p, f.study); err != nil {
			err = fmt.Errorf("%s: %w", report.Visible(at), err)
		}
	}
	if err != nil {
		return err
	}
	return do(d)
}

// load reads the study file, or returns nil for the name of a study on record.
func (f *deskFlags) load(s streams, at string) (*spec.Study, error) {
	ext := filepath.Ext(at)
	if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && ext != ".yaml" && ext != ".yml" {
		return nil, nil
	}
	return loadStudy(s.err, at, func(def *spec.Study) error {
		if !def.SetAsked() {
			return usagef("%s: assay makes the runs of this study itself (assay tune): one whose runs you make has "+
				"neither command nor app nor replay", at)
		}
		return nil
	})
}

// ask asks here, or a server.
func (f *deskFlags) ask(cmd *cobra.Command, s streams, at string) error {
	ctx := cmd.Context()
	given := cmd.Flags().Changed
	several := 0
	for _, name := range []string{"open", "again", "withdraw"} {
		if given(name) {
			several++
		}
	}
	switch {
	case several > 1:
		return usagef("--open, --again and --withdraw: one of them")
	case f.n < 1:
		return usagef("-n %d: at least 1 trial", f.n)
	case f.again < 0 || f.withdraw < 0:
		return usagef("an age is not below 0")
	case !given("again"):
		f.again = -1
	}
	return f.with(ctx, s, at, func(d api.Desk) error {
		var trials []api.Asked
		var err error
		switch {
		case f.open:
			trials, err = d.Open(ctx)
		case given("withdraw"):
			trials, err = d.Withdraw(ctx, f.withdraw, "no result in "+f.withdraw.String())
		default:
			var a api.AskAnswer
			if a, err = d.Ask(ctx, f.n, f.again); err == nil && len(a.Trials) < f.n {
				a.WriteFewer(s.err)
			}
			trials = a.Trials
		}
		if err != nil {
			return err
		}
		return f.print(s.out, d, trials)
	})
}

// print prints trials.
func (f *deskFlags) print(w io.Writer, d api.Desk, trials []api.Asked) error {
	for _, a := range trials {
		var err error
		if f.json {
			err = writeJSON(w, a)
		} else {
			_, err = fmt.Fprintf(w, "%d  %s\n", a.ID, report.Visible(d.Text(a)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tell reports results to a local study or to a server.
func (f *deskFlags) tell(ctx context.Context, s streams, at string) error {
	reports, err := setup.ReadReports(standardInput, s.in)
	if err != nil {
		return err
	}
	return f.with(ctx, s, at, func(d api.Desk) error {
		t, err := d.Tell(ctx, reports)
		if class := assay.ClassOf(err); class == assay.ClassConflict || class == assay.ClassNotFound {
			return usageError(err)
		}
		return printed(err, f.json, s.out, t, api.Told.Write)
	})
}
