package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

// remoteFlags are the flags of requests to a server.
type remoteFlags struct {
	server    string
	tokenFile string
	json      bool
}

// add adds the flags to a command and its subcommands.
func (f *remoteFlags) add(cmd *cobra.Command) {
	f.flags(cmd, "`address` of the server, unix:/PATH or https://HOST:PORT (default $ASSAY_SERVER, or this user's server)")
}

// instead adds the flags to a command that looks at a store unless a server is named.
func (f *remoteFlags) instead(cmd *cobra.Command) {
	f.flags(cmd, "look on the server at `address`, unix:/PATH or https://HOST:PORT, in place of --store (default "+
		"$ASSAY_SERVER without --store)")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if f.server == "" && !cmd.Flags().Changed("store") {
			f.server = os.Getenv("ASSAY_SERVER")
		}
		return nil
	}
}

func (f *remoteFlags) flags(cmd *cobra.Command, usage string) {
	fl := cmd.PersistentFlags()
	fl.StringVar(&f.server, "server", "", usage)
	fl.StringVar(&f.tokenFile, "token-file", "",
		"`file` with the token for a server elsewhere (default $ASSAY_TOKEN_FILE)")
}

// client returns a client of the server.
func (f *remoteFlags) client() (*api.Client, error) {
	return api.Open(cmp.Or(f.server, os.Getenv("ASSAY_SERVER")), cmp.Or(f.tokenFile, os.Getenv("ASSAY_TOKEN_FILE")))
}

// command returns a subcommand that asks a server.
func (f *remoteFlags) command(
	use, short string, args cobra.PositionalArgs, do func(context.Context, *api.Client, []string) error,
) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client()
			if err != nil {
				return err
			}
			defer c.Close()
			return do(cmd.Context(), c, args)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON, one object a line where there are several")
	return cmd
}

