package workflow

import (
	"fmt"
	"slices"
)

// Cluster returns w with the tasks of each level gathered into at most k jobs (Pietri et al., §III and
// §V.B; horizontal clustering, Singh et al. 2008). The tasks of a job run one after the other in one
// slot. Tasks of different kinds are not gathered, and neither are auxiliary tasks: a level with several
// kinds has up to k jobs of each, as in Pegasus.
//
// Tasks are dealt longest first to the job with the least work so far, so that the jobs of a kind are
// balanced (Chen et al. 2013). A job has the files of its tasks; a file that it both writes and reads
// stays an output only. k < 1 panics.
//
// A job has the ID, kind and machine of its lowest task. No job waits for itself, since the tasks of one
// level do not depend on each other. w is not changed, and the new workflow keeps w's recorded makespan,
// which was measured without clustering.
func Cluster(w *Workflow, leveler Leveler, k int) (*Workflow, error) {
	if k < 1 {
		panic("workflow: clusters must be at least 1")
	}
	job := assignJobs(w, leveler.Level(w.Graph, w.Runs(), k), k)
	b := Builder{
		Name: w.Name, System: w.System, Format: w.Format, Machines: slices.Clone(w.Machines),
		Makespan: w.Makespan,
	}
	for t := range w.Tasks {
		task := w.Tasks[t]
		// Jobs are numbered by first task, so that j == b.Len() for the first task of a job and
		// less for others.
		if j := int(job[t]); j < b.Len() {
			into := b.At(j)
			into.Run += task.Run
			into.Memory = max(into.Memory, task.Memory)
			into.Cores = max(into.Cores, task.Cores)
			into.Read += task.Read
			into.Written += task.Written
			into.In += task.In
			into.Out += task.Out
			continue
		}
		if _, err := b.Task(task, Pos{}); err != nil {
			return nil, fmt.Errorf("clustering: %w", err)
		}
	}
	clusterFiles(&b, w, job)
	for t := range w.Tasks {
		for _, s := range w.Graph.Succs(t) {
			b.Edge(b.At(int(job[t])).ID, b.At(int(job[s])).ID, Pos{})
		}
	}
	return b.Build(FillOptions{Allow: true})
}

// assignJobs returns the job of each task. A group is the tasks of one kind in one level; one of at most
// k tasks, or of auxiliary ones, is left as it is. Jobs are numbered by their first task, so that the
// graph of jobs has the order of the graph of tasks.
//
// The groups are dealt in the order of their first tasks and not in map order, so that equal inputs give
// equal jobs.
func assignJobs(w *Workflow, level []int32, k int) []int32 {
	type group struct {
		level int32
		kind  string // of its tasks
		aux   bool   // auxiliary tasks stay jobs of their own
	}
	members := map[group][]int32{}
	var order []group
	for t := range w.Tasks {
		g := group{level[t], w.Tasks[t].Kind, w.Tasks[t].Auxiliary}
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], int32(t))
	}
	first := make([]int32, len(w.Tasks)) // the first task of the job of t
	for _, g := range order {
		m := members[g]
		if g.aux || len(m) <= k {
			for _, t := range m {
				first[t] = t
			}
			continue
		}
		deal(w, m, k, first)
	}
	// Number the jobs in the order of their first tasks.
	job, n := make([]int32, len(first)), int32(0)
	for t, f := range first {
		if int(f) == t {
			job[t] = n
			n++
		} else {
			job[t] = job[f]
		}
	}
	return job
}

// deal shares m out to k jobs, longest task first to the job with the least work so far: the
// longest job is at most 4/3 - 1/(3k) of the shortest possible (Graham 1969, LPT). It sets
// first to the lowest task of each task's job.
//
// Tasks of equal length keep the order of their numbers. m ascends and has more than k tasks, so
// that no job is empty unless run times are 0.
func deal(w *Workflow, m []int32, k int, first []int32) {
	byRun := slices.Clone(m)
	slices.SortStableFunc(byRun, func(a, b int32) int {
		switch x, y := w.Tasks[a].Run, w.Tasks[b].Run; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	heap := make([]running, k) // end: work of the job; task: its number
	for i := range heap {
		heap[i] = running{task: int32(i)}
	}
	jobOf := make(map[int32]int32, len(m))
	for _, t := range byRun {
		j := heap[0]
		heap = popRunning(heap)
		jobOf[t] = j.task
		j.end += w.Tasks[t].Run
		heap = pushRunning(heap, j)
	}
	head := make([]int32, k)
	for i := range head {
		head[i] = -1
	}
	for _, t := range m { // in order of index, so that the first is the lowest
		j := jobOf[t]
		if head[j] < 0 {
			head[j] = t
		}
		first[t] = head[j]
	}
}

// clusterFiles gives the jobs the files of their tasks. A file that passes between two tasks
// of one job stays an output of the job.
//
// Build drops repeated files. The sums of bytes are taken anew from the files there.
func clusterFiles(b *Builder, w *Workflow, job []int32) {
	for _, f := range w.Files {
		b.SetFile(f.ID, f.Size) // all, in w's order, so that their numbers stay
	}
	for t := range w.Tasks {
		j := int(job[t])
		for _, f := range w.Inputs(t) {
			b.Input(j, w.Files[f].ID)
		}
		for _, f := range w.Outputs(t) {
			b.Output(j, w.Files[f].ID)
		}
	}
}
