package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/planning"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runPlanRequests is assay plan --write: the requests to a batch system.
func runPlanRequests(cmd *cobra.Command, args []string, f *planFlags) error {
	format, file, err := planning.ParseRequestFormat(f.write)
	if err != nil {
		return err
	}
	local := []string{"write", "assume", "failures", "json"}
	var other string
	cmd.LocalNonPersistentFlags().VisitAll(func(fl *pflag.Flag) {
		if fl.Changed && !slices.Contains(local, fl.Name) {
			other = fl.Name
		}
	})
	if other != "" {
		return usagef("--%s with --write: it does not affect requests", other)
	}
	o := planning.RequestOptions{Failures: f.fails, Assume: f.assume}
	p, err := planning.MakeRequests(planning.Disk, args, format, o)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if file == "" {
		if f.json {
			return p.WriteJSON(out)
		}
		return format.Write(out, p)
	}
	if format.File != "" {
		if err := os.MkdirAll(file, 0o750); err != nil {
			return files.Mistaken(err)
		}
		file = filepath.Join(file, format.File)
	}
	if err := ours(file); err != nil {
		return err
	}
	if err := writeFile(file, func(w io.Writer) error { return format.Write(w, p) }); err != nil {
		return err
	}
	if f.json {
		return p.WriteJSON(out)
	}
	return p.WriteText(out)
}

// ours returns an error if a file is there that was not written by this command.
func ours(file string) error {
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return files.Mistaken(err)
	}
	defer in.Close()
	if info, err := in.Stat(); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a terminal or a pipe
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(in, head)
	if !bytes.Contains(head[:n], []byte(planning.Mark)) {
		return usagef("%s is there, and was not written by assay plan: name another file, or remove it", file)
	}
	return nil
}
