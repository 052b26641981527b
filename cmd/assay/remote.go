package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
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

// show prints rows: as JSON, or by table, with none in place of an empty one.
func show[T any](w io.Writer, asJSON bool, rows []T, t *report.Table, none string, add func(T)) error {
	for _, r := range rows {
		if !asJSON {
			add(r)
		} else if err := writeJSON(w, r); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return nil
	case len(rows) == 0:
		_, err := fmt.Fprintln(w, none)
		return err
	}
	return t.Write(w)
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
			all, total := queue.Entries, queue.Total
			var lacks []string
			t := report.NewTable(palette(s.out), "trial", "state", "application", "worker", ">for", ">silent", "configuration")
			err = show(s.out, f.json, all, t, "nothing waits, and nothing runs", func(e api.Entry) {
				silent := ""
				if e.State == "placed" {
					silent = report.Seconds(e.Silent)
				}
				if line := e.Study + " waits: " + e.Lacks; e.Lacks != "" && !slices.Contains(lacks, line) {
					lacks = append(lacks, line)
				}
				t.Add(fmt.Sprintf("%s/%d", e.Study, e.Trial), e.State, e.App, e.Worker,
					report.Duration(time.Since(e.Since).Truncate(time.Second)), silent, e.Config)
			})
			if err == nil && !f.json && total > len(all) {
				_, err = fmt.Fprintf(s.out, "and %d more (--limit)\n", total-len(all))
			}
			for _, line := range lacks {
				_, err = fmt.Fprintln(s.out, report.Visible(line))
			}
			if err == nil && !f.json && len(queue.Discarded) > 0 {
				_, err = fmt.Fprint(s.out, report.Visible(restorable(queue.Discarded))+"\n")
			}
			return err
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
				if err := f.said(s.out, st, "%s: %s %s", name, trialsText(trials[name]), done); err != nil {
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

// restorable lists the discarded trials that can be restored.
func restorable(all []api.Discarded) string {
	const most = 5
	var names []string
	for _, d := range all[max(0, len(all)-most):] {
		names = append(names, fmt.Sprintf("%s/%d", d.Study, d.Trial))
	}
	if n := len(all) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("and %d before", n))
	}
	return "discarded, and can be restored: " + strings.Join(names, " ")
}

// trialsText returns "trial 3", or "4 trials".
func trialsText(ids []int64) string {
	if len(ids) == 1 {
		return "trial " + strconv.FormatInt(ids[0], 10)
	}
	return strconv.Itoa(len(ids)) + " trials"
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
	list := func(all []api.Worker) error {
		t := report.NewTable(palette(s.out), "worker", "state", ">slots", ">running", ">done", ">silent", "applications",
			"class", "machine")
		err := show(s.out, f.json, all, t, "no worker has connected (assay worker --help)", func(w api.Worker) {
			t.Add(w.Name, w.State, fmt.Sprint(w.Slots), fmt.Sprint(w.Running), fmt.Sprint(w.Done), report.Seconds(w.Silent),
				strings.Join(w.Apps, " "), w.MachineClass, w.Machine)
		})
		for _, w := range all {
			for _, line := range w.Reasons() {
				if err == nil && !f.json {
					_, err = fmt.Fprintln(s.out, report.Visible(line))
				}
			}
		}
		return err
	}
	cmd.AddCommand(f.command("ls", "list the workers", cobra.NoArgs,
		func(ctx context.Context, c *api.Client, _ []string) error {
			all, err := c.Workers(ctx)
			if err != nil {
				return err
			}
			return list(all)
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
				return list(all)
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
				d, err := parseDays(lasts)
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
			if err != nil {
				return err
			}
			table := report.NewTable(palette(s.out), "name", "role", "studies", "applications", "expires")
			return show(s.out, f.json, all, table, "no tokens yet", func(t api.Token) {
				expires := "never"
				if t.Expires != nil {
					expires = t.Expires.Local().Format("2006-01-02 15:04")
				}
				table.Add(t.Name, string(t.Role), cmp.Or(strings.Join(t.Studies, " "), "all"), strings.Join(t.Apps, " "), expires)
			})
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
			if err != nil {
				return err
			}
			table := report.NewTable(palette(s.out), "at", "by", "what", "on", "role", "studies", "applications")
			return show(s.out, f.json, all, table, "nothing yet", func(e api.Decision) {
				table.Add(e.At.Local().Format("2006-01-02 15:04:05"), e.By, e.Do, e.On, string(e.Role),
					strings.Join(e.Studies, " "), strings.Join(e.Apps, " "))
			})
		})
	audit.Flags().IntVar(&last, "limit", 1000, "show the last `n` entries")
	cmd.AddCommand(add, ls, revoke, audit)
	return cmd
}

// parseDays reads a duration, which may be in days.
func parseDays(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, assay.Errorf(assay.ClassUsage, "--expires %s: not a duration such as 12h or 90d", text)
	}
	return d, nil
}
