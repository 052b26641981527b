package workflow

import "strings"

// A Lost is an attempt to run a task that failed, as far as it was recorded.
type Lost struct {
	Name string  // of the task, without the attempt: see [AttemptName]
	Kind string  // of the task
	Run  Seconds // until it failed; 0 if not known
	// Memory is its largest resident set; 0 if not known.
	Memory    Bytes
	AskMemory Bytes   // the memory that it was given; 0 if not known
	AskTime   Seconds // its time limit; 0 if not known
	Exit      int     // exit status; -1 if not known

	// Killed is an attempt that a signal ended, as batch systems do with tasks that exceed their request.
	// Others failed by themselves.
	Killed bool
	Short  ShortOf // the resource that it probably lacked, if it was killed
}

// A ShortOf is the resource that an attempt was killed for.
type ShortOf uint8

const (
	ShortOfMemory ShortOf = iota // or not known: the kill alone does not show which
	ShortOfTime
)

// AttemptName returns the name that all attempts of a task share: its ID without " #" and a number.
func AttemptName(id string) string {
	i := strings.LastIndex(id, " #")
	if i < 0 || i+2 == len(id) || strings.Trim(id[i+2:], "0123456789") != "" {
		return id
	}
	return id[:i]
}
