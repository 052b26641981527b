package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/setup"
)

// followEvery is the interval of requests while following a run.
const followEvery = 2 * time.Second

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
			return showHostedOutput(cmd.Context(), s, c, args[0], id, stderr, follow)
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

// showHostedOutput prints the output known to a server, and follows it if requested.
func showHostedOutput(ctx context.Context, s streams, c *api.Client, study string, id int64, stderr,
	follow bool,
) error {
	var seen api.Unrolled
	for {
		o, err := c.Output(ctx, study, id, 0)
		if err != nil {
			return err
		}
		text := o.Stdout.Text
		if stderr {
			text = o.Stderr.Text
		}
		news := seen.Next(o.State, o.Attempt, text)
		if _, tty := terminal(s.out); tty { // the program's output must not control this terminal
			news = report.VisibleLines(news)
		}
		if _, err := io.WriteString(s.out, news); err != nil {
			return err
		}
		if !follow || o.State == "ended" {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(followEvery):
		}
	}
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
				return fetchFile(ctx, s.out, c, all, args[2], to)
			case to != "":
				return fetchFiles(ctx, s, c, all, to)
			case f.json:
				return writeJSON(s.out, all)
			}
			return listFiles(s.out, all)
		})
	f.add(cmd)
	cmd.Flags().StringVarP(&to, "output", "o", "", "write the file to a `path`; without NAME, all files into a directory")
	cmd.Example = "  assay study files x264 17\n  assay study files x264 17 x264.log -o best.log\n  assay study files " +
		"x264 17 -o trial17"
	return cmd
}

// listFiles prints the files kept of a run.
func listFiles(w io.Writer, all api.Files) error {
	t := report.NewTable(palette(w), "file", ">bytes", "sha256")
	for _, f := range all.Files {
		hash := f.SHA256[:16]
		if !f.Here {
			hash = "not sent yet"
		}
		t.Add(f.Name, strconv.FormatInt(f.Size, 10), hash)
	}
	if len(all.Files) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	var l report.Lines
	switch {
	case all.State == "coming" && len(all.Files) == 0:
		l.Add("files", "worker %s has not sent them yet", all.Worker)
	case len(all.Files) == 0:
		l.Add("files", "none was kept")
	}
	for _, left := range all.Left {
		l.Add("not kept", "%s: %s", report.Visible(left.Name), left.Why)
	}
	if all.More > 0 {
		l.Add("not kept", "%d more", all.More)
	}
	if all.Staged > 0 {
		l.Add("inputs", "brought to %s in %s, which is no part of the run's time", all.Worker, report.Seconds(all.Staged))
	}
	return l.Write(w)
}

// fetchFile writes a file to a path, or prints it.
func fetchFile(ctx context.Context, w io.Writer, c *api.Client, all api.Files, name, to string) error {
	r, err := c.File(ctx, all.Study, all.Trial, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if to == "" {
		_, err = io.Copy(w, r)
		return err
	}
	return writeNew(to, r)
}

// fetchFiles writes all files into a directory. The names come from the run: no path of them leads out of it.
func fetchFiles(ctx context.Context, s streams, c *api.Client, all api.Files, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usageError(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range all.Files {
		if !f.Here {
			fmt.Fprintf(s.err, "warning: %s: worker %s has not sent it yet\n", report.Visible(f.Name), all.Worker)
			continue
		}
		if err := fetchInto(ctx, c, all, root, f.Name); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(s.out, report.Visible(filepath.Join(dir, f.Name))); err != nil {
			return err
		}
	}
	return nil
}

// fetchInto writes one file below a directory.
func fetchInto(ctx context.Context, c *api.Client, all api.Files, root *os.Root, name string) error {
	r, err := c.File(ctx, all.Study, all.Trial, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if at := filepath.Dir(name); at != "." {
		if err := root.MkdirAll(at, 0o777); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return usagef("%s is there already: nothing is written over", filepath.Join(root.Name(), name))
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// writeNew writes a file, replacing an existing one.
func writeNew(path string, r io.Reader) error {
	if strings.HasSuffix(path, "/") {
		return usagef("-o %s: it is a directory; NAME goes to a file", path)
	}
	return files.Mistaken(files.Write(path, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}))
}
