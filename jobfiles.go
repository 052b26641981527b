package assay

// An Input is a file that a run reads, by its content.
type Input struct {
	Name   string `json:"name"` // a path below the job's Dir, with slashes
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Exec   bool   `json:"exec,omitempty"` // it is a program
}

// A Shared is a path that is the same file or directory on every machine: nothing is copied.
type Shared struct {
	Path string `json:"path"`
	// Size is the size of a file at the place where the job was made; -1 if it was a directory, or did not exist.
	Size int64 `json:"size"`
}

// Apart reports whether a carrier that runs the job on another machine gives the run a directory of
// its own, in place of Dir: one in which are the inputs and nothing else, and from which the outputs
// are kept. On the machine where the job was made the inputs are in Dir, and the outputs stay there.
func (j Job) Apart() bool { return len(j.Inputs) > 0 || len(j.Outputs) > 0 }
