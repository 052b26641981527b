package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/setup"
)

// shimCommand is the program that a job of a batch system starts.
func shimCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use: "shim DIR", Short: "make the run of an attempt in the spool of a batch system", Args: cobra.ExactArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, end := context.WithCancelCause(cmd.Context())
			defer end(nil)
			ch := make(chan os.Signal, 1)
			signal.Notify(ch, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
			defer signal.Stop(ch)
			go func() {
				<-ch
				end(batch.ErrTerm)
			}()
			code, err := setup.Shim(ctx, args[0])
			if err != nil {
				warnings(s.err)(err.Error())
			}
			if code == 0 && err == nil {
				return nil
			}
			return &exitError{max(code, 1)}
		},
	}
}
