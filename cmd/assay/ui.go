package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/setup"
)

func uiCommand(s streams) *cobra.Command {
	f := &remoteFlags{}
	o := server.UI{}
	store, noBrowser := "", false
	cmd := &cobra.Command{
		Use:   "ui [flags]",
		Short: "look at studies in a browser",
		Long: `ui shows the pages of a server in a browser: the studies, their results and their
cost. It serves them on this machine's loopback while it runs, and passes their
requests on to the server, with its token. The address that it prints has a code
that lets one browser in, once.

Without a server that answers, or with --store, it shows the pages of a store,
read-only: they follow an assay tune in another terminal.`,
		Example: `  assay ui
  assay ui --server https://lab.example.org:7700 --token-file my.token
  assay ui --store assay.db --no-browser`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked := cmp.Or(f.server, os.Getenv("ASSAY_SERVER")) != ""
			if f.server != "" && store != "" {
				return usagef("--server and --store: the pages are of one of them")
			}
			if store == "" {
				c, err := f.client()
				if err != nil {
					return err
				}
				defer c.Close()
				o.Client = c
			}
			if store != "" || !asked {
				o.Store = func(ctx context.Context) (*setup.Store, error) { return setup.ReadStore(ctx, store) }
			}
			o.Version = version()
			ctx, stop := term.UntilSignal(cmd.Context())
			defer stop()
			return server.ServeUI(ctx, o, func(p server.Shown) {
				if f.json {
					_ = writeJSON(s.out, p) // the pages are there without a reader
				} else {
					fmt.Fprintln(s.out, p.URL)
					looks := ""
					if p.ReadOnly {
						looks = ", where nothing can be changed"
					}
					fmt.Fprintf(s.err, "pages of %s%s; Ctrl-C ends them\n", report.Visible(p.Of), looks)
				}
				if !noBrowser {
					browse(p.URL)
				}
			})
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&store, "store", "", "look at the `store` at this address, and ask no server")
	fl.StringVar(&o.Listen, "listen", "127.0.0.1:0", "`address` of this machine's loopback; port 0 is a free one")
	fl.BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// browse opens an address in the user's browser, if one is available. It is no error if not: the address is printed.
func browse(url string) {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	opener := exec.Command("xdg-open", url)
	if opener.Start() == nil {
		go func() { _ = opener.Wait() }()
	}
}
