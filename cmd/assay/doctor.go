package main

import (
	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/workbench"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/setup"
)

func doctorCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "show the features of this machine: cgroups, energy meters, namespaces, Slurm",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			facts := append(run.Host(cmd.Context()), workbenchFacts()...)
			facts = append(facts, setup.BuildsFact())
			if asJSON {
				return writeJSON(s.out, map[string]any{"version": version(), "facts": facts})
			}
			p := palette(s.out)
			t := report.NewTable(p, "", "", "", "")
			for _, f := range facts {
				mark, paint := "yes", p.Good
				if !f.Available {
					mark, paint = "no", p.Note
				}
				t.Add(f.Name, mark, f.Detail, f.Hint)
				t.Paint(1, paint)
			}
			return t.Write(s.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// workbenchFacts returns which attributes of a resource assignment can be varied.
func workbenchFacts() []run.Fact {
	var facts []run.Fact
	for _, a := range workbench.Attributes() {
		f := run.Fact{Name: "workbench: " + a.Name, Available: a.Available, Detail: a.How, Hint: a.Why}
		if !a.Available {
			f.Detail, f.Hint = f.Hint, ""
		}
		facts = append(facts, f)
	}
	return facts
}
