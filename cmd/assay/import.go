package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

func importCommand(s streams, f *studyFlags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "import TABLE.yaml",
		Short: "put a recorded table on record as a study, for tune --prior",
		Long: `import makes a study of a recorded table: TABLE.yaml is a study file with replay:,
and every recorded run becomes a trial that has ended. Other studies of the same
parameters and objective can then be helped by it (assay tune --prior).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := recordedProblem(s.err, args[0], "import")
			if err != nil {
				return err
			}
			h, err := setup.OpenStore(cmd.Context(), f.store)
			if err != nil {
				return err
			}
			defer h.Close()
			name := cmp.Or(name, p.Name())
			trials, err := p.Import(cmd.Context(), h, name)
			if err != nil {
				return taken(err)
			}
			_, err = fmt.Fprintf(s.out, "%s: %s\n", report.Visible(name), result.CountTrials(trials).Text())
			return err
		},
	}
	cmd.Flags().StringVar(&name, "study", "", "name of the study (default: the name in the file, or the file's)")
	return cmd
}
