package workbench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/assay-run/assay/internal/proc"
	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of our cgroups.
const groupPrefix = "assay-bench-"

// Period is the length of a period of the scheduler's quota: short, so that
// short runs get their share, but not shorter than a few of the slices (5 ms) in
// which the kernel hands it out.
const Period = 50 * time.Millisecond

// groups are the cgroups of one side of a run, the program's or the storage's:
// one directory for each controller (v1) or for all (v2).
type groups struct {
	dirs   []string
	memory string // the directory with the memory controller, or ""
	v2     bool
	set    []set
}

// A set is a file of a group as it was after it was set.
type set struct{ name, shows string }

// A setting is a file of a controller and the value to write to it.
type setting struct {
	controller string
	v1, v2     [][2]string // files and values
	optional   []string    // files that a kernel may not have
}

func cpuSetting(share float64) setting {
	quota := strconv.Itoa(max(1000, int(share*float64(Period.Microseconds()))))
	period := strconv.FormatInt(Period.Microseconds(), 10)
	return setting{
		controller: "cpu",
		v1:         [][2]string{{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}},
		v2:         [][2]string{{"cpu.max", quota + " " + period}},
	}
}

func memorySetting(limit float64) setting {
	n := strconv.FormatInt(int64(limit), 10)
	return setting{
		controller: "memory",
		v1:         [][2]string{{"memory.limit_in_bytes", n}, {"memory.memsw.limit_in_bytes", n}},
		v2:         [][2]string{{"memory.max", n}, {"memory.swap.max", "0"}},
		optional:   []string{"memory.memsw.limit_in_bytes", "memory.swap.max"},
	}
}

func diskSetting(device string, rate float64) setting {
	n := strconv.FormatInt(int64(rate), 10)
	return setting{
		controller: "blkio",
		v1: [][2]string{
			{"blkio.throttle.read_bps_device", device + " " + n},
			{"blkio.throttle.write_bps_device", device + " " + n},
		},
		v2: [][2]string{{"io.max", device + " rbps=" + n + " wbps=" + n}},
	}
}

// newGroups makes the groups with the settings. Nothing is left on an error.
func (m machine) newGroups(name string, settings ...setting) (*groups, error) {
	g := &groups{}
	for _, s := range settings {
		if err := m.apply(g, name, s); err != nil {
			return nil, errors.Join(err, g.remove(0))
		}
	}
	return g, nil
}

// reset makes a setting anew in the groups that have it.
func (g *groups) reset(s setting) error {
	made := false
	for _, v := range slices.Concat(s.v1, s.v2) {
		i := slices.IndexFunc(g.set, func(old set) bool { return filepath.Base(old.name) == v[0] })
		if i < 0 {
			continue // of the other version
		}
		made = true
		shows, err := writeSetting(g.set[i].name, v[1])
		if err != nil {
			return err
		}
		g.set[i].shows = shows
	}
	if !made {
		return fmt.Errorf("the groups have no limit of %s", s.controller)
	}
	return nil
}

// writeSetting writes a value to a file of a group, and returns the value that the file then shows.
func writeSetting(name, value string) (string, error) {
	if err := writeFile(name, value); err != nil {
		return "", fmt.Errorf("setting %s to %q: %w", filepath.Base(name), value, err)
	}
	shows, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%w", err)
	}
	if !agrees(value, string(shows)) {
		return "", fmt.Errorf("setting %s to %q: the kernel has made it %q",
			filepath.Base(name), value, strings.TrimSpace(string(shows)))
	}
	return string(shows), nil
}

func (m machine) apply(g *groups, name string, s setting) error {
	h, err := m.hierarchy(s.controller)
	if err != nil {
		return err
	}
	dir := filepath.Join(h.dir, name)
	if !slices.Contains(g.dirs, dir) {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("a cgroup for %s: %w", s.controller, err)
		}
		g.dirs = append(g.dirs, dir)
	}
	g.v2 = g.v2 || h.v2
	values := s.v1
	if h.v2 {
		values = s.v2
	}
	if s.controller == "memory" {
		g.memory = dir
	}
	for _, v := range values {
		name := filepath.Join(dir, v[0])
		shows, err := writeSetting(name, v[1])
		if err != nil && slices.Contains(s.optional, v[0]) &&
			(errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission)) {
			continue
		}
		if err != nil {
			return err
		}
		g.set = append(g.set, set{name, shows})
	}
	return nil
}

