package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
)

type answerFlags struct {
	methods string
	peers   []string
	budgets string
	noise   string
	run     time.Duration
	seeds   int
	first   uint64
	json    bool
	jobs    int
}

func benchAnswerCommand(s streams) *cobra.Command {
	f := &answerFlags{}
	cmd := &cobra.Command{
		Use:   "answer STUDY.yaml...",
		Short: "how good the answers of methods are where runs differ",
		Long: `answer replays studies of recorded tables, with noise, in simulated time, and judges
the recommendation of each method when its time is over: by the true median of the
configuration, and by the verdict on its gain. Search, early stops, repeated runs and
the methods' own time are all paid for from the budget.

A method is a whole study, as assay tune has it. random recommends the best of runs
by chance; random-top3 runs the best three again, five times each. perfect runs the
first configuration of auto and the best one of the table to their ends, and compares
them: its right verdicts are those that time and noise allow. --peer adds a program
of your own, which reads and writes lines of JSON.

A table with three runs of each configuration has its own noise. The others have each
level of --noise: standard deviations of a run time, in per cent, or a CSV file of
recorded series, of which three programs are the levels.`,
		Example: `  assay bench answer bench/studies/inputs-*.yaml --seeds 5`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.answer(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.methods, "methods", "auto,random,random-top3", "methods to compare, by `name`")
	fl.StringArrayVar(&f.peers, "peer", nil, "`NAME=COMMAND`, a program that searches; may be repeated")
	fl.StringVar(&f.budgets, "budget-x", "5,10,20,50", "`times`, in median run times")
	fl.StringVar(&f.noise, "noise", "2,10,30", "standard `deviations` of a run time in per cent, or a file of series")
	fl.DurationVar(&f.run, "run", time.Minute, "how long a median run takes, which methods' own time is measured by")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 1")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	jobsFlag(fl, &f.jobs, "searches at once; own times are measured best with 1")
	return cmd
}

func (f *answerFlags) answer(cmd *cobra.Command, s streams, files []string) error {
	if f.seeds < 1 || f.jobs < 1 || f.first < 1 || f.run <= 0 {
		return usagef("--seeds, --first-seed and --jobs are at least 1, --run is above 0")
	}
	o := bench.AnswerOptions{Run: f.run, Seeds: f.seeds, First: f.first, Workers: f.jobs}
	var err error
	if o.Players, err = bench.Players(f.methods, f.peers); err != nil {
		return err
	}
	if o.Noise, err = bench.NoiseOf(f.noise); err != nil {
		return err
	}
	if o.Budgets, err = bench.Numbers("budget-x", f.budgets, "a positive number", func(x float64) bool {
		return x > 0 && x <= 1e4
	}); err != nil {
		return err
	}
	if len(o.Players)*len(o.Noise)*len(o.Budgets) == 0 {
		return usagef("--methods, --noise and --budget-x have at least one item each")
	}
	if o.Problems, o.Tables, err = bench.Tables(warnings(s.err), "bench answer", files); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d seeds", done, total)) }
	rep, err := bench.Answers(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, bench.AnswerReport.Write)
}
