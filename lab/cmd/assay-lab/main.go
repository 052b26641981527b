// Command assay-lab repeats the experiments of papers, judges rules of assay itself on recorded tables, and draws the
// pictures of the documentation. See lab/README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/lab/figures"
)

func main() { os.Exit(execute(streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:])) }

// streams are the input and the outputs of a command: results go to out, all else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// warn prints a warning.
func (s streams) warn(text string) { fmt.Fprintf(s.err, "warning: %s\n", report.Visible(text)) }

// execute runs one command line and returns its exit code: 2 for a mistake on the command line or in a file.
func execute(s streams, args []string) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	fmt.Fprintf(s.err, "assay-lab: %s\n", report.VisibleLines(err.Error()))
	if assay.ClassOf(err) == assay.ClassUsage {
		return 2
	}
	return 1
}

// newRoot returns the command tree.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "assay-lab",
		Short:         "repeat the experiments of papers, and judge assay's own rules on recorded tables",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(
		budgetCommand(s), celloCommand(s), fleetCommand(s), gainCommand(s), jobprunerCommand(s), levelCommand(s),
		nimoCommand(s),
		parallelCommand(s), proCommand(s), requestsCommand(), workflowCommand(), figuresCommand(s),
	)
	return root
}

func figuresCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "figures NAME [FILE...]",
		Short: "draw a picture of the documentation, as SVG",
		Long: `figures draws one of these pictures. Some are drawn from standard input.

  luck                  how much better the best of n runs looks than it is
  beside FILE           the table of geometric means in a page of results
  curve                 the curves of assay bench --curve --json
  answer                the regrets of assay bench answer --json
  trials                the trials of assay study trials --json
  pruning EARLIER NOW   the values of parameters in the trials of two studies
  costs TRIALS          the predictions of assay predict --json, and the trials`,
		Example: `  assay-lab figures beside lab/notes/cello.md > docs/figures/beside.svg`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return figures.Draw(args, s.in, s.out) },
	}
}

func usagef(format string, args ...any) error { return assay.Errorf(assay.ClassUsage, format, args...) }

// usage returns err as a mistake on the command line or in a file.
func usage(err error) error { return assay.WithClass(assay.ClassUsage, err) }

// printed prints the result of an experiment as JSON or for people, unless it failed.
func printed[T any](
	err error, asJSON bool, w io.Writer, result T, text func(T, io.Writer, report.Palette) error,
) error {
	if err != nil {
		return err
	}
	return report.Print(w, asJSON, report.Palette{}, result, text)
}

// jobsFlag declares how much is done at once: as much as there are processors. Its help does not depend on the machine.
func jobsFlag(fl *pflag.FlagSet, to *int, usage string) {
	fl.IntVarP(to, "jobs", "j", runtime.NumCPU(), usage)
	fl.Lookup("jobs").DefValue = "one for each processor"
}