// agrees reports whether a file of a group shows the value that was written to it: each of its words, in
// any place, and numbers to the page.
func agrees(written, shows string) bool {
	const page = 64 << 10 // the largest of any machine
	words := strings.Fields(shows)
	for want := range strings.FieldsSeq(written) {
		found := slices.Contains(words, want)
		if n, err := strconv.ParseInt(want, 10, 64); err == nil && n > page {
			found = slices.ContainsFunc(words, func(w string) bool {
				k, err := strconv.ParseInt(w, 10, 64)
				return err == nil && k <= n && k > n-page
			})
		}
		if !found {
			return false
		}
	}
	return true
}

// changed returns the setting that another process has changed, or "".
func (g *groups) changed() string {
	for _, s := range g.set {
		now, err := os.ReadFile(s.name)
		if err != nil {
			return err.Error()
		}
		if string(now) != s.shows {
			return fmt.Sprintf("%s is %q now, it was set to %q",
				s.name, strings.TrimSpace(string(now)), strings.TrimSpace(s.shows))
		}
	}
	return ""
}

// holds reports whether a process is in each of the groups. It is true for a process that has ended, and
// for one that is exiting, which the kernel shows at the root. If a process is shown elsewhere, holds
// retries for a while.
func (g *groups) holds(pid int) bool {
	for range 20 {
		if p, ok := proc.Of(pid); !ok || p.Dead() || g.shows(pid) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// shows reports whether the kernel shows a process in each of the groups.
func (g *groups) shows(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return true
	}
	for _, d := range g.dirs {
		// The last part of a group's path is its name, which names the run.
		if !strings.Contains(string(text), "/"+filepath.Base(d)+"\n") {
			return false
		}
	}
	return true
}

// carried returns the bytes that the groups have read from devices and written to
// them, NaN where the kernel does not count them.
func (g *groups) carried() float64 {
	for _, d := range g.dirs {
		if text, err := os.ReadFile(filepath.Join(d, "blkio.throttle.io_service_bytes")); err == nil {
			return sumOf(string(text), func(f []string) (string, bool) {
				return f[len(f)-1], len(f) == 3 && (f[1] == "Read" || f[1] == "Write")
			})
		}
		if text, err := os.ReadFile(filepath.Join(d, "io.stat")); err == nil {
			return sumOf(strings.ReplaceAll(string(text), " ", "\n"), func(f []string) (string, bool) {
				n, read := strings.CutPrefix(f[0], "rbytes=")
				w, written := strings.CutPrefix(f[0], "wbytes=")
				if written {
					n = w
				}
				return n, read || written
			})
		}
	}
	return math.NaN()
}

// sumOf adds the numbers that the function of finds in the lines of a text.
func sumOf(text string, of func(fields []string) (number string, ok bool)) (sum float64) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 {
			if n, ok := of(f); ok {
				sum += number(n)
			}
		}
	}
	return sum
}

// writeFile writes to a file that exists; the kernel's files cannot be made.
func writeFile(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// procs returns the files to write to to move a process into the groups.
func (g *groups) procs() []string {
	var files []string
	for _, d := range g.dirs {
		files = append(files, filepath.Join(d, "cgroup.procs"))
	}
	return files
}

// oomKills returns how many processes the memory limit has killed.
func (g *groups) oomKills() int {
	if g.memory == "" {
		return 0
	}
	for _, name := range []string{"memory.events", "memory.oom_control"} {
		text, err := os.ReadFile(filepath.Join(g.memory, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
				k, _ := strconv.Atoi(n)
				return k
			}
		}
	}
	return 0
}

// live returns the processes that are in any of the groups.
func (g *groups) live() []int {
	var pids []int
	for _, d := range g.dirs {
		text, _ := os.ReadFile(filepath.Join(d, "cgroup.procs"))
		for f := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(f); err == nil && pid > 0 && !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// kill ends every process in the groups, also those that are being forked
// meanwhile, or gives up after a while.
func (g *groups) kill(wait time.Duration) {
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		pids := g.live()
		if len(pids) == 0 {
			return
		}
		for _, d := range g.dirs {
			_ = writeFile(filepath.Join(d, "cgroup.kill"), "1") // v2
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return
		}
		time.Sleep(pause)
	}
}

// remove removes the groups, waiting for processes that are about to be gone.
func (g *groups) remove(wait time.Duration) error {
	deadline := time.Now().Add(wait)
	var errs []error
	for _, d := range g.dirs {
		for {
			err := syscall.Rmdir(d)
			if err == syscall.EBUSY && time.Now().Before(deadline) {
				time.Sleep(5 * time.Millisecond)
				continue
			}
			if err != nil && err != syscall.ENOENT {
				errs = append(errs, fmt.Errorf("removing the cgroup %s: %w", d, err))
			}
			break
		}
	}
	g.dirs = nil
	return errors.Join(errs...)
}
