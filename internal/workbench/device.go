package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// device returns the number "major:minor" of the disk that holds a directory, in the form that limits on
// disks need. For a partition it is the number of the whole disk. It is an error if no disk holds the
// directory, such as on tmpfs or overlayfs.
func (m machine) device(dir string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return m.disk(unix.Major(st.Dev), unix.Minor(st.Dev))
}

func (m machine) disk(major, minor uint32) (string, error) {
	number := fmt.Sprintf("%d:%d", major, minor)
	sys, err := filepath.EvalSymlinks(filepath.Join("/", m.root, "/sys/dev/block", number))
	if err != nil {
		return "", fmt.Errorf("the data is on no disk whose rate the kernel could limit (device %s)", number)
	}
	if _, err := os.Stat(filepath.Join(sys, "partition")); err != nil {
		return number, nil
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(sys), "dev"))
	if err != nil {
		return "", fmt.Errorf("the disk of the partition %s: %w", number, err)
	}
	return strings.TrimSpace(string(text)), nil
}
