package site

import (
	"math"

	"github.com/assay-run/assay/workflow"
)

// A Resource is the assignment of a task: R = <C, N, S> of the paper. It computes at one site and has
// its input and output data in the storage of one.
type Resource struct {
	Compute, Storage *Site  // the two sites
	Route            *Route // from Storage to Compute; nil if they are the same site
}

// A TaskTime is how long a task takes on a Resource that it shares with nothing.
type TaskTime struct {
	Compute workflow.Seconds // the processor works: o_a·D of the paper
	Stall   workflow.Seconds // it waits for data, of local storage or over the network: o_s·D
	// Error is the relative standard deviation of the sum; 0 means not known.
	Error float64
}

// A TaskModel is a cost model M(G, I, R) (§2.1). It is safe for concurrent use.
type TaskModel interface {
	// Time returns how long t takes on r, which it must not change. An error means that the model has no
	// prediction; it ends the planning.
	Time(t *workflow.Task, r Resource) (TaskTime, error)
}

// ScaledModel is the [TaskModel] of a workflow whose run times were recorded: the run time divided by
// the site's Speed, plus the time for its input and output bytes over the site's own disk, or over the
// network with a round trip for each Block. A recorded run time includes the task's I/O, so that on its
// own machine Disk is best left 0.
type ScaledModel struct {
	Block workflow.Bytes // bytes moved per round trip of remote I/O; 0 means 1 MiB, the transfer size of NFS in Linux
}

var _ TaskModel = ScaledModel{}

// Time implements [TaskModel].
func (m ScaledModel) Time(t *workflow.Task, r Resource) (TaskTime, error) {
	block := m.Block
	if block == 0 {
		block = 1 << 20
	}
	speed := r.Compute.Speed
	if speed == 0 {
		speed = 1
	}
	n := flow(t)
	x := TaskTime{Compute: t.Run / speed}
	rate := math.Inf(1)
	if d := r.Storage.Disk; d > 0 {
		rate = d
	}
	if r.Route != nil {
		rate = min(rate, r.Route.Bandwidth)
		x.Stall = math.Ceil(n/block) * r.Route.Latency
	}
	x.Stall += n / rate
	return x, nil
}

// flow returns the data flow D of a task in bytes: its input and output files, or the bytes that it was
// seen to read and write if its files are not known.
func flow(t *workflow.Task) workflow.Bytes {
	if n := t.In + t.Out; n > 0 {
		return n
	}
	return t.Read + t.Written
}
