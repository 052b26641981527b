package workbench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// Swept lists the remains that [Sweep] removed.
type Swept struct {
	Processes int // that were sent SIGKILL
	Groups    int // cgroups that were ended and removed
}

// Sweep ends and removes the remains of runs of any Bench on this machine whose owner was killed:
// stages, programs and cgroups. Mounts, namespaces and devices go with their processes. It leaves alone
// everything whose owner is alive, or in another PID namespace.
//
// No process is ended because of its id alone: its initial environment must name a run whose owner,
// known by pid and start time, is gone, or it must be in a cgroup of such a run. It returns when all
// that is gone, or ctx is done.
func Sweep(ctx context.Context) (Swept, error) {
	var swept Swept
	counted := map[int]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		ended := endMarked(identity.stale)
		for _, pid := range ended {
			if !counted[pid] {
				counted[pid] = true
				swept.Processes++
			}
		}
		if len(ended) == 0 {
			break
		}
		if ctx.Err() != nil {
			return swept, context.Cause(ctx)
		}
		time.Sleep(pause)
	}
	var errs []error
	for _, dir := range (machine{}).staleGroups() {
		g := &groups{dirs: []string{dir}}
		swept.Processes += len(g.live())
		g.kill(5 * time.Second)
		if err := g.remove(5 * time.Second); err != nil {
			errs = append(errs, err)
			continue
		}
		swept.Groups++
	}
	return swept, errors.Join(errs...)
}

// staleGroups returns the cgroups of owners that are gone, the deepest first.
func (m machine) staleGroups() []string {
	mounts, err := m.mounts()
	if err != nil {
		return nil
	}
	var dirs []string
	for _, c := range mounts {
		mounted := func(name string) bool { return slices.Contains(c.Options, name) }
		ours := c.Type == v2Type || slices.ContainsFunc(controllers, mounted)
		if !ours {
			continue
		}
		_ = filepath.WalkDir(filepath.Join("/", m.root, c.Point), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return nil
			}
			if id, ok := groupIdentity(e.Name()); ok && id.stale() {
				dirs = append(dirs, path)
			}
			return nil
		})
	}
	slices.Reverse(dirs)
	return dirs
}

// storagePrefix follows groupPrefix in the names of the groups of storages.
const storagePrefix = "s-"

// groupIdentity returns whose a group of that name is.
func groupIdentity(name string) (identity, bool) {
	name, ok := strings.CutPrefix(name, groupPrefix)
	if !ok {
		return identity{}, false
	}
	return parseIdentity(strings.TrimPrefix(name, storagePrefix))
}

// endMarked sends SIGKILL to the processes whose initial environment names a run
// for which lost is true, and returns them.
func endMarked(lost func(identity) bool) []int {
	var pids []int
	for _, p := range proc.All() {
		if p.PID != os.Getpid() && !p.Dead() && markedBy(p.PID, lost) && endIf(p.PID, lost) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// markedBy reports whether a process is of a run for which lost is true. One that has
// ended shows no environment.
func markedBy(pid int, lost func(identity) bool) bool {
	mark, _ := proc.Environ(pid, stageMarker)
	id, ok := parseIdentity(mark)
	return ok && lost(id)
}

// endIf ends a process by a handle that was taken before it was looked at once
// more, so that no other process of the same id is hit.
func endIf(pid int, lost func(identity) bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return markedBy(pid, lost) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}
