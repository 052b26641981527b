package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// This file ends processes that a killed tool has left running. It has only names to identify them: the marker in the
// environment of each process and the names of cgroups. Both carry the same runner ID, so that one parser reads both.
// Every run has the marker, and the cgroup if there is one.

// markerName is the environment variable that every process of a run has. Its value is
// "<owner>.<namespace>.<pid>.<start>.<random>-<number>": a hash of the owner, the PID namespace, pid and start time of
// the tool that runs it, and the number of the run.
const markerName = "ASSAY_RUN"

// pidSpace returns the PID namespace of this process. The tests of this package use another one, so that a tool that
// starts beside them does not sweep their processes.
var pidSpace = proc.Namespace

// A runnerID names one Local of one process for ever.
type runnerID struct {
	owner string // of LocalOptions, or of a run, hashed
	space uint64 // inode of the PID namespace
	pid   int
	start uint64 // proc.Process.Start
	// random distinguishes several Locals of one process, in 8 hexadecimal digits.
	random string
}

// The error means that /proc cannot be read, without which no run could be followed either.
func newRunnerID(owner string) (runnerID, error) {
	s, ok := proc.Of(os.Getpid())
	if !ok {
		return runnerID{}, errors.New("/proc does not show this process")
	}
	var b [4]byte
	rand.Read(b[:])
	return runnerID{hashOwner(owner), pidSpace(), s.PID, s.Start, hex.EncodeToString(b[:])}, nil
}

// The hash (FNV-1a, 64 bits, in hexadecimal) makes any owner fit for the name of a directory:
// it has neither '.' nor '-', which separate the parts. Two owners with one hash would sweep
// each other's dead runs; live ones are safe, since their tool is alive.
func hashOwner(owner string) string {
	h := fnv.New64a()
	h.Write([]byte(owner))
	return strconv.FormatUint(h.Sum64(), 16)
}

// The form is a promise: a later version of the tool has to find the processes of this one.
func (id runnerID) String() string {
	return fmt.Sprintf("%s.%d.%d.%d.%s", id.owner, id.space, id.pid, id.start, id.random)
}

// marker returns the value of markerName in the n-th run.
func (id runnerID) marker(n int64) string { return id.String() + "-" + strconv.FormatInt(n, 10) }

// groupPrefix begins the name of each runner's cgroup.
const groupPrefix = "assay-"

// group returns the name of the runner's cgroup, which contains the cgroups of its runs.
func (id runnerID) group() string { return groupPrefix + id.String() }

// groupOf returns the name of a group for runs of one owner, which is hashed.
func groupOf(owner string, n int) string { return owner + "-" + strconv.Itoa(n) }

// parseRunnerID reads the output of String or marker. It ignores the text after the first '-', so that it reads a
// marker like a plain ID.
func parseRunnerID(s string) (id runnerID, ok bool) {
	s, _, _ = strings.Cut(s, "-")
	f := strings.Split(s, ".")
	if len(f) != 5 || f[0] == "" || f[4] == "" {
		return id, false
	}
	var errs [3]error
	id.owner, id.random = f[0], f[4]
	id.space, errs[0] = strconv.ParseUint(f[1], 10, 64)
	id.pid, errs[1] = strconv.Atoi(f[2])
	id.start, errs[2] = strconv.ParseUint(f[3], 10, 64)
	return id, errors.Join(errs[:]...) == nil && id.pid > 0
}

// alive reports whether the process of the runner exists.
// The pid must be of our PID namespace, which the caller checks where it can be another's.
func (id runnerID) alive() bool { return proc.Alive(id.pid, id.start) }

// ownMarker reports whether a marker belongs to a runner of this process. It does not ask for the namespace: the pid
// and the start time identify this process.
func ownMarker(mark string) bool {
	id, ok := parseRunnerID(mark)
	return ok && id.pid == os.Getpid() && id.alive()
}

// ownGroup reports whether a cgroup is of a runner of this process.
func ownGroup(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, groupPrefix); ok && ownMarker(name) {
			return true
		}
	}
	return false
}

// Swept is the result of [Sweep].
type Swept struct {
	Processes int // that were sent SIGKILL
	Groups    int // cgroups of runs that were ended and removed
}

// Sweep ends the processes that runs of the given owner, such as a study, have left behind because their tool was
// killed: processes with a marker of that owner, and cgroups. Call it when a study is opened, before its first run.
//
// It never acts on a process id alone. A process is ended only if its initial environment has a marker of that owner
// whose tool, named by pid and start time in the PID namespace of the caller, is no more; and by a handle that was
// taken before the marker was read, so that no other process can be hit. A process that has cleared its environment
// is found by its cgroup only.
//
// It returns when those processes are gone or ctx is done. The runs of a tool that is alive are never swept, even of
// the same owner. If ctx ends it, the error is its cause; processes that got SIGKILL stay counted. The cgroups come
// first, because their kill reaches all members at once, even if they fork.
func Sweep(ctx context.Context, owner string) (Swept, error) {
	hash := hashOwner(owner)
	return sweep(ctx, func(of string) bool { return of == hash })
}

