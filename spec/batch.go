package spec

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/assay-run/assay"
)

// Slurm is the name of the runner that makes each run a job of Slurm.
const Slurm = "slurm"

// A Batch is the request to a batch system for each run. CPUs, Memory, GPUs and Nodes may have placeholders of
// parameters; "" leaves them to the system.
type Batch struct {
	System    string   `json:"system,omitempty"` // the path of the file of the batch system, see [System]
	Partition string   `json:"partition,omitempty"`
	Account   string   `json:"account,omitempty"`
	Nodes     string   `json:"nodes,omitempty"`
	CPUs      string   `json:"cpus,omitempty"`
	Memory    string   `json:"memory,omitempty"`
	GPUs      string   `json:"gpus,omitempty"`
	Extra     []string `json:"extra,omitempty"` // further arguments of the command that submits
	Setup     []string `json:"setup,omitempty"` // lines of shell before the program
	// Time is the longest time of each job; 0 leaves it to the early stopping rule.
	Time time.Duration `json:"time_ns,omitempty"`
	// Spool is the directory that is shared with the machines of the jobs; "" means the default.
	Spool string `json:"spool,omitempty"`
	// Poll is how often the batch system is asked; 0 means the default.
	Poll time.Duration `json:"poll_ns,omitempty"`
}

// zero reports whether nothing is asked.
func (b Batch) zero() bool {
	return b.System+b.Partition+b.Account+b.Nodes+b.CPUs+b.Memory+b.GPUs+b.Spool == "" && len(b.Extra)+len(b.Setup) == 0 &&
		b.Time == 0 && b.Poll == 0
}

// sizes returns the texts that may have placeholders, by their keys.
func (b Batch) sizes() []struct{ key, text string } {
	return []struct{ key, text string }{{"nodes", b.Nodes}, {"cpus", b.CPUs}, {"memory", b.Memory}, {"gpus", b.GPUs}}
}

// batch checks the request to a batch system.
func (c *checker) batch() {
	s := c.study
	b := s.Placement.Batch
	if s.Placement.On == BatchSystem && b.System == "" {
		c.add("place.on", "", "", 0,
			"place: {on: batch, system: FILE.yaml}: which batch system? FILE.yaml holds its commands")
	}
	if s.Placement.On == Slurm && b.System != "" {
		c.add("place.system", "", "", 0,
			"place.system: it is for another batch system: place: {on: batch, system: FILE.yaml}")
	}
	if s.Budget.CPUHours > 0 && (s.Placement.On != Slurm && s.Placement.On != BatchSystem || b.CPUs == "") {
		c.add("budget.cpu_hours", "", "", 0,
			"budget.cpu_hours: it needs jobs that request processors from a batch system: place: {on: slurm, cpus: 4}")
	}
	if s.Placement.On != Slurm && s.Placement.On != BatchSystem {
		if !b.zero() {
			c.add("place.on", "", "", 0,
				"place: system, partition, account, nodes, cpus, memory, gpus, extra, setup, time, spool and poll are for a "+
					"batch system: place: {on: %s} or {on: %s}", Slurm, BatchSystem)
		}
		return
	}
	if s.Placement.Class != "" || s.Placement.Target != "" {
		c.add("place.class", "", "", 0,
			"place: class and target are for the workers of a server; partition and extra select the machines")
	}
	c.demand(b)
}

// demand checks the request for each job.
func (c *checker) demand(b Batch) {
	s := c.study
	for key, d := range map[string]time.Duration{"time": b.Time, "poll": b.Poll} {
		if d < 0 || key == "poll" && d > 0 && d < time.Second {
			c.add("place."+key, "", "", 0, "place.%s: at least %s", key, map[string]string{"time": "1m", "poll": "1s"}[key])
		}
	}
	names := namesOf(s.Parameters())
	for _, size := range b.sizes() {
		if size.text == "" {
			continue
		}
		t, err := ParseTemplate(size.text, names)
		if err == nil && len(t.Params()) == 0 {
			_, err = sizeOf(size.key, size.text)
		}
		if err != nil {
			c.add("place."+size.key, "", "", 0, "place.%s: %v", size.key, err)
		}
	}
}

// sizeOf reads a number of a batch system.
func sizeOf(key, text string) (float64, error) {
	x, ok := assay.Number(text)
	if i, err := strconv.Atoi(text); err == nil {
		x, ok = float64(i), true
	}
	least := 1.0
	if key == "gpus" {
		least = 0
	}
	if !ok || x < least || math.IsInf(x, 0) || key != "memory" && x != math.Trunc(x) {
		if key == "memory" {
			return 0, fmt.Errorf("%q is no size such as 4G", clip(text))
		}
		return 0, fmt.Errorf("%q is no whole number from %g", clip(text), least)
	}
	return x, nil
}

// A Demand is the request to a batch system for one configuration; 0 leaves a size to the system.
type Demand struct {
	Nodes, CPUs, GPUs int
	MemoryB           float64
	Varies            bool // with the configuration
}

// Demand returns the request for a configuration. It returns an error for a value that is no number.
func (b Batch) Demand(space *assay.Space, c assay.Config) (d Demand, err error) {
	names := namesOf(space.Params)
	for _, size := range b.sizes() {
		if size.text == "" {
			continue
		}
		t, err := ParseTemplate(size.text, names)
		if err != nil {
			return d, err
		}
		text, ok := t.Expand(space.Params, c)
		if !ok { // it is of a parameter that is at rest
			continue
		}
		x, err := sizeOf(size.key, text)
		if err != nil {
			return d, fmt.Errorf("place.%s: %w", size.key, err)
		}
		d.Varies = d.Varies || len(t.Params()) > 0
		switch size.key {
		case "nodes":
			d.Nodes = int(x)
		case "cpus":
			d.CPUs = int(x)
		case "gpus":
			d.GPUs = int(x)
		default:
			d.MemoryB = x
		}
	}
	return d, nil
}
