package run

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/assay-run/assay/internal/proc"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// This file lists the facilities of the machine (assay doctor). Each fact is found by trying if that is cheap and
// leaves no trace, because an attempt shows more than a file or a version number. An absent fact is no error: its
// Detail has the reason, and its Hint the remedy.

// A Fact is one thing that this machine offers, or does not.
type Fact struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Detail    string `json:"detail"`         // the facility, or why it is absent
	Hint      string `json:"hint,omitempty"` // how to get it, if it is not available
}

// Host finds the facilities that this machine offers to runs. It tries cgroups: it makes a group, starts a process in
// it, and ends it. It changes nothing that lasts, and takes some milliseconds.
func Host(ctx context.Context) []Fact {
	facts := []Fact{
		kernelFact(), cpuFact(), memoryFact(),
		cgroupFact(ctx), cgroupV1Fact(), subreaperFact(), pidfdFact(), rssFact(),
		raplFact(powercapDir), cpufreqFact(), perfFact(),
		namespaceFact(), deviceFact("fuse", "/dev/fuse", "an emulated disk"),
		deviceFact("tun", "/dev/net/tun", "an emulated network link"),
	}
	for _, name := range []string{"sbatch", "squeue", "sacct", "scancel"} {
		facts = append(facts, commandFact(name, "Slurm's client commands",
			"run on a login node of the cluster, or load its module"))
	}
	return facts
}

// kernelFact has the result of uname(2): system, release and machine.
func kernelFact() Fact {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Fact{Name: "kernel", Detail: err.Error()}
	}
	word := func(b []byte) string { b, _, _ = bytes.Cut(b, []byte{0}); return string(b) }
	return Fact{Name: "kernel", Available: true, Detail: word(u.Sysname[:]) + " " + word(u.Release[:]) + " " +
		word(u.Machine[:])}
}

// cpuFact counts the processors that this process may use, which a container or taskset(1) may
// have limited, and names the model of the first.
func cpuFact() Fact {
	f := Fact{Name: "cpus", Available: true, Detail: fmt.Sprintf("%d processors", runtime.NumCPU())}
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err == nil {
		cpus := cpusOf(&mask)
		f.Detail = fmt.Sprintf("%d processors may be used: %s", len(cpus), ranges(cpus))
		if len(cpus) < pinFrom {
			f.Detail += fmt.Sprintf("; too few for the tool to have its own (needs %d)", pinFrom)
		}
	}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if info, err := fs.CPUInfo(); err == nil && len(info) > 0 && info[0].ModelName != "" {
			f.Detail += ", " + info[0].ModelName
		}
	}
	return f
}

// ranges writes ascending numbers as "0-3,8".
func ranges(ns []int) string {
	var b strings.Builder
	for i := 0; i < len(ns); {
		k := i
		for k+1 < len(ns) && ns[k+1] == ns[k]+1 {
			k++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(ns[i]))
		if k > i {
			b.WriteString("-" + strconv.Itoa(ns[k]))
		}
		i = k + 1
	}
	return b.String()
}

// memoryFact is of the machine, in GiB of 2^30 bytes. A limit of a cgroup is not in it.
func memoryFact() Fact {
	f := Fact{Name: "memory"}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	info, err := fs.Meminfo()
	if err != nil || info.MemTotalBytes == nil || info.MemAvailableBytes == nil {
		f.Detail = "/proc/meminfo cannot be read"
		return f
	}
	const gib = 1 << 30
	f.Available = true
	f.Detail = fmt.Sprintf("%.1f GiB, %.1f GiB available", float64(*info.MemTotalBytes)/gib,
		float64(*info.MemAvailableBytes)/gib)
	return f
}

