package workbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay/internal/proc"
)

// A hierarchy is a place where groups with one controller can be made.
type hierarchy struct {
	point string // where the hierarchy is mounted
	dir   string // in which a group of ours is made
	v2    bool
}

// controllers are the cgroup controllers that we need; blkio is called io in v2.
var controllers = []string{"cpu", "memory", "blkio"}

// A machine is the root of the files that describe the system; the zero value is this system. Tests use
// others.
type machine struct{ root string }

func (m machine) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/", m.root, name))
	return string(b), err
}

// v1Type and v2Type are the types of the file systems of cgroups.
const v1Type, v2Type = "cgroup", "cgroup2"

// mounts returns where cgroups are mounted.
func (m machine) mounts() ([]proc.Mount, error) {
	text, err := m.read("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	ms, err := proc.Mounts(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("/proc/self/mountinfo: %w", err)
	}
	return slices.DeleteFunc(ms, func(c proc.Mount) bool { return c.Type != v1Type && c.Type != v2Type }), nil
}

// hierarchy returns the place for a controller, or an error that names why it has none.
func (m machine) hierarchy(controller string) (hierarchy, error) {
	mounts, err := m.mounts()
	if err != nil {
		return hierarchy{}, err
	}
	own, err := m.read("/proc/self/cgroup")
	if err != nil {
		return hierarchy{}, fmt.Errorf("%w", err)
	}
	paths := parseOwn(own)
	for _, c := range mounts {
		h := hierarchy{point: filepath.Join("/", m.root, c.Point), v2: c.Type == v2Type}
		path, ok := paths[""]
		if !h.v2 {
			if !slices.Contains(c.Options, controller) {
				continue
			}
			path, ok = paths[controller]
		}
		dir, below := c.At(path)
		if !ok || !below {
			continue
		}
		h.dir = filepath.Join("/", m.root, dir)
		if !h.v2 {
			return h, nil
		}
		if h.dir = h.above(v2Name(controller)); h.dir != "" {
			return h, nil
		}
	}
	return hierarchy{}, fmt.Errorf("no cgroup hierarchy with the controller %q is open to us", controller)
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

// parseOwn returns the groups in a file in the format of /proc/PID/cgroup by controller; the v2 group
// has the name "".
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
