// Command assay finds the best way to run an expensive program by running it as
// little as possible. See the README, or assay help.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/internal/workbench"
)

func main() {
	workbench.Main() // does not return in a process that a workbench has started
	io := streams{os.Stdin, os.Stdout, os.Stderr}
	os.Exit(execute(io, os.Args[1:]))
}

// streams are the input and outputs of a command: results go to out, everything else to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// execute runs one command line and returns its exit code.
func execute(s streams, args []string) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	code := exitCode(err)
	if _, silent := errors.AsType[*exitError](err); !silent {
		fmt.Fprintf(s.err, "assay: %s\n", report.VisibleLines(forPeople(err)))
	}
	return code
}

// newRoot returns the command tree.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "assay",
		Short: "find the best way to run an expensive program by running it as little as possible",
		Long: `assay tunes a command with parameters: it proposes configurations, runs and
measures them from outside, learns from every run, stops bad runs early,
and reports which configuration is best and by how much.

  assay tune -p level=1..19 -p threads=1,2,4 -- zstd -{level} -T{threads} -f data -o /dev/null`,
		Args:          cobra.NoArgs,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("assay {{.Version}}\n")
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s\nsee: %s --help", flagMistake(cmd.Flags(), err), cmd.CommandPath())
	})
	root.AddCommand(
		tuneCommand(s), askCommand(s), tellCommand(s), benchCommand(s), studyCommand(s), reportCommand(s), compareCommand(s),
		catalogueCommand(s), planCommand(),
		learnCommand(s), predictCommand(s), workflowCommand(), serveCommand(s), profileCommand(s),
		serverCommand(s), workerCommand(s), uiCommand(s), queueCommand(s), workersCommand(s), tokenCommand(s),
		slurmCommand(s), mcpCommand(s),
		doctorCommand(s), versionCommand(s), shimCommand(s),
	)
	for _, command := range extra {
		root.AddCommand(command(s))
	}
	root.InitDefaultHelpCmd()
	usageArgs(root)
	return root
}

// usageArgs turns every error about positional arguments, and help for an unknown command, into a usage error that
// shows the arguments of the command.
func usageArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return wrongArgs(cmd, args)
			}
			return nil
		}
	}
	if cmd.Name() == "help" {
		cmd.Short = "help about any command"
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if on, rest, err := cmd.Root().Find(args); err != nil || len(rest) > 0 {
				return wrongArgs(on, rest)
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}

// wrongArgs returns the error of a command that does not take these arguments.
func wrongArgs(cmd *cobra.Command, args []string) error {
	see := "see: " + cmd.CommandPath() + " --help"
	switch {
	case len(args) > 0 && cmd.HasAvailableSubCommands():
		hint := ""
		if cmd.SuggestionsMinimumDistance <= 0 {
			cmd.SuggestionsMinimumDistance = 2
		}
		if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
			hint = " (did you mean " + strings.Join(like, " or ") + "?)"
		}
		return usagef("unknown command %q for %q%s\n%s", args[0], cmd.CommandPath(), hint, see)
	case len(args) > 0:
		return usagef("too many arguments: %s\nusage: %s\n%s", strings.Join(args, " "), cmd.UseLine(), see)
	}
	return usagef("an argument is missing\nusage: %s\n%s", cmd.UseLine(), see)
}

// interrupts waits for the signals that end a command. The caller stops it.
func interrupts(ctx context.Context) *term.Signals {
	return term.Wait(ctx, func() {}, term.Hurries(ctx))
}

func versionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.out, "assay", version())
			return err
		},
	}
}

// release and commit describe a build by make dist, set by the linker.
var release, commit string

// extra are additional commands of special builds.
var extra []func(streams) *cobra.Command

// version returns the version of a release, the version of the module that go install built, or the commit of the tree;
// with the commit of a release, and the version of Go.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if release != "" && commit != "" {
		return fmt.Sprintf("%s (commit %s) %s", release, commit[:min(12, len(commit))], info.GoVersion)
	}
	v := cmp.Or(release, info.Main.Version)
	for _, kv := range info.Settings {
		if kv.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = kv.Value[:min(12, len(kv.Value))]
		}
	}
	return fmt.Sprintf("%s %s", v, info.GoVersion)
}