// cgroupFact tries whether a process that is started in a new group is ended by cgroup.kill. That a directory can be
// written is not enough: a group may be made in which no process can be started.
func cgroupFact(ctx context.Context) Fact {
	f := Fact{
		Name: "cgroup v2",
		Hint: "without it runs are ended by process id, which is slower: run as root, or where systemd delegates " +
			"(systemd-run --user --scope assay ...)",
	}
	if err := tryGroup(ctx); err != nil {
		f.Detail = err.Error()
		return f
	}
	f.Available, f.Hint = true, ""
	dir, _, _ := proc.Self()
	controllers := cmp.Or(readWord(dir, "cgroup.controllers"), "none")
	f.Detail = "cgroup.kill ends runs, below " + dir + "; controllers: " + controllers
	return f
}

// tryGroup starts sleep in a new group and ends it. Its group is removed when it returns. If it is killed itself,
// Sweep with the owner "doctor" finds the remains.
func tryGroup(ctx context.Context) error {
	id, err := newRunnerID("doctor")
	if err != nil {
		return err
	}
	parent, err := proc.New(id.group())
	if err != nil {
		return err
	}
	defer parent.Remove()
	g, err := parent.Group("1")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("a process cannot be started in a group: %w", err)
	}
	// Should the group not end it.
	spare := time.AfterFunc(2*time.Second, func() { cmd.Process.Kill() })
	began := time.Now()
	err = g.Kill()
	if err != nil {
		cmd.Process.Kill()
	}
	_ = cmd.Wait()
	if !spare.Stop() || time.Since(began) > 2*time.Second {
		return fmt.Errorf("cgroup.kill did not end a process")
	}
	return err
}

// cgroupV1Fact looks at the mount points only: hierarchies of v1 are used by no run of this package.
func cgroupV1Fact() Fact {
	f := Fact{Name: "cgroup v1", Hint: "processor, memory and disk limits need a v1 hierarchy or v2 controllers"}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	self, err := fs.Self()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	mounts, err := self.MountInfo()
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	var may, not []string
	for _, m := range mounts {
		if m.FSType != "cgroup" {
			continue
		}
		name := filepath.Base(m.MountPoint)
		if unix.Access(m.MountPoint, unix.W_OK) == nil {
			may = append(may, name)
		} else {
			not = append(not, name)
		}
	}
	switch {
	case len(may) > 0:
		f.Available, f.Hint, f.Detail = true, "", "writable: "+strings.Join(may, ", ")
	case len(not) > 0:
		f.Detail = "not writable: " + strings.Join(not, ", ")
	default:
		f.Detail = "not mounted"
	}
	return f
}

// subreaperFact asks whether the kernel knows the attribute. It does not set it.
func subreaperFact() Fact {
	var on int32
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0); err != nil {
		return Fact{Name: "subreaper", Detail: err.Error(), Hint: "needs Linux 3.4"}
	}
	return Fact{Name: "subreaper", Available: true, Detail: "the tool adopts orphans of runs"}
}

// pidfdFact opens a handle of this process (pidfd_open(2)).
func pidfdFact() Fact {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return Fact{
			Name: "pidfd", Detail: err.Error(),
			Hint: "needs Linux 5.3; until then a process that takes over the id of another could be hit",
		}
	}
	unix.Close(fd)
	return Fact{Name: "pidfd", Available: true, Detail: "processes are ended by handle, not by number"}
}

// rssFact starts one program by the launcher, which falls back to a direct start by itself: small shows afterwards
// whether it did. The lock is held because the child is never registered.
func rssFact() Fact {
	s := newStarter()
	defer s.close()
	f := Fact{Name: "exact max_rss"}
	null, err := os.Open(os.DevNull)
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	defer null.Close()
	path, err := LookPath("true", "")
	if err == nil && s.small() {
		var pid int
		n := null.Fd()
		family.starting.RLock()
		pid, _, err = s.start(command{path: path, argv: []string{"true"}, files: [3]uintptr{n, n, n}})
		if err == nil {
			wait4(pid, 0, nil)
		}
		family.starting.RUnlock()
	}
	if err != nil || !s.small() {
		f.Detail = "programs are started directly: max_rss is measured only above the tool's own"
		f.Hint = "needs amd64, memfd_create and the right to execute from it (sysctl vm.memfd_noexec=0)"
		return f
	}
	f.Available, f.Detail = true, "programs are started from a process of one page"
	return f
}

