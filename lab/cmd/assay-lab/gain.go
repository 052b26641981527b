package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/recorded"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

type gainFlags struct {
	gain   string
	method string
	trials int
	seeds  int
	first  uint64
	json   bool
	jobs   int
}

func gainCommand(s streams) *cobra.Command {
	f := &gainFlags{}
	cmd := &cobra.Command{
		Use:   "gain STUDY.yaml...",
		Short: "whether the rule that ends studies is right: the gain of more trials",
		Long: `gain replays studies of recorded tables beyond the point where stop: {gain: 1%}
would end them, and reports the gain of doubling the runs. A study counts if the
rule ends it in the first half of --trials. Right is the share of studies that
gained less than was asked for.`,
		Example: `  assay-lab gain bench/studies/*.yaml --gain 1% --trials 200 --seeds 20`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.gain, "gain", "1%", "the least `share` that is worth going on for")
	fl.StringVar(&f.method, "method", setup.DefaultSearcher, "how the studies search, by `name`")
	fl.IntVar(&f.trials, "trials", 200, "trials of each study, from 2")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 1")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	jobsFlag(fl, &f.jobs, "studies at once")
	return cmd
}

func (f *gainFlags) run(cmd *cobra.Command, s streams, files []string) error {
	least, err := spec.ParseGain(f.gain)
	switch {
	case err != nil:
		return usagef("--gain %w", err)
	case least == 0:
		return usagef("--gain none: there is nothing to replay")
	case f.trials < 2 || f.seeds < 1 || f.jobs < 1 || f.first < 1:
		return usagef("--seeds, --first-seed and --jobs are at least 1, --trials 2")
	}
	methods, err := bench.Methods(f.method)
	if err != nil {
		return err
	}
	if len(methods) > 1 {
		return usagef("--method %s: one method", f.method)
	}
	o := recorded.GainOptions{
		Method: methods[0], Trials: f.trials, Seeds: f.seeds, First: f.first, Workers: f.jobs,
		StudyStopper: func(p *bench.Problem, seed uint64) assay.StudyStopper { return setup.NewEnder(p.Space, least, seed) },
	}
	if o.Problems, err = bench.Problems(s.warn, "gain", files, nil); err != nil {
		return err
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d studies", done, total)) }
	rep, err := recorded.Gains(cmd.Context(), o)
	status.Close()
	return printed(err, f.json, s.out, rep, recorded.GainReport.Write)
}
