package server

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/worker"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// A Worker has the settings of a worker's command line.
type Worker struct {
	Server    string // unix:PATH, tls://HOST:PORT, https://HOST:PORT of the API; "" is the server of this user
	TokenFile string
	Creds     string // a file with credentials, for NATS that is elsewhere
	API       string // where the API of the server is, unix:PATH or https://HOST:PORT; "" is found by Server
	Dir       string // "" is one for this server and name
	Name      string
	Slots     int
	Apps      string // a file
	Accept    bool
	Labels    map[string]string
	Until     time.Time
	Alone     time.Duration
	Idle      time.Duration
	Cache     int64 // bytes of inputs that are kept; 0 means 10 GiB
	Keep      time.Duration
	Version   string
	Drain     <-chan struct{}
	Out       io.Writer
	Log       *slog.Logger // receives warnings and, if Out is nil, the lines for Out too; it may be nil
}

// log returns the log, which may discard its lines.
func (o Worker) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// Work is a worker until it is drained, or ctx is done. In an allocation of Slurm it ends before that does.
func Work(ctx context.Context, o Worker) error {
	if a, is := onNode(); is {
		return workOn(ctx, o, a)
	}
	return work(ctx, o)
}

// work runs a worker of the directory o.Dir or, without one, of a directory for its name.
func work(ctx context.Context, o Worker) error {
	apps, err := o.apps()
	if err != nil {
		return err
	}
	bus, files, err := o.entry()
	if err != nil {
		return err
	}
	if o.Dir == "" {
		if o.Dir, err = workerHome(o.Name); err != nil {
			return err
		}
	}
	if bus.Worker, err = worker.Identity(o.Dir, bus.Worker); err != nil {
		return err
	}
	machine := worker.ThisMachine()
	bus.Class = machine.Class()
	conn, err := jetstream.Dial(ctx, bus)
	if err != nil {
		return err
	}
	defer conn.Close()
	store, err := filesOf(o, bus.URL, files)
	if err != nil {
		return err
	}
	runner, closeRunner, err := setup.Jobs(o.Accept, func(text string) { o.log().Warn(text) })
	if err != nil {
		return err
	}
	defer func() { _ = closeRunner() }() // nothing runs
	tracer, err := openTracer("assay-worker", o.Version)
	if err != nil {
		return err
	}
	defer func() { _ = tracer.close() }() // the collector is away
	ran := func(id assay.RunID, start, end time.Time, failure string) {
		tracer.send(span{name: runSpan, id: id, start: start, end: end, worker: o.Name, failure: failure})
	}
	return worker.Run(ctx, worker.Options{
		Control: conn.Control(), Carrier: conn.Carrier(), Runner: runner, Apps: apps, Accept: o.Accept, Dir: o.Dir,
		ID: bus.Worker, Slots: o.Slots, Name: o.Name, Labels: o.Labels, Version: o.Version, Until: o.Until,
		Alone: o.Alone, Idle: o.Idle, Drain: o.Drain, Out: o.Out, Log: o.Log, Machine: machine,
		Blobs: store, Cache: o.Cache, Keep: o.Keep, Ran: ran,
	})
}

// apps returns the applications of a worker, nil if it has none and runs any program.
func (o Worker) apps() (*spec.Apps, error) {
	if o.Apps != "" {
		return spec.LoadApps(o.Apps)
	}
	if !o.Accept {
		return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "a worker without an application runs nothing"),
			"--apps FILE names its applications; with --accept-commands authors of the server run any program as this user")
	}
	return nil, nil
}

// entry returns the addresses and credentials for the queue and the files of the worker's server. Worker of the queue
// is the prefix of its ID.
func (o Worker) entry() (bus jetstream.Options, files api.ClientOptions, err error) {
	scheme, _, _ := strings.Cut(o.Server, ":")
	if o.Creds != "" && (o.TokenFile != "" || scheme != "nats" && scheme != "tls") {
		return bus, files, assay.WithHint(assay.Errorf(assay.ClassUsage,
			"--creds %s: credentials are for NATS that is elsewhere", o.Creds), "--server nats://HOST:PORT")
	}
	bus = jetstream.Options{Creds: o.Creds, Log: o.Log, Worker: "worker"}
	if bus.URL, err = fleetURL(o.Server); err != nil {
		return bus, files, err
	}
	if o.TokenFile == "" {
		if strings.HasPrefix(bus.URL, "tls:") && o.Creds == "" {
			err = assay.Errorf(assay.ClassUsage, "%s: a worker needs a token (--token-file)", bus.URL)
		}
		return bus, files, err
	}
	t, err := access.ReadCredential(o.TokenFile)
	if err != nil {
		return bus, files, err
	}
	if t.Kind != "worker" {
		return bus, files, assay.Errorf(assay.ClassUsage,
			"%s is the token of a person: a worker needs one of the role worker", o.TokenFile)
	}
	files.Token, files.CA = t.Bearer(), t.CA
	if bus.Token, bus.Worker = t.Bearer(), t.Name; t.CA != "" {
		bus.TLS = access.Pinned(t.CA)
	}
	return bus, files, nil
}

// filesOf returns access to the files of the server of a worker whose queue is at url. It is nil if the address of the
// server's API is unknown, as with an external NATS.
func filesOf(o Worker, url string, c api.ClientOptions) (worker.Blobs, error) {
	if c.Address = o.API; c.Address == "" {
		scheme, rest, _ := strings.Cut(url, ":")
		switch scheme {
		case "unix":
			c.Address = "unix:" + filepath.Join(filepath.Dir(rest), api.SocketName)
		case "tls":
			at, err := beside(strings.TrimSuffix(strings.TrimPrefix(rest, "//"), "/"), -1)
			if err != nil {
				return nil, nil //nolint:nilerror // reported at the first fetch
			}
			c.Address = "https://" + at
		default:
			return nil, nil
		}
	}
	if strings.HasPrefix(c.Address, "https:") && c.Token == "" {
		return nil, nil
	}
	client, err := api.NewClient(c)
	if err != nil {
		return nil, err
	}
	return client, nil
}

// fleetURL returns the URL of a server's queue, from the address of the server.
func fleetURL(server string) (string, error) {
	if server == "" {
		var err error
		if server, err = api.DefaultAddress(); err != nil {
			return "", err
		}
	}
	scheme, rest, _ := strings.Cut(server, ":")
	switch scheme {
	case "unix":
		if filepath.Base(rest) == api.SocketName {
			rest = filepath.Join(filepath.Dir(rest), FleetSocket)
		}
		if _, err := os.Stat(rest); err != nil {
			return "", assay.WithHint(
				assay.Errorf(assay.ClassUnavailable, "no server answers at %s", server), "assay server starts one")
		}
		return "unix:" + rest, nil
	case "https":
		at, err := next(strings.TrimSuffix(strings.TrimPrefix(rest, "//"), "/"))
		return "tls://" + at, err
	case "tls", "nats":
		return server, nil
	}
	return "", assay.Errorf(assay.ClassUsage,
		"--server %s: not an address: unix:/PATH, tls://HOST:PORT or https://HOST:PORT", server)
}

// workerHome returns the directory of a worker of this user.
func workerHome(name string) (string, error) {
	dir, err := api.DefaultDir()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	return filepath.Join(filepath.Dir(dir), "worker", filepath.Base(cmp.Or(name, host))), nil
}
