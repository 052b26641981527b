package workbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// An ordinary user has root's abilities in a user namespace: there the user is called root, with the
// rights of the user on files. A process with more than one thread, as all of ours, cannot enter one;
// nsenter(1) does it for us.

// unprivileged reports whether we need a user namespace.
func unprivileged() bool { return os.Geteuid() != 0 }

// stageAttr returns the attributes of the stage's process.
func stageAttr(network bool) *syscall.SysProcAttr {
	flags := uintptr(syscall.CLONE_NEWNS)
	if network {
		flags |= syscall.CLONE_NEWNET
	}
	// Unshared, not cloned: then the mounts are made private as well. Out of reach of the terminal's
	// signals, but in our session: a child in another session could not be distinguished from an orphan of
	// a run (package run).
	attr := &syscall.SysProcAttr{Setpgid: true, Unshareflags: flags}
	if unprivileged() {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// canStage returns nil if a stage can be made, without its network device.
func canStage() error {
	if err := canOpen("/dev/fuse"); err != nil {
		return err
	}
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = stageAttr(true)
	if err := cmd.Run(); err != nil {
		if unprivileged() {
			return fmt.Errorf("a user namespace: %w", err)
		}
		return fmt.Errorf("namespaces: %w", err)
	}
	if unprivileged() {
		if _, err := exec.LookPath("nsenter"); err != nil {
			return fmt.Errorf("%w", err)
		}
	}
	return nil
}

func canOpen(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	return f.Close()
}

// throughNsenter becomes nsenter, which enters the user namespace and becomes this program again, with
// the specification that it returns for it. The owner's descriptors are opened here, as they cannot be
// opened from inside. It returns only an error.
func (s enterSpec) throughNsenter(program []string) error {
	path, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	exe, err := self()
	if err != nil {
		return err
	}
	inner := s
	inner.Owner, inner.User = 0, 0
	for _, p := range []*int{&inner.Report, &inner.Net, &inner.Mnt} {
		if *p == 0 {
			continue
		}
		flags := os.O_RDONLY
		if p == &inner.Report {
			flags = os.O_WRONLY
		}
		if *p, err = s.inherited(*p, flags); err != nil {
			return err
		}
	}
	user, err := s.inherited(s.User, os.O_RDONLY)
	if err != nil {
		return err
	}
	inner.Drop = user
	argv := append([]string{
		path, "--preserve-credentials", "--user=/proc/self/fd/" + strconv.Itoa(user), "--",
		exe, enterCommand, inner.String(),
	}, program...)
	return &os.PathError{Op: "exec", Path: filepath.Base(path), Err: syscall.Exec(path, argv, os.Environ())}
}

// inherited opens a descriptor of the owner so that it survives exec.
func (s enterSpec) inherited(fd, flags int) (int, error) {
	f, err := s.open(fd, flags)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD, 3) // without FD_CLOEXEC
}
