package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/setup"
)

// outputCommand shows the output of a trial's run, from the local record or from a server.
func outputCommand(s streams, f *studyFlags) *cobra.Command {
	remote := &remoteFlags{}
	follow, stderr := false, false
	cmd := &cobra.Command{
		Use: "output STUDY TRIAL", Short: "print the kept output of a trial's run", Args: cobra.ExactArgs(2),
		ValidArgsFunction: f.complete,
		Long: `output prints the kept output of a trial's run. With --server or --follow, it asks
a server, which also has the output of a running trial: the last 4 KiB of each
heartbeat. --follow continues until the run ends.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := trialNumber(args[1])
			if err != nil {
				return err
			}
			if remote.server == "" && !follow {
				return f.with(cmd.Context(), args, func(ctx context.Context, h *setup.Store, args []string) error {
					return showOutput(ctx, s.out, h, args[0], id, stderr)
				})
			}
			c, err := remote.client()
			if err != nil {
				return err
			}
			defer c.Close()
			_, tty := terminal(s.out)
			from := api.Follow{Study: args[0], Trial: id, Stderr: stderr, Until: follow, Shown: tty}
			return from.Copy(cmd.Context(), c, s.out)
		},
	}
	remote.instead(cmd)
	cmd.Flags().BoolVar(&stderr, "stderr", false, "the error output")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the run ends")
	return cmd
}

// trialNumber reads the number of a trial.
func trialNumber(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, usagef("%q is not the number of a trial", text)
	}
	return id, nil
}

// filesCommand lists the files kept of a run on a server, and downloads them.
func filesCommand(s streams) *cobra.Command {
	f := &remoteFlags{}
	to := ""
	cmd := f.command("files STUDY TRIAL [NAME]", "the files that a run on a server has left", cobra.RangeArgs(2, 3),
		func(ctx context.Context, c *api.Client, args []string) error {
			id, err := trialNumber(args[1])
			if err != nil {
				return err
			}
			all, err := c.Files(ctx, args[0], id)
			if err != nil {
				return err
			}
			switch {
			case len(args) == 3:
				return all.Fetch(ctx, c, s.out, args[2], to)
			case to != "":
				return all.FetchAll(ctx, c, s.out, to, warnings(s.err))
			case f.json:
				return writeJSON(s.out, all)
			}
			return all.Write(s.out, palette(s.out))
		})
	f.add(cmd)
	cmd.Flags().StringVarP(&to, "output", "o", "", "write the file to a `path`; without NAME, all files into a directory")
	cmd.Example = "  assay study files x264 17\n  assay study files x264 17 x264.log -o best.log\n  assay study files " +
		"x264 17 -o trial17"
	return cmd
}
