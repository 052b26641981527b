package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/exchange"
)

func catalogueCommand(s streams) *cobra.Command {
	var only []string
	var top int
	var names []string
	long := `catalogue asks an installed program for its settings, and prints them as the
beginning of a study file: parameters with types, ranges, defaults and units, and
the keys by which the values reach the program. Add a command.

`
	for _, p := range exchange.Programs() {
		names = append(names, p[0])
		long += fmt.Sprintf("  %-11s %s\n", p[0], p[1])
	}
	cmd := &cobra.Command{
		Use:     "catalogue " + strings.Join(names, "|"),
		Short:   "print the settings of an installed program as a study file",
		Long:    long,
		Example: "  assay catalogue gcc --top 20 >study.yaml\n  assay catalogue postgresql --only '*_mem,enable_*'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if top < 0 || cmd.Flags().Changed("top") && top == 0 {
				return usagef("--top %d: at least 1", top)
			}
			signals := interrupts(cmd.Context())
			defer signals.Stop()
			c, err := exchange.Ask(signals.Hard, args[0])
			if err != nil {
				return err
			}
			if err := c.Select(signals.Hard, only, top); err != nil {
				return err
			}
			return c.Write(s.out)
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "`NAME,...` of settings; * stands for any letters")
	cmd.Flags().IntVar(&top, "top", 0, "the first `N` settings only (default all)")
	return cmd
}
