package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/worker"
)

// onNode returns the allocation of Slurm in which this process is, and whether it is on a machine of one.
func onNode() (batch.Allocation, bool) {
	a, is := batch.Allocated()
	return a, is && a.Node != ""
}

// Hurries reports whether a signal ends a worker without waiting for its runs. SIGTERM does so in an allocation: Slurm
// kills the remaining processes half a minute later, and a run that is reported as ended begins elsewhere at once.
func Hurries(s os.Signal) bool {
	_, is := onNode()
	return is && s == syscall.SIGTERM
}

// neighbours is how many workers of this user one machine may have, each of another job.
const neighbours = 64

// workOn runs a worker in an allocation of Slurm: it ends with the allocation, has Slurm's name of the machine, and a
// directory of its own for the job.
func workOn(ctx context.Context, o Worker, a batch.Allocation) error {
	ends, err := a.Ends(ctx)
	switch {
	case err != nil:
		o.log().Warn(fmt.Sprintf("the end of job %s is not known (%v): --until sets the end of the worker", a.Job, err))
	case !ends.IsZero() && (o.Until.IsZero() || ends.Before(o.Until)):
		o.Until = ends
	}
	o.Name = cmp.Or(o.Name, a.Node)
	o.Labels = maps.Clone(o.Labels)
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	o.Labels["slurm_job"] = a.Job
	if !o.Until.IsZero() {
		o.say("job %s of Slurm: the worker ends by %s, and takes nothing that would last longer", a.Job,
			o.Until.Format(time.DateTime))
	}
	if o.Dir != "" {
		return work(ctx, o)
	}
	home, err := workerHome(o.Name)
	if err != nil {
		return err
	}
	for n := range neighbours {
		if o.Dir = home; n > 0 {
			o.Dir = fmt.Sprintf("%s.%d", home, n)
		}
		if worker.Taken(o.Dir) {
			continue
		}
		if err = work(ctx, o); assay.ClassOf(err) != assay.ClassLocked { // else another one was faster
			return err
		}
	}
	return assay.Errorf(assay.ClassLocked,
		"%d workers run on %s already: all directories %s.N are taken", neighbours, o.Name, home)
}

func (o Worker) say(format string, args ...any) {
	if o.Out != nil {
		_, _ = io.WriteString(o.Out, fmt.Sprintf(format, args...)+"\n")
	}
}

// Serving returns the address of a server for workers on other machines, given a user's address. The note warns of
// possible problems; the error means that no server answers there.
func Serving(server string) (address, note string, err error) {
	if address, err = fleetURL(server); err != nil {
		return "", "", err
	}
	if strings.HasPrefix(address, "unix:") {
		note = "the server answers at a socket of this machine alone: nodes of a cluster need one with --listen, and " +
			"--server tls://HOST:PORT --token-file F here"
	}
	return address, note, nil
}
