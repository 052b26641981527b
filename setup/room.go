package setup

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
)

// The output of runs and the record may share a disk: so the output stops long before the disk is full, no run starts
// when little room is left, and the store keeps room for the measurements of the last runs.
const (
	mostOutput  = 1 << 30   // of the runs of one study, in bytes
	outputFloor = 256 << 20 // output is not kept on a disk with less than this, or a quarter of a small one
	runFloor    = 16 << 20  // no run is started with less than this, or a sixteenth of a small one
)

// floorOf returns the least of most and a share of the disk.
func floorOf(most, size uint64, share uint64) uint64 { return min(most, size/share) }

// disk returns the free and the whole bytes of the disk that a directory is on.
func disk(dir string) (free, size uint64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, err
	}
	return fs.Bavail * uint64(fs.Bsize), fs.Blocks * uint64(fs.Bsize), nil
}

// roomToRun returns an error if the disk of the store has too little room to start a run, whose measurements could
// then be lost. A disk whose size is unknown has room.
func (s *Store) roomToRun() error {
	if s.Path == "" {
		return nil
	}
	free, size, err := disk(filepath.Dir(s.Path))
	if err != nil || free >= floorOf(runFloor, size, 16) {
		return nil
	}
	return assay.WithHint(assay.Errorf(assay.ClassIO,
		"the disk of the store has %.1f MiB left: no run is started below %.1f MiB",
		float64(free)/(1<<20), float64(floorOf(runFloor, size, 16))/(1<<20)),
		fmt.Sprintf("make room on the disk of %s, and go on", s.Path))
}

// roomForOutput returns the reason why n more bytes of output are not kept in dir, which holds there bytes, or "".
func roomForOutput(dir string, there, n int64) string {
	if there+n > mostOutput {
		return fmt.Sprintf("the outputs of this study take %d MiB", mostOutput>>20)
	}
	free, size, err := disk(dir)
	if err == nil && free < uint64(n)+floorOf(outputFloor, size, 4) {
		return fmt.Sprintf("the disk has %d MiB left", free>>20)
	}
	return ""
}
