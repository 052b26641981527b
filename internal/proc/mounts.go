package proc

import (
	"bufio"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// A Mount is one line of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
type Mount struct {
	Root    string   // the directory of the file system that is mounted, "/" for all of it
	Point   string   // the directory where it is mounted
	Type    string   // of the file system, such as "ext4" or "fuse.sshfs"
	Options []string // of the file system (the super options), nil if there are none
}

// At returns where a path of the file system, such as a group of /proc/PID/cgroup,
// is seen at this mount; false if the part that is mounted does not hold it.
func (m Mount) At(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(m.Root, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return filepath.Join(m.Point, rest), true
}

// Mounts returns the mounts of a file in the format of /proc/PID/mountinfo, in its order: a later one
// hides an earlier one of the same point. Lines that it does not understand are skipped. The error is a
// read error, or bufio.ErrTooLong for a line of a MiB; the mounts before it are returned.
func Mounts(r io.Reader) ([]Mount, error) {
	var ms []Mount
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), 1<<20)
	for in.Scan() {
		if m, ok := parseMount(in.Text()); ok {
			ms = append(ms, m)
		}
	}
	return ms, in.Err()
}

// parseMount reads a line, such as
//
//	41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup rw
//
// which is ID, parent, device, root, point, options, any number of tags, a
// hyphen, type, source and super options.
func parseMount(line string) (Mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	l, r := strings.Fields(left), strings.Fields(right)
	if !ok || len(l) < 5 || len(r) < 1 {
		return Mount{}, false
	}
	m := Mount{Root: unescape(l[3]), Point: unescape(l[4]), Type: r[0]}
	if len(r) >= 3 {
		m.Options = strings.Split(r[2], ",")
	}
	return m, true
}

// unescape undoes the octal escapes \040 \011 \012 \134 of characters that would end a field.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
