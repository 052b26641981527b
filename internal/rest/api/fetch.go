package api

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

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/report"
)

// followEvery is the interval of requests while following a run.
const followEvery = 2 * time.Second

// A Follow copies the output of a trial's run from a server.
type Follow struct {
	Study  string
	Trial  int64
	Stderr bool // the error output
	Until  bool // go on until the run ends
	Shown  bool // on a terminal, which the output must not control
}

// Copy writes the output that the server knows, and with Until the rest as it is made.
func (f Follow) Copy(ctx context.Context, c *Client, w io.Writer) error {
	var seen Unrolled
	for {
		o, err := c.Output(ctx, f.Study, f.Trial, 0)
		if err != nil {
			return err
		}
		text := o.Stdout.Text
		if f.Stderr {
			text = o.Stderr.Text
		}
		news := seen.Next(o.State, o.Attempt, text)
		if f.Shown {
			news = report.VisibleLines(news)
		}
		if _, err := io.WriteString(w, news); err != nil {
			return err
		}
		if !f.Until || o.State == "ended" {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(followEvery):
		}
	}
}

// Write writes the files kept of a run as a table, and those that were not kept.
func (f Files) Write(w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "file", ">bytes", "sha256")
	for _, x := range f.Files {
		hash := x.SHA256[:16]
		if !x.Here {
			hash = "not sent yet"
		}
		t.Add(x.Name, strconv.FormatInt(x.Size, 10), hash)
	}
	if len(f.Files) > 0 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	var l report.Lines
	switch {
	case f.State == "coming" && len(f.Files) == 0:
		l.Add("files", "worker %s has not sent them yet", f.Worker)
	case len(f.Files) == 0:
		l.Add("files", "none was kept")
	}
	for _, left := range f.Left {
		l.Add("not kept", "%s: %s", report.Visible(left.Name), left.Why)
	}
	if f.More > 0 {
		l.Add("not kept", "%d more", f.More)
	}
	if f.Staged > 0 {
		l.Add("inputs", "brought to %s in %s, which is no part of the run's time", f.Worker, report.Seconds(f.Staged))
	}
	return l.Write(w)
}

// Fetch writes the file of that name to a path, which it replaces, or to w if the path is "".
func (f Files) Fetch(ctx context.Context, c *Client, w io.Writer, name, to string) error {
	r, err := c.File(ctx, f.Study, f.Trial, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if to == "" {
		_, err = io.Copy(w, r)
		return err
	}
	if strings.HasSuffix(to, "/") {
		return assay.Errorf(assay.ClassUsage, "-o %s: it is a directory; NAME goes to a file", to)
	}
	return files.Mistaken(files.Write(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}))
}

// FetchAll writes all files into a directory, and their paths to w. The names come from the run: no path of them leads
// out of it. warn is called for each file that is not there yet.
func (f Files) FetchAll(ctx context.Context, c *Client, w io.Writer, dir string, warn func(string)) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return assay.WithClass(assay.ClassUsage, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, x := range f.Files {
		if !x.Here {
			warn(fmt.Sprintf("%s: worker %s has not sent it yet", x.Name, f.Worker))
			continue
		}
		if err := f.fetchInto(ctx, c, root, x.Name); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, report.Visible(filepath.Join(dir, x.Name))); err != nil {
			return err
		}
	}
	return nil
}

// fetchInto writes one file below a directory.
func (f Files) fetchInto(ctx context.Context, c *Client, root *os.Root, name string) error {
	r, err := c.File(ctx, f.Study, f.Trial, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if at := filepath.Dir(name); at != "." {
		if err := root.MkdirAll(at, 0o777); err != nil {
			return err
		}
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return assay.Errorf(assay.ClassUsage, "%s is there already: nothing is written over",
			filepath.Join(root.Name(), name))
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return errors.Join(err, file.Close())
}
