package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/internal/workbench"
	"github.com/assay-run/assay/spec"
)

type profileFlags struct {
	dir    string
	host   string
	listen string
	data   string
	time   string
	json   bool
}

func profileCommand(s streams) *cobra.Command {
	f := &profileFlags{}
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "measure this machine, its network and its storage",
		Long: `profile measures processor, memory, network and storage with kernels of its own
and prints each attribute with its 95 % interval: the resource profile of a cost
model. The network is the loopback interface, or the network to --host, where
assay profile --listen must run. Storage is measured in --dir.

Nothing else should run meanwhile. docs/format/profile.md has every attribute.`,
		Example: `  assay profile --dir /mnt/data
  assay profile --listen 10.0.0.7:7001        # on one host, and on the other
  assay profile --host 10.0.0.7:7001 --json
  assay profile --data input/                 # a data set in place of the machine`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "dir", "",
		"`directory` whose storage is measured, in a file of at most 64 MiB that is gone afterwards; none if absent")
	fl.StringVar(&f.host, "host", "",
		"`address` of a host that runs assay profile --listen (default: the loopback interface)")
	fl.StringVar(&f.listen, "listen", "",
		"answer a profile on another host at this `address`, until interrupted; "+
			"any host that reaches it can use this network")
	fl.StringVar(&f.data, "data", "", "profile a data set, a `directory` or file, in place of the machine")
	fl.StringVar(&f.time, "time", "",
		"how long it takes, from 1s to 1h; a busy machine is observed less in it (default 15s)")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *profileFlags) run(cmd *cobra.Command, s streams) error {
	for _, alone := range []string{"listen", "data"} {
		for _, other := range []string{"dir", "host", "time", "listen", "data"} {
			if other != alone && cmd.Flags().Changed(alone) && cmd.Flags().Changed(other) {
				return usagef("--%s and --%s exclude each other", alone, other)
			}
		}
	}
	for _, a := range []struct{ flag, address string }{{"host", f.host}, {"listen", f.listen}} {
		if _, _, err := net.SplitHostPort(a.address); a.address != "" && err != nil {
			return usagef("--%s %s: not an address such as 10.0.0.7:7001", a.flag, a.address)
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), term.EndSignals()...)
	defer stop()
	switch {
	case f.listen != "":
		return f.answer(ctx, s)
	case f.data != "":
		return f.profileData(ctx, s.out)
	}
	o := workbench.ProfileOptions{Dir: f.dir, Host: f.host, Seed: 1}
	if f.time != "" {
		d, err := spec.ParseDuration(f.time)
		if err != nil || d < time.Second || d > time.Hour {
			return usagef("--time %s: not a duration from 1s to 1h", f.time)
		}
		o.Time = d
	}
	status := term.StatusOn(s.err)
	o.Note = func(attribute string) { status.Set("measuring " + attribute) }
	p, err := workbench.MeasureProfile(ctx, o)
	status.Close()
	if err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(s.err, "interrupted")
			return &exitError{interruptCode(syscall.SIGINT)}
		}
		return files.Mistaken(err)
	}
	if f.json {
		return writeJSON(s.out, result.NewProfile(p))
	}
	return result.WriteProfile(p, s.out, palette(s.out))
}

// answer serves profiles on other hosts until ctx is done.
func (f *profileFlags) answer(ctx context.Context, s streams) error {
	r, err := workbench.ListenProfile(ctx, f.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "listening on %s\n", r.Addr())
	<-ctx.Done()
	return r.Close()
}

func (f *profileFlags) profileData(ctx context.Context, w io.Writer) error {
	p, err := workbench.ProfileData(ctx, f.data)
	if err != nil {
		return files.Mistaken(err)
	}
	return printed(nil, f.json, w, result.NewDataProfile(f.data, p), result.DataProfile.Write)
}
