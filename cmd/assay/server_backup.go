package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/server"
)

// backupCommands are the subcommands of server that copy its store. The directory is a flag of server.
func backupCommands(s streams, dir *string) []*cobra.Command {
	at, replace := "", false
	do := func(
		cmd *cobra.Command, save func(context.Context, server.Options, string) (server.Saved, error),
	) *cobra.Command {
		cmd.Args = cobra.ExactArgs(1)
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			w, err := save(cmd.Context(), server.Options{Dir: *dir, Store: at}, args[0])
			for _, p := range w.Problems {
				fmt.Fprintln(s.err, report.Visible(p.String()))
			}
			if err != nil {
				return err
			}
			return w.Write(s.out)
		}
		cmd.Flags().StringVar(&at, "store", "", "the --store of the server (default in --data)")
		return cmd
	}
	backup := do(&cobra.Command{
		Use:   "backup FILE",
		Short: "copy the store of a server, which may run, into a new file",
		Long: `backup copies the studies of a server into a new file, as they are at one moment,
and checks the copy as assay study fsck does. FILE is a store: every command reads it
with --store FILE. The server may run; it need not.

FILE does not have the tokens, the authority and the audit of the server, nor inputs
and outputs of runs. The command prints the line that saves these. It prints the line
of pg_dump if the store is in PostgreSQL.`,
		Example: "  assay server backup /backup/assay-$(date +%F).db",
	}, server.Backup)
	restore := do(&cobra.Command{
		Use:   "restore FILE",
		Short: "put a backup in the place of the store of a server that does not run",
		Long: `restore checks a backup as assay study fsck does, and puts a copy of it in the
place of the server's store. It refuses if a process has the store open, and if there
is a store, unless --replace is given; the former store is kept under another name.`,
		Example: "  assay server restore /backup/assay-2026-01-31.db --data /srv/assay",
	}, func(ctx context.Context, o server.Options, file string) (server.Saved, error) {
		return server.Restore(ctx, o, file, replace)
	})
	restore.Flags().BoolVar(&replace, "replace", false, "replace a store that is there; it is kept under another name")
	return []*cobra.Command{backup, restore}
}