// parent returns a command that has only subcommands.
func parent(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

func queueCommand(s streams) *cobra.Command {
	f := &remoteFlags{}
	cmd := parent("queue", "show and change the queue of a server")
	f.add(cmd)
	limit, study, reason := 0, "", ""
	ls := f.command("ls", "list running trials, and waiting trials in the order of claims", cobra.NoArgs,
		func(ctx context.Context, c *api.Client, _ []string) error {
			queue, err := c.Queue(ctx, study, limit)
			if err != nil {
				return err
			}
			return printedRows(nil, f.json, s.out, queue.Entries, func(_ []api.Entry, w io.Writer, p report.Palette) error {
				return queue.Write(w, p)
			})
		})
	ls.Flags().IntVar(&limit, "limit", 100, "most that are listed")
	ls.Flags().StringVar(&study, "study", "", "list only the trials of a `study`")
	move := func(do, done string) func(context.Context, *api.Client, []string) error {
		return func(ctx context.Context, c *api.Client, args []string) error {
			studies, trials, err := api.ParseTrials(args)
			if err != nil {
				return err
			}
			for _, name := range studies {
				st, err := c.Move(ctx, name, trials[name], api.Change{Do: do, Reason: reason})
				if err != nil {
					return err
				}
				if err := f.said(s.out, st, "%s: %s %s", name, api.TrialsText(trials[name]), done); err != nil {
					return err
				}
			}
			return nil
		}
	}
	first := f.command("first STUDY/TRIAL...", "have trials run before all others of their study", cobra.MinimumNArgs(1),
		move("first", "next"))
	discard := f.command("discard STUDY/TRIAL...", "take trials back: they are not run, or no further",
		cobra.MinimumNArgs(1), move("discard", "withdrawn"))
	discard.Flags().StringVar(&reason, "reason", "", "why, for the record")
	restore := f.command("restore STUDY/TRIAL...",
		"undo first and discard for trials that no worker has claimed: a discarded trial is offered again, with a new "+
			"number",
		cobra.MinimumNArgs(1), move("restore", "restored"))
	for _, c := range []*cobra.Command{first, discard, restore} {
		c.Example = "  assay queue " + c.Name() + " x264/21 x264/30..39"
	}
	cmd.AddCommand(ls, first, discard, restore)
	return cmd
}

// said prints the result of a write: the object as JSON, or a line.
func (f *remoteFlags) said(w io.Writer, v any, format string, args ...any) error {
	if f.json {
		return writeJSON(w, v)
	}
	_, err := fmt.Fprintln(w, report.Visible(fmt.Sprintf(format, args...)))
	return err
}

func workersCommand(s streams) *cobra.Command {
	f := &remoteFlags{}
	cmd := parent("workers", "the machines that make the runs of a server")
	f.add(cmd)
	cmd.AddCommand(f.command("ls", "list the workers", cobra.NoArgs,
		func(ctx context.Context, c *api.Client, _ []string) error {
			all, err := c.Workers(ctx)
			return printedRows(err, f.json, s.out, all, api.WriteWorkers)
		}))
	for _, v := range [][2]string{
		{"drain", "have workers take nothing more, and end when nothing runs"},
		{"evict", "have workers end their runs, and end"},
		{"resume", "take an order back"},
	} {
		cmd.AddCommand(f.command(v[0]+" WORKER...", v[1], cobra.MinimumNArgs(1),
			func(ctx context.Context, c *api.Client, args []string) error {
				var all []api.Worker
				for _, who := range args {
					w, err := c.Order(ctx, who, v[0])
					if err != nil {
						return err
					}
					all = append(all, w...)
				}
				return printedRows(nil, f.json, s.out, all, api.WriteWorkers)
			}))
	}
	return cmd
}

func tokenCommand(s streams) *cobra.Command {
	f := &remoteFlags{}
	cmd := parent("token", "manage the access tokens of a server")
	f.add(cmd)
	var t api.NewToken
	var role, lasts string
	add := f.command("add", "make a token, and print it: it is shown once", cobra.NoArgs,
		func(ctx context.Context, c *api.Client, _ []string) error {
			t.Role = api.Role(role)
			if lasts != "" {
				d, err := api.ParseLasts(lasts)
				if err != nil {
					return err
				}
				t.Lasts = api.Int(d / time.Second)
			}
			if err := access.Conceal(s.out); err != nil {
				return err
			}
			secret, err := c.AddToken(ctx, t)
			if err != nil {
				return err
			}
			if f.json {
				return writeJSON(s.out, secret)
			}
			_, err = fmt.Fprintln(s.out, secret.Secret)
			return err
		})
	fl := add.Flags()
	fl.StringVar(&t.Name, "name", "", "its `name`, of letters, digits, - and _")
	fl.StringVar(&role, "role", "", "worker, viewer, operator, author or admin; an author defines the programs to execute")
	fl.StringSliceVar(&t.Studies, "studies", nil, "`beginnings` of the names of the studies that it is for (default all)")
	fl.StringSliceVar(&t.Apps, "apps", nil, "of a worker: `applications` that it may offer (default all)")
	fl.StringVar(&lasts, "expires", "", "how long it lasts, such as 12h or 90d (default for ever)")
	choices(add, "role", "worker", "viewer", "operator", "author", "admin")
	for _, need := range []string{"name", "role"} {
		_ = add.MarkFlagRequired(need) // it is there
	}
	add.Example = "  assay token add --name rack2 --role worker --apps x264 > rack2.token"
	ls := f.command("ls", "list the tokens, without their secrets", cobra.NoArgs,
		func(ctx context.Context, c *api.Client, _ []string) error {
			all, err := c.Tokens(ctx)
			return printedRows(err, f.json, s.out, all, api.WriteTokens)
		})
	revoke := f.command("revoke NAME...", "end tokens, and the connections that have them", cobra.MinimumNArgs(1),
		func(ctx context.Context, c *api.Client, args []string) error {
			for _, name := range args {
				if err := c.Revoke(ctx, name); err != nil {
					return err
				}
				if err := f.said(s.out, map[string]string{"revoked": name}, "revoked %s", name); err != nil {
					return err
				}
			}
			return nil
		})
	last := 0
	audit := f.command("audit", "list who made and ended tokens, and which applications workers offered", cobra.NoArgs,
		func(ctx context.Context, c *api.Client, _ []string) error {
			if last < 1 {
				return usagef("--limit %d: at least 1", last)
			}
			all, err := c.Audit(ctx, last)
			return printedRows(err, f.json, s.out, all, api.WriteAudit)
		})
	audit.Flags().IntVar(&last, "limit", 1000, "show the last `n` entries")
	cmd.AddCommand(add, ls, revoke, audit)
	return cmd
}
