package workbench

import (
	"fmt"
	"os"
	"os/exec"
)

// Hidden subcommands of a binary that uses this package.
const (
	stageCommand = "workbench-stage"
	enterCommand = "workbench-enter"
)

// Main must be called first by the main function of a binary that uses a [Bench],
// and by TestMain of its tests. If this process was started by a Bench, to be a
// stage or to become a program, it does not return.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case stageCommand:
		if err := stageMain(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case enterCommand:
		os.Exit(enterMain(os.Args[2:]))
	}
}

// self returns the path of this binary.
func self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w", err)
	}
	if _, err := exec.LookPath(path); err != nil { // replaced or removed meanwhile
		return fmt.Sprintf("/proc/%d/exe", os.Getpid()), nil
	}
	return path, nil
}
