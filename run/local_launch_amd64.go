package run

import "unsafe"

// launchCode returns the first byte of the launcher's code and the one after its last; see local_launch_amd64.s.
func launchCode() (start, end uintptr)

// launcher returns the executable image of the launcher.
func launcher() []byte {
	start, end := launchCode()
	const emX86_64 = 62
	// The addresses are of this program's own text, which never moves.
	first := *(**byte)(unsafe.Pointer(&start))
	return elf(emX86_64, unsafe.Slice(first, end-start))
}
