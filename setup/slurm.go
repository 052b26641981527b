package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/run"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
	"github.com/assay-run/assay/study"
)

// Slurm is the runner that makes each run a job of Slurm.
const Slurm = spec.Slurm

// Batch is the runner that makes each run a job of the batch system that a file describes.
const Batch = spec.BatchSystem

// InBatch reports whether a runner makes runs jobs of a batch system, which outlive this process.
func InBatch(runner string) bool { return runner == Slurm || runner == Batch }

// openSlurm returns a runner on Slurm.
func openSlurm(_ context.Context, p *Problem, owner string) (opened, error) {
	system, err := batch.NewSlurm()
	if err != nil {
		return opened{}, err
	}
	return openBatch(p, owner, system)
}

// openTemplate returns a runner on the batch system that a file describes.
func openTemplate(_ context.Context, p *Problem, owner string) (opened, error) {
	b := p.Definition.Placement.Batch
	file, err := spec.LoadSystem(b.System)
	if err != nil {
		return opened{}, usageError(err)
	}
	system, err := batch.NewTemplate(file)
	if err != nil {
		return opened{}, err
	}
	var asks []string
	for _, a := range []struct{ key, text string }{
		{"partition", b.Partition},
		{"account", b.Account},
		{"nodes", b.Nodes},
		{"cpus", b.CPUs},
		{"memory", b.Memory},
		{"gpus", b.GPUs},
	} {
		if a.text != "" {
			asks = append(asks, a.key)
		}
	}
	if err := system.Asks(asks...); err != nil {
		return opened{}, err
	}
	return openBatch(p, owner, system)
}

// openBatch returns a runner on a batch system.
func openBatch(p *Problem, owner string, system batch.System) (opened, error) {
	b := &p.Definition.Placement.Batch
	spool, err := spoolAt(cmp.Or(p.opts.Spool, b.Spool))
	if err != nil {
		return opened{}, err
	}
	shim, err := shimIn(spool)
	if err != nil {
		return opened{}, spoolError(spool, err)
	}
	walltimes := newWalltimes(p.Space, p.Goal, p.stopper)
	var bound *study.Study
	booked := map[assay.RunID]bool{}
	dir := filepath.Join(spool, studyDir(owner, p.born))
	r, err := batch.New(batch.Options{
		System: system, Dir: dir, Shim: []string{shim, "shim"}, Warn: p.opts.Warn,
		Poll: b.Poll, Request: func(job assay.Job) (batch.Request, error) { return walltimes.request(b, job) },
		Again: func(job assay.Job, had time.Duration, _ assay.Measurement) bool { return walltimes.again(job, had) },
		Record: func(ctx context.Context, events ...assay.Event) error {
			j, err := bound.Journal(ctx)
			if err != nil {
				return err
			}
			return j.Append(ctx, events...)
		},
		Booked: func(id assay.RunID) bool { return booked[id] },
	})
	if err != nil {
		return opened{}, spoolError(spool, err)
	}
	return opened{
		Runner: r, close: r.Close, record: dir + copySuffix,
		bind: func(ctx context.Context, s *study.Study) error {
			bound = s
			j, err := s.Journal(ctx)
			if err != nil {
				return err
			}
			walltimes.follow(j.Past())
			for _, e := range j.Past() {
				if e.Booked != nil {
					booked[e.Booked.RunID] = true
				}
			}
			keep := s.Output
			s.Output = func(t assay.Trial) {
				walltimes.learn(t)
				if keep != nil {
					keep(t)
				}
			}
			return nil
		},
	}, nil
}

// spoolError returns the error of a spool that cannot be used.
func spoolError(spool string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return assay.WithHint(usagef("the spool %s cannot be used: %w", spool, err),
			"--spool DIR names a directory on a file system that the machines of the jobs share")
	}
	return err
}

// spoolAt makes a directory that machines share, "" for that beside the default store, and returns its absolute path.
func spoolAt(dir string) (string, error) {
	if dir == "" {
		at, err := store.DefaultPath()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(filepath.Dir(at), "spool")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", spoolError(dir, err)
	}
	return dir, nil
}

// studyDir returns the name of the directory of a study in the spool: any text is a name of a study. A study that is
// made anew under a name is another one, and finds no runs of the first one.
func studyDir(name string, born time.Time) string {
	dir := strings.ReplaceAll(url.PathEscape(name), "%", "=") // sbatch reads % in a path as a placeholder
	if dir == "bin" || strings.HasPrefix(dir, ".") || len(dir) > 200 {
		sum := sha256.Sum256([]byte(name))
		dir = "study-" + hex.EncodeToString(sum[:8])
	}
	sum := sha256.Sum256([]byte(born.UTC().Format(time.RFC3339Nano)))
	return dir + "-" + hex.EncodeToString(sum[:4])
}

// shimIn copies this program into the spool, once for each version of it, and returns the copy's path: the machines
// need not have it, and jobs that wait start the program that has submitted them.
func shimIn(spool string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	dir := filepath.Join(spool, "bin", hex.EncodeToString(h.Sum(nil)[:8]))
	path := filepath.Join(dir, "assay")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name()) // nothing once it is renamed
	_, err = io.Copy(tmp, f)
	err = errors.Join(err, tmp.Chmod(0o700), tmp.Sync(), tmp.Close())
	if err != nil {
		return "", err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return "", err
	}
	return path, files.SyncDir(dir)
}

// request returns the request to a batch system for a run.
func (w *Walltimes) request(b *spec.Batch, job assay.Job) (batch.Request, error) {
	d, err := b.Demand(w.space, job.Config)
	if err != nil {
		return batch.Request{}, usageError(err)
	}
	walltime := batch.Minutes(b.Time)
	if b.Time == 0 {
		walltime = w.of(job)
	}
	return batch.Request{
		Walltime: walltime, Partition: b.Partition, Account: b.Account, Nodes: d.Nodes, CPUs: d.CPUs, GPUs: d.GPUs,
		MemoryB: d.MemoryB, Extra: b.Extra, Setup: b.Setup, Varies: d.Varies,
	}, nil
}

// Shim makes the run of an attempt at a batch system, in the directory that the attempt has in the spool, and
// returns the exit code of its program. ctx ends with the cause batch.ErrTerm when the job is to end.
func Shim(ctx context.Context, dir string) (code int, err error) {
	r, done, err := Jobs(true, nil)
	if err != nil {
		return batch.ExitNoSpool, err
	}
	defer func() { err = errors.Join(err, done()) }()
	node, _ := os.Hostname() // for people
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	s := batch.Shim{
		Runner: r, Tee: run.Tee, Boot: strings.TrimSpace(string(boot)),
		Job:  cmp.Or(os.Getenv("SLURM_JOB_ID"), os.Getenv("HQ_JOB_ID"), os.Getenv("PBS_JOBID"), os.Getenv("LSB_JOBID")),
		Node: cmp.Or(os.Getenv("SLURMD_NODENAME"), node),
	}
	if at, err := strconv.ParseInt(os.Getenv("SLURM_JOB_END_TIME"), 10, 64); err == nil && at > 0 {
		s.Ends = time.Unix(at, 0)
	}
	return s.Run(ctx, dir)
}
