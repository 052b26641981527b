package request

import (
	"github.com/assay-run/assay/workflow"
)

// A Use holds the resources that one task of a recorded execution used.
type Use struct {
	Kind   string
	In     workflow.Bytes   // size of its input files; 0 if not known
	Memory workflow.Bytes   // its largest resident set; 0 if not known
	Run    workflow.Seconds // run time of the attempt that succeeded

	// The request; 0 if it is not recorded.
	AskMemory workflow.Bytes
	AskTime   workflow.Seconds

	Killed []workflow.Lost // attempts that the batch system ended, before the one that succeeded

	// Ended is false for a task without a successful attempt: Memory and Run are then lower bounds of its
	// needs.
	Ended bool

	// Execution numbers executions, and Config configurations of which executions are repetitions.
	Execution, Config int
}

// Execution is a recorded execution, and the configuration of which it is a repetition.
type Execution struct {
	*workflow.Workflow
	Config string
}

// Uses returns the uses of the tasks of recorded executions. Tasks without a kind, without a run time,
// and those that the workflow system added are left out.
func Uses(runs []Execution) []Use {
	var out []Use
	configs := map[string]int{}
	for e, r := range runs {
		c, ok := configs[r.Config]
		if !ok {
			c = len(configs)
			configs[r.Config] = c
		}
		lost := map[string][]workflow.Lost{}
		for _, l := range r.Lost {
			if l.Killed {
				lost[l.Name] = append(lost[l.Name], l)
			}
		}
		for i := range r.Tasks {
			t := &r.Tasks[i]
			if t.Auxiliary || t.Kind == "" || !(t.Run > 0) {
				continue
			}
			name := workflow.AttemptName(t.ID)
			out = append(out, Use{
				Kind: t.Kind, In: t.In, Memory: t.Memory, Run: t.Run, AskMemory: t.AskMemory, AskTime: t.AskTime,
				Killed: lost[name], Ended: true, Execution: e, Config: c,
			})
			delete(lost, name)
		}
		for _, l := range r.Lost { // in their order, so that the result has one
			if all, ok := lost[l.Name]; ok {
				delete(lost, l.Name)
				out = append(out, never(all, e, c))
			}
		}
	}
	return out
}

// never returns the use of a task without a successful attempt: it needs more than the most that it had.
// It is assumed to need twice as much, which its next attempt would have been given.
func never(all []workflow.Lost, execution, config int) Use {
	u := Use{Kind: all[0].Kind, Killed: all, Execution: execution, Config: config}
	for _, l := range all {
		u.Run = max(u.Run, l.Run)
		u.AskMemory, u.AskTime = max(u.AskMemory, l.AskMemory), max(u.AskTime, l.AskTime)
		switch l.Short {
		case workflow.ShortOfTime:
			u.Run = max(u.Run, 2*l.AskTime)
			u.Memory = max(u.Memory, l.Memory)
		default:
			u.Memory = max(u.Memory, 2*l.AskMemory, l.Memory)
		}
	}
	return u
}
