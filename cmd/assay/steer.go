package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
	"github.com/assay-run/assay/view"
)

// steerCommands are the subcommands of study that ask a server.
func steerCommands(s streams) []*cobra.Command {
	var all []*cobra.Command
	add := func(
		use, short string, args cobra.PositionalArgs,
		do func(*remoteFlags, context.Context, *api.Client, []string) error,
	) *cobra.Command {
		f := &remoteFlags{}
		cmd := f.command(use, short, args, func(ctx context.Context, c *api.Client, args []string) error {
			return do(f, ctx, c, args)
		})
		f.add(cmd)
		all = append(all, cmd)
		return cmd
	}
	give := add("add STUDY FILE.csv|NAME=VALUE...", "have a server run configurations of yours", cobra.MinimumNArgs(2),
		func(f *remoteFlags, ctx context.Context, c *api.Client, args []string) error {
			configs, err := api.GivenConfigs(standardInput, s.in, args[1:])
			if err != nil {
				return err
			}
			st, err := c.Enqueue(ctx, args[0], configs)
			if err != nil {
				return err
			}
			return f.said(s.out, st, "%s: %d configurations given", args[0], len(configs))
		})
	give.Example = "  assay study add x264 configs.csv\n  assay study add x264 threads=8 preset=slow"
	for _, v := range []struct{ verb, state, short, done string }{
		{"pause", "pause", "have a server begin no more runs of a study; running ones continue", "paused"},
		{"resume", "run", "have a server resume a study", "running"},
		{"stop", "stop", "end a study on a server, and its runs", "stopped"},
	} {
		var reason string
		cmd := add(v.verb+" STUDY...", v.short, cobra.MinimumNArgs(1),
			func(f *remoteFlags, ctx context.Context, c *api.Client, args []string) error {
				for _, name := range args {
					st, err := c.SetState(ctx, name, v.state, reason)
					if err != nil {
						return err
					}
					if err := f.said(s.out, st, "%s: %s", name, v.done); err != nil {
						return err
					}
				}
				return nil
			})
		cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	}
	add("priority STUDY N", "of two studies on a server the one of greater priority goes first", cobra.ExactArgs(2),
		func(f *remoteFlags, ctx context.Context, c *api.Client, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil {
				return usagef("%q is not a priority: a whole number, 0 by default", args[1])
			}
			st, err := c.SetPriority(ctx, args[0], n)
			if err != nil {
				return err
			}
			return f.said(s.out, st, "%s: priority %d", args[0], n)
		})
	add("watch STUDY", "follow a study on a server; Ctrl-C leaves it running", cobra.ExactArgs(1),
		func(f *remoteFlags, ctx context.Context, c *api.Client, args []string) error {
			d, err := c.Study(ctx, args[0])
			if err != nil {
				return err
			}
			def, err := spec.Decode(d.Spec)
			if err != nil {
				return err
			}
			def.Placement.On = setup.Fleet
			p, err := setup.New(def, setup.Options{Warn: warnings(s.err)})
			if err != nil {
				return err
			}
			return attach(ctx, s, c, p, d.Study, true, f.json)
		})
	return all
}

// onFleet has a server run the study, and follows it.
func (f *tuneFlags) onFleet(cmd *cobra.Command, s streams, def *spec.Study) error {
	for _, flag := range []string{"store", "pin"} {
		if cmd.Flags().Changed(flag) {
			return usagef("--%s is for runs of this process: with --on %s the server keeps the study", flag, setup.Fleet)
		}
	}
	c, err := f.remote.client()
	if err != nil {
		return err
	}
	defer c.Close()
	if def.Dir == "" && strings.HasPrefix(c.Address(), "unix:") {
		// The workers of this machine run the command in the directory that would be used without a server.
		if def.Dir, err = filepath.Abs("."); err != nil {
			return err
		}
	}
	p, err := setup.New(def, setup.Options{})
	if err != nil {
		return err
	}
	name := f.study
	if name == "" {
		name = p.Name()
	}
	if err := api.SendInputs(cmd.Context(), c, def); err != nil {
		return err
	}
	sub, err := api.Submitted(def, name)
	if err != nil {
		return err
	}
	d, err := c.Submit(cmd.Context(), sub)
	if err != nil {
		return taken(err)
	}
	st := d.Study
	if !f.detach {
		return attach(cmd.Context(), s, c, p, st, d.Resumed, f.json)
	}
	if f.json {
		return writeJSON(s.out, st)
	}
	_, err = fmt.Fprintf(s.out, "study %s runs on %s\n%s", report.Visible(st.Study), c.Address(), goesOn(st.Study))
	return err
}

// goesOn returns the commands to follow and to end a study on a server.
func goesOn(study string) string {
	name := report.ShellQuote([]string{study})
	return "  assay study watch " + name + "   follows it\n  assay study stop " + name + "    ends it\n"
}

// attach follows a study on a server, and prints its result as tune does for a local study. A signal detaches from it.
func attach(
	ctx context.Context, s streams, c *api.Client, p *setup.Problem, st view.Study, resumed, asJSON bool,
) error {
	live, status := newLive(s.err, p)
	signals := term.Wait(ctx, func() {}, func(os.Signal) bool { return false })
	defer signals.Stop()
	watched, stop := signals.Until(assay.ErrDetached)
	defer stop()
	running := 0
	before := int64(0)
	if resumed {
		before = st.Events
	}
	a := api.Attachment{Client: c, Study: st.Study, Before: before, Notify: func(p study.Progress) {
		running = len(p.Running)
		live.Notify(p)
	}, Away: func(err error) {
		if err != nil {
			status.Print(report.Visible(fmt.Sprintf("%v; asking again", err)))
		} else {
			status.Print("the server is back")
		}
	}, Lacks: func(text string) { status.Print(report.Visible("waiting: " + text)) }}
	live.Start(st.Study, resumed)
	res, err := a.Run(watched)
	live.Close()
	status.Close()
	if errors.Is(err, assay.ErrDetached) {
		fmt.Fprintf(s.err, "detached: %s\n%s", report.Count(running, "run goes on", "runs go on"), goesOn(st.Study))
		return &exitError{interruptCode(signals.First())}
	}
	if err != nil {
		return err
	}
	if res.EndedBy == "error" { // the record has no details of it
		if d, err := c.Study(ctx, st.Study); err == nil && d.Study.Why != "" {
			return fmt.Errorf("study %s has ended: %s", st.Study, d.Study.Why)
		}
	}
	_, err = tell(s, p, st.Study, res, asJSON)
	return err
}

// listHosted prints the studies of a server.
func listHosted(ctx context.Context, w io.Writer, f *remoteFlags, asJSON bool) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	defer c.Close()
	all, err := c.Studies(ctx)
	return printedRows(err, asJSON, w, all, api.WriteStudies)
}
