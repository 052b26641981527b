package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/setup"
)

func buildsCommand(s streams) *cobra.Command {
	var asJSON, clear bool
	cmd := &cobra.Command{
		Use:   "builds",
		Short: "list the builds of the studies' setups that are kept for reuse",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if clear {
				return clearBuilds(s.out)
			}
			return listBuilds(s.out, asJSON)
		},
	}
	cmd.Flags().BoolVar(&clear, "clear", false, "remove all builds that are not in use")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

func listBuilds(w io.Writer, asJSON bool) error {
	cache, err := setup.Builds()
	if err != nil {
		return err
	}
	all, err := cache.List()
	if err != nil {
		return err
	}
	t := report.NewTable(palette(w), "last used", ">size", ">took", "directory", "command")
	for _, b := range all {
		if asJSON {
			if err := writeJSON(w, b); err != nil {
				return err
			}
			continue
		}
		t.Add(b.Used.Local().Format(time.DateTime), report.Metric(float64(b.Bytes), "B"), report.Seconds(b.Took.Seconds()),
			b.Dir, report.ShellQuote(slices.Concat(b.Env, b.Command)))
	}
	switch {
	case asJSON:
		return nil
	case t.Len() == 0:
		_, err := fmt.Fprintln(w, "no builds")
		return err
	}
	return t.Write(w)
}

func clearBuilds(w io.Writer) error {
	cache, err := setup.Builds()
	if err != nil {
		return err
	}
	removed, kept, err := cache.Clear()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("removed %d builds", removed)
	if kept > 0 {
		text += fmt.Sprintf("; %d are in use", kept)
	}
	_, err = fmt.Fprintln(w, text)
	return err
}