// SweepAll is [Sweep] for every owner: a run whose tool is dead has no owner, and disturbs the next measurement on
// the machine.
func SweepAll(ctx context.Context) (Swept, error) {
	return sweep(ctx, func(string) bool { return true })
}

// sweep is [Sweep] for the owners, hashed, that ours returns true for.
func sweep(ctx context.Context, ours func(owner string) bool) (Swept, error) {
	var total Swept
	space := pidSpace()
	dead := func(mark string) (owner string, dead bool) {
		id, ok := parseRunnerID(mark)
		return id.owner, ok && id.space == space && !id.alive()
	}
	lost := func(mark string) bool {
		owner, dead := dead(mark)
		return dead && ours(owner)
	}
	groups, err := sweepGroups(ctx, ours, dead)
	total.Groups = groups
	if err != nil {
		return total, err
	}
	counted := map[proc.Process]bool{}
	// It looks again until a look finds no process of the owner: one that forked before it was
	// killed has left children with the same marker.
	for wait := firstWait; ; backoff(&wait) {
		left := 0
		for _, s := range proc.All() {
			if s.Dead() || !sweepProcess(s, lost) {
				continue
			}
			left++
			if k := (proc.Process{PID: s.PID, Start: s.Start}); !counted[k] {
				counted[k] = true
				total.Processes++
			}
		}
		if left == 0 {
			return total, nil
		}
		if ctx.Err() != nil {
			return total, context.Cause(ctx)
		}
	}
}

// sweepProcess ends the process if it is lost, and reports whether it was. A process whose environment cannot be read,
// such as one of another user, is not lost. Without pidfd_open(2), before Linux 5.3, nothing is ended: a number alone
// could hit a stranger.
func sweepProcess(s proc.Process, lost func(string) bool) bool {
	if mark, ok := proc.Environ(s.PID, markerName); !ok || !lost(mark) {
		return false
	}
	fd, err := unix.PidfdOpen(s.PID, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// Once more, now that the handle holds the process: if it is another process by now, it is seen here; if it ends
	// after this, the signal fails.
	now, ok := proc.Of(s.PID)
	mark, marked := proc.Environ(s.PID, markerName)
	if !ok || now.Start != s.Start || !marked || !lost(mark) {
		return false
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// sweepGroups ends and removes the groups of our owners that dead tools have left where a new one of ours would be
// made, and the groups of those tools that hold nothing else. It returns how many runs' groups there were. The groups
// have two levels: assay-RUNNERID is the tool's, and below it OWNER-N is the group of a run. A group of a tool goes
// only when no run's group of any owner is left in it. An error leaves the remaining groups as they are, for the next
// sweep. Groups of another user are that user's to sweep.
func sweepGroups(
	ctx context.Context, ours func(owner string) bool, dead func(name string) (of string, dead bool),
) (n int, err error) {
	dir, _, err := proc.Self()
	if err != nil {
		return 0, nil // no groups, nothing left in them
	}
	for _, tool := range subdirs(dir) {
		name, ok := strings.CutPrefix(filepath.Base(tool), groupPrefix)
		if !ok {
			continue
		}
		toolOwner, gone := dead(name)
		if !gone {
			continue
		}
		for _, path := range subdirs(tool) {
			of, _, ok := strings.Cut(filepath.Base(path), "-")
			if !ok { // not yet a run's
				of = toolOwner
			}
			if !ours(of) {
				continue
			}
			switch err := sweepGroup(ctx, path); {
			case errors.Is(err, fs.ErrPermission):
				continue
			case err != nil:
				return n, err
			}
			n++
		}
		if len(subdirs(tool)) > 0 {
			continue
		}
		if err := proc.RemoveTree(tool); err != nil && !errors.Is(err, fs.ErrPermission) {
			return n, fmt.Errorf("%w", err)
		}
	}
	return n, nil
}

// sweepGroup ends every process of a group and removes it. If the group cannot be killed or read, it may be gone
// already: removing it then succeeds, or returns the reason.
func sweepGroup(ctx context.Context, path string) error {
	for wait := firstWait; ; backoff(&wait) {
		if err := os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0); err != nil {
			break
		}
		events, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
		if err != nil || !bytes.Contains(events, []byte("populated 1")) {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if err := proc.RemoveTree(path); err != nil {
		return fmt.Errorf("%w", err)
	}
	return nil
}

// subdirs returns the directories in dir, none if it cannot be read.
// A directory that vanished meanwhile needs no sweep, so that an error is not returned.
func subdirs(dir string) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}