// raplFact opens the counters as a run would. Without any it distinguishes a machine without counters from a user who
// may not read them.
func raplFact(dir string) Fact {
	f := Fact{Name: "energy (RAPL)"}
	r := openRAPL(dir)
	defer r.close()
	if r != nil {
		var names []string
		for _, z := range r.zones {
			names = append(names, z.name)
		}
		f.Available, f.Detail = true, strings.Join(names, ", ")
		return f
	}
	f.Hint = "give a metric command that reads a meter: --metric energy=cmd:COMMAND"
	f.Detail = dir + " has no counters: the kernel or the virtual machine has none"
	if found, _ := filepath.Glob(filepath.Join(dir, "*", "energy_uj")); len(found) > 0 {
		f.Detail = found[0] + " cannot be read"
		f.Hint = "run as root, or: chmod o+r " + filepath.Join(dir, "*", "energy_uj")
	}
	return f
}

// cpufreqFact looks at the first processor and takes it for all. Frequencies are in kHz, as the kernel has them.
func cpufreqFact() Fact {
	const dir = "/sys/devices/system/cpu/cpu0/cpufreq"
	governor := readWord(dir, "scaling_governor")
	if governor == "" {
		return Fact{
			Name: "cpu frequency", Detail: "no " + dir,
			Hint: "a virtual machine or kernel without cpufreq: the frequency cannot be set or seen from here",
		}
	}
	f := Fact{Name: "cpu frequency", Available: true, Detail: "governor " + governor + ", " +
		readWord(dir, "scaling_min_freq") + "-" + readWord(dir, "scaling_max_freq") + " kHz"}
	if governor != "performance" {
		f.Detail += "; run times vary less with the governor performance"
	}
	return f
}

// perfFact asks for level 2 or less, at which a user may count events of processes of their
// own (Documentation/admin-guide/sysctl/kernel.rst). Root always may.
func perfFact() Fact {
	const path = "/proc/sys/kernel/perf_event_paranoid"
	level, err := strconv.Atoi(readWord(filepath.Dir(path), filepath.Base(path)))
	if err != nil {
		return Fact{Name: "perf events", Detail: "no " + path, Hint: "the kernel has no perf events"}
	}
	f := Fact{
		Name: "perf events", Available: level <= 2 || os.Geteuid() == 0,
		Detail: fmt.Sprintf("perf_event_paranoid is %d", level),
	}
	if !f.Available {
		f.Hint = "sysctl kernel.perf_event_paranoid=2"
	}
	return f
}

// namespaceFact tries whether a process may have a user and a network namespace of its own. It asks for both with one
// process.
func namespaceFact() Fact {
	f := Fact{Name: "namespaces"}
	path, err := LookPath("true", "")
	if err != nil {
		f.Detail = err.Error()
		return f
	}
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Run(); err != nil {
		f.Detail = "a user and a network namespace: " + err.Error()
		f.Hint = "sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces > 0, and no AppArmor " +
			"restriction of user namespaces"
		return f
	}
	f.Available, f.Detail = true, "user and network namespaces can be made"
	return f
}

// deviceFact opens a device for reading and writing, and closes it at once. The kernel module has
// the same name, so that the hint can give it to modprobe(8).
func deviceFact(name, path, use string) Fact {
	f := Fact{Name: name}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		f.Detail = fmt.Sprintf("%s: %v", path, err)
		f.Hint = fmt.Sprintf("%s needs it: modprobe %s, and the right to open %s", use, name, path)
		return f
	}
	unix.Close(fd)
	f.Available, f.Detail = true, path+" can be opened, for "+use
	return f
}

// commandFact looks a command up in PATH. It does not run it.
func commandFact(name, use, hint string) Fact {
	path, err := exec.LookPath(name)
	if err != nil {
		return Fact{Name: name, Detail: "not in PATH: " + use, Hint: hint}
	}
	return Fact{Name: name, Available: true, Detail: path}
}
