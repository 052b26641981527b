package workbench

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
)

// Passive returns a runner that measures the data flow of real runs, where nothing
// is emulated. On a machine that mounts NFS this is the flow from and to its NFS
// servers, and else from and to local storage. It adds to the metrics
//
//	data_flow      bytes read from and written to NFS servers, or local disks
//	read_bytes     of it, read, in place of inner's value for local disks
//	write_bytes    of it, written
//	requests       to the servers, or disks
//	network_time   s, and
//	disk_time      s that the requests took, the sum over all, divided by an estimate
//
// from the kernel's counts for its NFS mounts (/proc/self/mountstats), as
// NIMO does with network traces (VLDB 2006, §2.2). The counts are of the whole
// machine: other programs on these mounts are counted as well, and runs at the
// same time count each other.
//
// Local storage is counted by the kernel for the cgroup that we run in, with the cgroups of the runs below
// it (io.stat, of cgroup v2), and else for all disks of the machine (/proc/diskstats). There network_time is 0,
// and stall_time, in s, is how long something waited for storage (PSI: io.pressure, /proc/pressure/io),
// where the kernel has it; it is disk_time too where no times of requests are counted. Reads from the page cache,
// and writes after the run, are not counted.
//
// The time of a request at the server is not known. The estimate is that the
// quickest kind of request, with at least 10 requests, needs no disk: its
// mean time is the network's part of each. Without such a kind the times are
// Missing; values that are not counted are Missing, too.
func Passive(inner assay.Runner) assay.Runner { return passive{inner, machine{}} }

type passive struct {
	assay.Runner
	machine machine
}

// Run implements [assay.Runner].
func (p passive) Run(ctx context.Context, job assay.Job, observe func(assay.Measurement)) (assay.Measurement, error) {
	before, local := p.stats(), p.machine.localStats()
	m, err := p.Runner.Run(ctx, job, observe)
	after := p.stats()
	if m.Metrics == nil {
		m.Metrics = map[string]float64{}
	}
	if after.mounts > 0 {
		after.sub(before).add(&m)
	} else {
		p.machine.localStats().sub(local).add(&m)
	}
	return m, err
}

// An nfsStats holds the kernel's counts for all NFS mounts.
type nfsStats struct {
	mounts      int
	read, write float64 // bytes, between client and server
	ops         map[string]nfsOp
}

// An nfsOp is one kind of request.
type nfsOp struct {
	count float64
	time  float64 // s, from request to reply, the sum over all
}

func (p passive) stats() nfsStats {
	text, err := p.machine.read("/proc/self/mountstats")
	if err != nil {
		return nfsStats{}
	}
	return parseMountStats(strings.NewReader(text))
}

// parseMountStats reads a file in the format of /proc/PID/mountstats (nfsiostat(8), fs/nfs/super.c). It
// skips lines that it does not understand.
func parseMountStats(r io.Reader) nfsStats {
	s := nfsStats{ops: map[string]nfsOp{}}
	nfs, perOp := false, false
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), 1<<20)
	for in.Scan() {
		f := strings.Fields(in.Text())
		switch {
		case len(f) > 7 && f[0] == "device":
			// device SERVER:/PATH mounted on /DIR with fstype nfs4 statvers=1.1
			perOp, nfs = false, strings.Contains(in.Text(), " with fstype nfs")
			if nfs {
				s.mounts++
			}
		case nfs && len(f) == 9 && f[0] == "bytes:":
			// read(2), write(2), the same with O_DIRECT, from and to the server, pages
			s.read += number(f[5])
			s.write += number(f[6])
		case nfs && len(f) > 0 && f[0] == "per-op":
			perOp = true
		case nfs && perOp && len(f) >= 9 && strings.HasSuffix(f[0], ":"):
			// NAME: requests transmissions timeouts sent received queue ms, round trip ms, total ms
			op := s.ops[f[0]]
			op.count += number(f[1])
			op.time += number(f[7]) / 1000
			s.ops[f[0]] = op
		}
	}
	return s
}

// number parses a count. It returns 0 for anything else.
func number(s string) float64 {
	n, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return 0
	}
	return float64(n)
}

// sub returns the counts since before.
func (s nfsStats) sub(before nfsStats) nfsStats {
	d := nfsStats{
		mounts: s.mounts, read: max(0, s.read-before.read), write: max(0, s.write-before.write),
		ops: map[string]nfsOp{},
	}
	for name, op := range s.ops {
		b := before.ops[name]
		d.ops[name] = nfsOp{max(0, op.count-b.count), max(0, op.time-b.time)}
	}
	return d
}

// enoughRequests is how many requests of a kind make its mean time an estimate.
const enoughRequests = 10

// split divides the time of all requests, in seconds. It returns false if no kind of request
// can stand for the network.
func (s nfsStats) split() (network, disk float64, ok bool) {
	var least, count, total float64
	for _, op := range s.ops {
		count += op.count
		total += op.time
		if op.count < enoughRequests {
			continue
		}
		if mean := op.time / op.count; !ok || mean < least {
			least, ok = mean, true
		}
	}
	network = min(total, least*count)
	return network, total - network, ok
}

// add adds the counts to a measurement.
func (s nfsStats) add(m *assay.Measurement) {
	requests := 0.0
	for _, op := range s.ops {
		requests += op.count
	}
	m.Metrics["data_flow"] = s.read + s.write
	m.Metrics["read_bytes"] = s.read
	m.Metrics["write_bytes"] = s.write
	m.Metrics["requests"] = requests
	network, disk, ok := s.split()
	if !ok {
		for _, name := range []string{"network_time", "disk_time"} {
			missing(m, name, "too few requests of one kind to separate the network from the server")
		}
		return
	}
	m.Metrics["network_time"] = network
	m.Metrics["disk_time"] = disk
}
