package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/pages"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/workflow"
)

// reportFlags are the flags of report.
type reportFlags struct {
	out, price, store string
	remote            remoteFlags
}

func reportCommand(s streams) *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report STUDY...",
		Short: "write one HTML file that shows studies, and needs no network",
		Long: `report writes a page of one file: the answer and its command, the best so far over
trials, time and money, whether it is luck, the effect of the parameters, all
trials, and the study file. Several studies are compared.

The file holds all that is on record of the studies. It loads nothing and sends
nothing, and only its own script can run in it, for any content of names and values.`,
		Example: `  assay report zstd -o zstd.html
  assay report before after --price 0.04/h -o compared.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s.out, args) },
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		sf := &studyFlags{store: f.store}
		return sf.complete(cmd, nil, word)
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "",
		"`file` to write, - for the standard output (default the first study's name with .html)")
	cmd.Flags().StringVar(&f.price, "price", "", "`PRICE` of a run's time: 0.04/h, or a number for a second; shows money")
	cmd.Flags().StringVar(&f.store, "store", "", "where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	f.remote.instead(cmd)
	return cmd
}

func (f *reportFlags) run(ctx context.Context, w io.Writer, names []string) error {
	o := pages.Options{
		Priced: f.price, Version: version(), Again: "assay " + report.ShellQuote(commandLine()), Now: time.Now(),
	}
	if f.price != "" {
		p, err := workflow.ParsePrice(f.price)
		perSecond, ok := p.(workflow.PerSlotSecond)
		switch {
		case err != nil:
			return usageError(fmt.Errorf("--price: %w", err))
		case !ok || perSecond <= 0:
			return usagef("--price %s: a price of time is needed, such as 0.04/h", f.price)
		}
		o.Price = float64(perSecond)
	}
	h, err := readStudies(ctx, f.store, &f.remote, names...)
	if err != nil {
		return err
	}
	defer h.Close()
	var studies []*pages.Study
	for _, name := range names {
		s, err := pages.Read(ctx, h, name, o)
		if err != nil {
			return noStudy(err, name)
		}
		studies = append(studies, s)
	}
	var page bytes.Buffer
	if err := pages.Write(&page, studies, o); err != nil {
		return err
	}
	file := f.out
	if file == "-" {
		_, err := w.Write(page.Bytes())
		return err
	}
	if file == "" {
		if file = names[0] + ".html"; !filepath.IsLocal(file) || filepath.Base(file) != file {
			return usagef("the study's name is not a file name: give -o FILE")
		}
	}
	if err := files.WriteFile(file, page.Bytes(), 0o644); err != nil {
		return files.Mistaken(err)
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s, %s\n", report.Visible(file), report.Count(len(studies), "study", "studies"),
		report.Bytes(float64(page.Len())))
	return err
}
