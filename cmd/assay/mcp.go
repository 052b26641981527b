package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/mcp"
	"github.com/assay-run/assay/internal/term"
)

func mcpCommand(s streams) *cobra.Command {
	var store string
	f := &remoteFlags{}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "serve a coding agent by the Model Context Protocol on standard input and output",
		Long: `mcp serves the Model Context Protocol on standard input and output. An agent checks
study files, runs studies and comparisons within a stated budget, and reads answers
with their intervals. Its commands run in this directory with the rights of this
process. When the input ends, runs on this machine end, and finished trials are on
record; studies on a server go on. See docs/agents.md.`,
		Example: `  claude mcp add assay -- assay mcp
  assay mcp --server https://lab.example.org:7700 --token-file my.token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := mcp.Options{Version: version(), Hosted: f.server != ""}
			switch {
			case o.Hosted && store != "":
				return errTwoPlaces
			case o.Hosted:
				o.Place = []string{"--server=" + f.server, "--token-file=" + f.tokenFile}
			default:
				o.Place = []string{"--store=" + cmp.Or(store, "sqlite:")}
			}
			ctx, stop := term.UntilSignal(cmd.Context())
			defer stop()
			return mcp.Serve(ctx, o, mcp.Stdio(s.in, s.out))
		},
	}
	cmd.Flags().StringVar(&store, "store", "", "where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	f.instead(cmd)
	return cmd
}
