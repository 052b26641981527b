package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/exchange"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// importFlags are the flags of `assay study import`.
type importFlags struct {
	name, of, minimize, maximize, write, like string
}

func importCommand(s streams, sf *studyFlags) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import TABLE.yaml|FILE",
		Short: "record a table, or the runs of another tuner, as a study",
		Long: `import makes a study of recorded runs: each becomes a trial that has ended. Other
studies of the same parameters and objective can then be helped by it (assay tune
--prior).

TABLE.yaml is a study file with replay:. FILE is one of another tuner: a cache file
or a file of results (T4) of Kernel Tuner, a journal or SQLite storage of Optuna, or
the SQLite storage of mlos_bench. --of names one of several studies or experiments.
With --write nothing goes on record: the runs are written as a table with its study
file, for assay bench among others.`,
		Example: `  assay study import table.yaml --study earlier
  assay study import cache.json --minimize time
  assay study import mlos_bench.sqlite --of redis --write redis.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.problem(cmd.Context(), s, args[0])
			if err != nil || p == nil {
				return err
			}
			h, err := setup.OpenStore(cmd.Context(), sf.store)
			if err != nil {
				return err
			}
			defer h.Close()
			name := cmp.Or(f.name, p.Name())
			trials, err := p.Import(cmd.Context(), h, name)
			if err != nil {
				return taken(err)
			}
			_, err = fmt.Fprintf(s.out, "%s: %s\n", report.Visible(name), result.CountTrials(trials).Text())
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.name, "study", "", "name of the study (default: the name in the file, or the file's)")
	fl.StringVar(&f.of, "of", "", "the `study` or experiment, if a file of another tuner has several")
	fl.StringVar(&f.minimize, "minimize", "", "`metric` of another tuner to minimize")
	fl.StringVar(&f.maximize, "maximize", "", "`metric` of another tuner to maximize")
	fl.StringVar(&f.like, "like", "",
		"the study `FILE.yaml` to help: gives the types of parameters and the objective")
	fl.StringVar(&f.write, "write", "", "write a study file `FILE.yaml` and FILE.csv instead")
	return cmd
}

// problem returns the problem of a file, or none if it was written.
func (f *importFlags) problem(ctx context.Context, s streams, file string) (*setup.Problem, error) {
	if !setup.IsForeign(file) {
		if f.of != "" || f.minimize != "" || f.maximize != "" || f.write != "" || f.like != "" {
			return nil, usagef("--of, --minimize, --maximize, --like and --write need a file of another tuner, which %s is not",
				file)
		}
		return bench.Source{File: file, For: "import", Warn: warnings(s.err)}.Table()
	}
	if f.minimize != "" && f.maximize != "" {
		return nil, usagef("--minimize and --maximize exclude each other")
	}
	st, err := setup.ReadForeign(ctx, file, f.of)
	if err != nil {
		return nil, err
	}
	if f.like != "" {
		if err := f.fit(s, st); err != nil {
			return nil, err
		}
	}
	way := ""
	switch {
	case f.minimize != "":
		way = "minimize"
	case f.maximize != "":
		way = "maximize"
	}
	if err := st.Objective(f.minimize+f.maximize, way); err != nil {
		return nil, err
	}
	st.Name = cmp.Or(f.name, st.Name)
	if f.write != "" {
		return nil, f.writeTo(s.out, st)
	}
	p, notes, err := setup.ForeignProblem(st, file)
	for _, n := range notes {
		warnings(s.err)(n)
	}
	return p, err
}

// fit takes the types of parameters, and the objective unless a flag names one, from the study that is to benefit.
func (f *importFlags) fit(s streams, st *exchange.Study) error {
	def, err := loadStudy(s.err, f.like, nil)
	if err != nil {
		return err
	}
	st.Types = map[string]string{}
	for _, p := range def.Params {
		st.Types[p.Name] = p.Type
	}
	for _, p := range st.Parameters {
		if st.Types[p] == "" {
			return usagef("%s has no parameter %q, which %s has: it cannot help that study", f.like, p, st.Name)
		}
	}
	if len(st.Types) != len(st.Parameters) {
		return usagef("%s has %d parameters, and %s %d: it cannot help that study", f.like, len(st.Types), st.Name,
			len(st.Parameters))
	}
	if f.minimize == "" && f.maximize == "" {
		if metric := cmp.Or(def.Objective.Metric, "elapsed"); def.Objective.Maximize {
			f.maximize = metric
		} else {
			f.minimize = metric
		}
	}
	return nil
}

// writeTo writes the study as a table and its study file.
func (f *importFlags) writeTo(w io.Writer, st *exchange.Study) error {
	if ext := filepath.Ext(f.write); ext != ".yaml" && ext != ".yml" {
		return usagef("--write %s: the name of a study file ends in .yaml", f.write)
	}
	if err := setup.WriteForeign(st, f.write); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %d runs of %s\n", report.Visible(f.write), len(st.Runs), report.Visible(st.Tool))
	return err
}
