package trace

import (
	"path"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// This file is for collections of recorded executions such as WfInstances (wfcommons), whose files do
// not record which of them belong together. Labels are derived from names, by a convention of such
// collections, not by a format.

// A Recorded is an execution with the labels by which it is compared.
type Recorded struct {
	workflow.Execution
	Name string
	Site string // executions at one Site share the machines and the workflow system
	Grid bool   // at a site where waiting in queues is most of the makespan
}

// Label derives the application, site and configuration of a recorded execution from its file's path and
// its machines.
//
// The application is the folder of the file. If the folder is the top or mixes applications (its name
// ends in digits, or is "."), it is the name up to the first "-" or "_". The site is the workflow system
// and the stem that most machines' names share ("compute-3" and "compute-7" are of one site); if no stem
// covers half of more than eight machines it is a grid. The configuration is the file's name without a
// repetition's number.
//
// It reads no file: w has been read from it. Config keeps the folder, so that equal names in two folders
// are two configurations.
func Label(w *workflow.Workflow, file string) Recorded {
	dir, base := path.Split(file)
	base, _, _ = strings.Cut(base, ".json")
	r := Recorded{Execution: workflow.Execution{Workflow: w}, Name: file}
	r.Config = dir + stripRepetition(base)
	r.App = path.Base(path.Clean(dir))
	if r.App == "." || r.App == "/" || isDigits(r.App[len(r.App)-1:]) {
		r.App = base
		if i := strings.IndexAny(base, "-_"); i > 0 {
			r.App = base[:i]
		}
	}
	r.Site, r.Grid = siteOf(w)
	return r
}

// stripRepetition takes "-001" or "-run001" off the end of a name.
//
// A name that is nothing but a number behind a dash is kept: it would be empty.
func stripRepetition(s string) string {
	i := strings.LastIndexByte(s, '-')
	if i > 0 && isDigits(strings.TrimPrefix(s[i+1:], "run")) {
		return s[:i]
	}
	return s
}

// siteOf returns the name of the site of w's machines.
//
// The version of the system does not count: only the first word of its name does. If several stems have
// equally many machines, the first in the alphabet counts, so that the order of machines does not
// matter. Eight machines or fewer are never a grid: a small cluster may have a name for each.
func siteOf(w *workflow.Workflow) (site string, grid bool) {
	system, _, _ := strings.Cut(w.System, " ")
	count := map[string]int{}
	best := ""
	for _, m := range w.Machines {
		stem := hostStem(m.Name)
		count[stem]++
		if n := count[stem] - count[best]; n > 0 || n == 0 && stem < best {
			best = stem
		}
	}
	if n := len(w.Machines); n > 8 && 2*count[best] < n {
		return system + "/grid", true
	}
	return system + "/" + best, false
}

// hostStem returns a machine's name without its domain and numbering.
//
// "compute-03.example.org" has the stem "compute". A name of digits only has the stem "".
func hostStem(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimRight(name, "0123456789-_")
}
