package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

// applyCommand adds the command that puts a configuration into use.
func applyCommand(s streams, f *studyFlags, add func(
	use, short string, args cobra.PositionalArgs, do func(context.Context, *setup.Store, []string) error,
) *cobra.Command,
) *cobra.Command {
	var trial int64
	var dir string
	c := add("apply STUDY", "print lines that run the recommended configuration, and write its files", cobra.ExactArgs(1),
		func(ctx context.Context, h *setup.Store, args []string) error {
			return applyStudy(ctx, s, h, args[0], trial, dir)
		})
	c.Long = `apply prints the recommended configuration as lines for a shell: the directory, the
environment, the files, the prepare command, the start of the service and the
command. With -o the files are written to a directory, from which the lines copy
them; else the lines write them.`
	c.Flags().Int64Var(&trial, "trial", 0, "`number` of the trial (default: the recommended one)")
	c.Flags().StringVarP(&dir, "output", "o", "", "`directory` that the files are written to")
	f.remote.instead(c)
	return c
}

// applyStudy prints the lines that run a trial, or the recommended one if trial is 0. dir is where its files are
// written, if it is not "".
func applyStudy(ctx context.Context, s streams, h *setup.Store, name string, trial int64, dir string) error {
	r, err := result.Read(ctx, h, name)
	if err != nil {
		return err
	}
	id, config, err := r.Choose(ctx, trial)
	if err != nil {
		return err
	}
	recipe, ok, err := r.Recipe(trial, config)
	if err != nil {
		return err
	}
	if !ok {
		return usagef("study %q runs no command of its own: its configuration is %s", name, r.Params.Text(config))
	}
	all, made := recipe.Files()
	if dir != "" {
		if !made {
			return assay.WithHint(usagef("the files name the folder of a setup that was not made on this machine"),
				"without -o the lines make the setup, and write the files")
		}
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		if err := files.WriteAll(dir, all); err != nil {
			return files.Mistaken(err)
		}
	}
	_, err = fmt.Fprintf(s.out, "# study %s, trial %d: %s\n%s", report.Visible(name), id,
		report.Visible(r.Params.Text(config)), recipe.Script(dir))
	return err
}
