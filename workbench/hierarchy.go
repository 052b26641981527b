package workbench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A hierarchy is a place where groups with one controller can be made.
type hierarchy struct {
	point string // where the hierarchy is mounted
	dir   string // in which a group of ours is made
	v2    bool
}

// controllers are what we need of cgroups; blkio is called io in v2.
var controllers = []string{"cpu", "memory", "blkio"}

// A machine is where the system says what it has; the zero value is this one.
// Tests have others.
type machine struct{ root string }

func (m machine) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/", m.root, name))
	return string(b), err
}

// hierarchy returns the place for a controller, or why there is none.
func (m machine) hierarchy(controller string) (hierarchy, error) {
	mounts, err := m.read("/proc/self/mountinfo")
	if err != nil {
		return hierarchy{}, fmt.Errorf("workbench: %w", err)
	}
	own, err := m.read("/proc/self/cgroup")
	if err != nil {
		return hierarchy{}, fmt.Errorf("workbench: %w", err)
	}
	paths := parseOwn(own)
	for _, c := range parseMounts(strings.NewReader(mounts)) {
		h := hierarchy{point: filepath.Join("/", m.root, c.point), v2: c.v2}
		path, ok := paths[""]
		if !c.v2 {
			if !slices.Contains(c.options, controller) {
				continue
			}
			path, ok = paths[controller]
		}
		rest, below := strings.CutPrefix(path, strings.TrimSuffix(c.root, "/"))
		if !ok || !below {
			continue
		}
		h.dir = filepath.Join(h.point, rest)
		if !c.v2 {
			return h, nil
		}
		if h.dir = h.above(v2Name(controller)); h.dir != "" {
			return h, nil
		}
	}
	return hierarchy{}, fmt.Errorf("workbench: no cgroup hierarchy with the controller %q is open to us", controller)
}

func v2Name(controller string) string {
	if controller == "blkio" {
		return "io"
	}
	return controller
}

// above returns the nearest directory from h.dir up whose groups have the
// controller, or "". A group that holds processes, such as our own, cannot have
// groups with controllers in v2 (cgroups(7), "no internal processes").
func (h hierarchy) above(controller string) string {
	for dir := h.dir; strings.HasPrefix(dir, h.point); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err == nil && slices.Contains(strings.Fields(string(text)), controller) {
			return dir
		}
		if dir == h.point {
			break
		}
	}
	return ""
}

// A cgroupMount is a line of mountinfo.
type cgroupMount struct {
	root, point string
	options     []string // of the file system: the controllers, in v1
	v2          bool
}

// parseMounts returns the cgroup mounts of a file in the format of
// /proc/PID/mountinfo (proc(5)). Lines that it does not understand are skipped.
func parseMounts(r io.Reader) []cgroupMount {
	var ms []cgroupMount
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), 1<<20)
	for in.Scan() {
		// 33 31 0:30 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
		left, right, ok := strings.Cut(in.Text(), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 || r[0] != "cgroup" && r[0] != "cgroup2" {
			continue
		}
		ms = append(ms, cgroupMount{root: l[3], point: l[4], options: strings.Split(r[2], ","), v2: r[0] == "cgroup2"})
	}
	return ms
}

// parseOwn returns the groups in a file in the format of /proc/PID/cgroup by
// controller; that of v2 has the name "".
func parseOwn(text string) map[string]string {
	paths := map[string]string{}
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		for name := range strings.SplitSeq(f[1], ",") {
			paths[name] = f[2]
		}
	}
	return paths
}

// writable returns nil if a group can be made there.
func (h hierarchy) writable() error {
	dir, err := os.MkdirTemp(h.dir, groupPrefix+"try-")
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(dir))
}
