package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
)

// studyFlags are the flags of the study commands.
type studyFlags struct {
	store  string
	json   bool
	format string
	remote remoteFlags
}

func studyCommand(s streams) *cobra.Command {
	f := &studyFlags{}
	cmd := &cobra.Command{
		Use:   "study",
		Short: "look at the studies on record",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.store, "store", "",
		"where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	add := func(
		use, short string, args cobra.PositionalArgs, do func(context.Context, *setup.Store, []string) error,
	) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Args: args, ValidArgsFunction: f.complete,
			RunE: func(cmd *cobra.Command, args []string) error { return f.with(cmd.Context(), args, do) },
		}
		cmd.AddCommand(c)
		return c
	}
	ls := add("ls", "list the studies", cobra.NoArgs, func(ctx context.Context, h *setup.Store, _ []string) error {
		return result.WriteStudies(ctx, s.out, columns(s.out), palette(s.out), h, f.json)
	})
	looked := ls.RunE
	ls.RunE = func(cmd *cobra.Command, args []string) error {
		if f.remote.server == "" {
			return looked(cmd, args)
		}
		if f.store != "" {
			return errTwoPlaces
		}
		return listHosted(cmd.Context(), s.out, &f.remote, f.json)
	}
	show := add("show STUDY", "show the definition and the results of a study", cobra.ExactArgs(1),
		func(ctx context.Context, h *setup.Store, args []string) error {
			return showStudy(ctx, s.out, h, args[0], f.json)
		})
	trials := add("trials STUDY", "the trials in order of their ids", cobra.ExactArgs(1),
		func(ctx context.Context, h *setup.Store, args []string) error {
			r, err := result.Read(ctx, h, args[0])
			if err != nil {
				return err
			}
			return r.WriteTrials(ctx, s.out, columns(s.out), palette(s.out), f.json)
		})
	for _, c := range []*cobra.Command{ls, show, trials} {
		c.Flags().BoolVar(&f.json, "json", false, "print JSON, one object a line where there are several")
	}
	front := frontCommand(s, f, add)
	applyCommand(s, f, add)
	export := add("export STUDY", "write the trials for other tools", cobra.ExactArgs(1),
		func(ctx context.Context, h *setup.Store, args []string) error {
			return exportStudy(ctx, s.out, h, args[0], f.format)
		})
	export.Flags().StringVar(&f.format, "format", "csv", "csv, jsonl or optuna (a journal that Optuna goes on with)")
	explain, noise := explainCommand(s, f), noiseCommand(s, f)
	for _, c := range []*cobra.Command{ls, show, trials, front, export, explain, noise} {
		f.remote.instead(c)
	}
	cmd.AddCommand(explain, noise, outputCommand(s, f), filesCommand(s))
	yes := false
	rm := add("rm STUDY...", "forget studies and their trials", cobra.MinimumNArgs(1),
		func(ctx context.Context, h *setup.Store, args []string) error {
			return removeStudies(ctx, s, h, args, yes)
		})
	rm.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask, which is done on a terminal only")
	local := []*cobra.Command{
		rm, similarCommand(s, f), importCommand(s, f), copyCommand(s, f), recoverCommand(s, f), fsckCommand(s, f),
	}
	for _, c := range local {
		c.PreRunE = storeOnly
	}
	cmd.AddCommand(append(local[1:], buildsCommand(s))...)
	cmd.AddCommand(steerCommands(s)...)
	return cmd
}

// storeOnly refuses a command that works on a store alone if the environment names a server and no flag a store: the
// other commands would look elsewhere.
func storeOnly(cmd *cobra.Command, _ []string) error {
	from := cmd.Flags().Lookup("from")
	if os.Getenv("ASSAY_SERVER") == "" || cmd.Flags().Changed("store") || from != nil && from.Changed {
		return nil
	}
	err := usagef("$ASSAY_SERVER names a server, and %s has no --server: name the store", cmd.CommandPath())
	return assay.WithHint(err, "--store sqlite: is the store of this user")
}

// errTwoPlaces is the error of a command with both --store and --server.
var errTwoPlaces = usagef("--store and --server: a study is in one of them")

// with opens the store for one command, or copies the study that args begin with from a server.
func (f *studyFlags) with(
	ctx context.Context, args []string, do func(context.Context, *setup.Store, []string) error,
) error {
	h, err := readStudies(ctx, f.store, &f.remote, args...)
	if err != nil {
		return err
	}
	defer h.Close()
	if err = do(ctx, h, args); len(args) > 0 {
		return noStudy(err, args[0])
	}
	return err
}

// readStudies opens a store to look at studies, or copies those from a server.
func readStudies(ctx context.Context, at string, from *remoteFlags, studies ...string) (*setup.Store, error) {
	if from.server == "" {
		return setup.ReadStore(ctx, at)
	}
	if at != "" {
		return nil, errTwoPlaces
	}
	c, err := from.client()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	m := store.NewMem()
	for _, name := range studies {
		if err := api.CopyRecord(ctx, c, name, m); assay.ClassOf(err) == assay.ClassNotFound {
			return nil, usagef("no study %q on the server (see assay study ls --server %s)", name, from.server)
		} else if err != nil {
			return nil, err
		}
	}
	return setup.InMemory(m), nil
}

// complete offers the names of the studies to a shell.
func (f *studyFlags) complete(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	h, err := setup.ReadStore(cmd.Context(), f.store)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer h.Close()
	var all []string
	for name, err := range h.Studies(cmd.Context()) {
		if err == nil {
			all = append(all, name)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// showStudy prints a study and its result so far.
func showStudy(ctx context.Context, w io.Writer, h *setup.Store, name string, asJSON bool) error {
	r, err := result.Read(ctx, h, name)
	if err != nil {
		return err
	}
	r.Here = workingDirectory("")
	out, err := r.Shown(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(w, out)
	}
	if r.Definition.Search.Name != setup.LearningSearcher {
		return r.WriteShown(w, columns(w), out, nil)
	}
	space, err := r.Definition.Space()
	if err != nil {
		return err
	}
	learner, err := setup.Learned(ctx, h, name, r.Definition, space)
	if err != nil {
		return err
	}
	return r.WriteShown(w, columns(w), out, learner)
}

// removeStudies removes all of the studies, or none if one does not exist. On a terminal it asks first, unless yes is
// set.
func removeStudies(ctx context.Context, s streams, h *setup.Store, names []string, yes bool) error {
	for _, name := range names {
		if _, err := h.Spec(ctx, name); errors.Is(err, fs.ErrNotExist) {
			return usagef("no study %q: nothing was removed (see assay study ls)", name)
		} else if err != nil {
			return err
		}
	}
	if in, is := s.in.(*os.File); is && term.IsTerminal(in) && !yes {
		fmt.Fprintf(s.err, "forget %s, with every trial? [y/N] ", strings.Join(names, ", "))
		answer, _ := bufio.NewReader(in).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return usagef("nothing was removed")
		}
	}
	for _, name := range names {
		if err := h.Remove(ctx, name); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.out, "removed %s\n", report.Visible(name)); err != nil {
			return err
		}
	}
	return nil
}
