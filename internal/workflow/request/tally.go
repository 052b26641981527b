package request

import "github.com/assay-run/assay/workflow"

// maxAttempts ends the doubling of a tally: no task needs 2^40 times its first request.
const maxAttempts = 40

// A Tally counts the results of requests on tasks. Byte-seconds are of memory over time.
type Tally struct {
	Tasks  int `json:"tasks"`
	Failed int `json:"failed"` // tasks at least one attempt of which was killed
	// Unended counts the tasks in Failed that never succeeded.
	Unended  int `json:"unended,omitempty"`
	Attempts int `json:"attempts"`
	// Wasted is memory asked for and not used, over the time it was held: all of attempts
	// that were killed.
	Wasted float64 `json:"wasted_Bs"`
	Used   float64 `json:"used_Bs"` // the peak of each task over its run time
	// Asked and Ran are the time limits of all attempts together, and the run times.
	Asked workflow.Seconds `json:"asked_s"`
	Ran   workflow.Seconds `json:"ran_s"`
}

// Add adds the counts of o.
func (t *Tally) Add(o Tally) {
	t.Tasks += o.Tasks
	t.Failed += o.Failed
	t.Unended += o.Unended
	t.Attempts += o.Attempts
	t.Wasted += o.Wasted
	t.Used += o.Used
	t.Asked += o.Asked
	t.Ran += o.Ran
}

// FailedShare returns the share of tasks that failed at least once; 0 without tasks.
func (t Tally) FailedShare() float64 {
	if t.Tasks == 0 {
		return 0
	}
	return float64(t.Failed) / float64(t.Tasks)
}

// Try counts the result of a task under two rules. A rule that is not known sets no bound, and nothing
// is wasted of it.
//
// An attempt that has too little memory is assumed to run its whole time, or until its limit: when
// memory runs out is not recorded, and this is the most that it can cost. Both requests double after any
// failure, as in the written configurations.
func (t *Tally) Try(u *Use, memory, time Rule) {
	t.Tasks++
	t.Used += u.Memory * u.Run
	t.Ran += u.Run
	for k := 1; ; k++ {
		t.Attempts++
		m, limit := memory.Attempt(u.In, k), time.Attempt(u.In, k)
		t.Asked += limit
		short := memory.Known() && u.Memory > m
		late := time.Known() && u.Run > limit
		if k == maxAttempts || !short && !late {
			if memory.Known() && u.Memory > 0 {
				t.Wasted += max(m-u.Memory, 0) * u.Run
			}
			return
		}
		if k == 1 {
			t.Failed++
		}
		if u.Memory > 0 {
			held := u.Run
			if late {
				held = limit
			}
			t.Wasted += m * held
		}
	}
}

// Recorded counts the recorded result of a task. unasked is its request if none was recorded.
func (t *Tally) Recorded(u *Use, unasked Rule) {
	if u.AskMemory == 0 {
		t.Try(u, unasked, Constant(u.AskTime))
		return
	}
	t.Tasks++
	t.Attempts++
	t.Asked += u.AskTime
	t.Ran += u.Run
	if u.Ended {
		t.Used += u.Memory * u.Run
		if u.Memory > 0 {
			t.Wasted += max(u.AskMemory-u.Memory, 0) * u.Run
		}
	} else {
		t.Attempts--
		t.Asked -= u.AskTime
		t.Ran -= u.Run
		t.Unended++
	}
	if len(u.Killed) > 0 {
		t.Failed++
	}
	for _, l := range u.Killed {
		t.Attempts++
		t.Asked += l.AskTime
		t.Wasted += l.AskMemory * l.Run
	}
}
