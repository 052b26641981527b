package planning

// This file reads workflows, and calibrations from recorded executions, from a [Place]: the file
// system, or files that were sent. The readers of the formats are in internal/workflow/trace, which opens no
// file.
//
// Every error is a mistake in a name or in the content: a missing file, or a [*workflow.InputError] with
// the place.

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/assay-run/assay/internal/workflow/trace"
	"github.com/assay-run/assay/workflow"
)

// Read reads the workflow that arg names at a place: a file, files of one workflow with
// commas between them, a folder of such files, or "-" for stdin. A workflow
// without a name gets arg's last element.
func Read(at Place, arg string, stdin io.Reader, opt workflow.FillOptions) (*workflow.Workflow, error) {
	if at == Disk {
		// A workflow of a million tasks is kept whole: collecting garbage at twice the heap would take a third
		// of the time of reading it. A server, which reads uploaded files, does more than that.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	if arg == "-" {
		return trace.Read(opt, trace.Source{Name: "<stdin>", Reader: stdin})
	}
	names, err := named(at, arg)
	if err != nil {
		return nil, err
	}
	var sources []trace.Source
	for _, name := range names {
		file, err := at.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		sources = append(sources, trace.Source{Name: name, Reader: file})
	}
	w, err := trace.Read(opt, sources...)
	if err != nil {
		return nil, err
	}
	if w.Name == "" {
		w.Name = filepath.Base(arg)
	}
	return w, nil
}

// named returns the files that arg names, at least one. A file whose own name has
// commas is one file.
func named(at Place, arg string) ([]string, error) {
	paths := []string{arg}
	if _, err := at.Files(arg); err != nil && strings.Contains(arg, ",") {
		paths = strings.Split(arg, ",")
	}
	var names []string
	for _, p := range paths {
		more, err := at.Files(p)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no files", arg)
	}
	return names, nil
}

// each calls f with every file that the arguments name, in order.
func each(at Place, args []string, f func(name string) error) error {
	for _, arg := range args {
		files, err := at.Files(arg)
		if err != nil {
			return err
		}
		for _, name := range files {
			if err := f(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Calibration returns the calibration that the arguments name: one saved before, which stands alone, or
// one fitted to the recorded executions in files and folders. [trace.Label] labels the executions.
func Calibration(at Place, args []string) (*workflow.Calibration, error) {
	var runs []workflow.Execution
	var saved *workflow.Calibration
	var from string
	files := 0
	err := each(at, args, func(name string) error {
		if files++; saved != nil {
			return nil // an error, regardless of the others
		}
		c, err := savedCalibration(at, name)
		if err != nil || c != nil {
			saved, from = c, name
			return err
		}
		w, err := Read(at, name, nil, workflow.FillOptions{Fill: true})
		if err != nil {
			return err
		}
		runs = append(runs, trace.Label(w, filepath.ToSlash(name)).Execution)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case saved != nil && files > 1:
		return nil, fmt.Errorf("%s is a saved calibration, which stands alone", from)
	case saved != nil:
		return saved, nil
	}
	return workflow.Calibrate(runs)
}

// savedCalibration reads the file if it is a calibration; nil if it is not.
func savedCalibration(at Place, name string) (*workflow.Calibration, error) {
	file, err := at.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	if head, _ := r.Peek(64); !workflow.IsCalibration(head) {
		return nil, nil
	}
	return workflow.ReadCalibration(name, r)
}

// Executions reads each file that the arguments name, and each below the folders that
// they name, as an execution of its own. Missing run times are filled in.
func Executions(at Place, args []string) ([]*workflow.Workflow, error) {
	var runs []*workflow.Workflow
	err := each(at, args, func(name string) error {
		w, err := Read(at, name, nil, workflow.FillOptions{Fill: true})
		if err != nil {
			return err
		}
		runs = append(runs, w)
		return nil
	})
	if err == nil && len(runs) == 0 {
		err = fmt.Errorf("%s: no files", strings.Join(args, ", "))
	}
	return runs, err
}

// SlotTimes fits how run times change with the slots to recorded executions in files
// and folders.
func SlotTimes(at Place, args []string) (*workflow.SlotTimes, error) {
	runs, err := Executions(at, args)
	if err != nil {
		return nil, err
	}
	return workflow.FitSlotTimes(runs...)
}

// KindTimes fits lines over input sizes to the tasks of recorded executions in
// files and folders.
func KindTimes(at Place, args []string) (*workflow.KindModel, error) {
	var runs []*workflow.Workflow
	err := each(at, args, func(name string) error {
		w, err := Read(at, name, nil, workflow.FillOptions{Allow: true})
		runs = append(runs, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	return workflow.FitKinds(runs...)
}

// Recorded reads every execution below the folders, named by its path below its
// folder. Files without a recorded makespan are counted in skipped and left
// out; so are, uncounted, files that are no JSON by their name. No execution at
// all is an error.
func Recorded(at Place, dirs []string) (runs []trace.Recorded, skipped int, err error) {
	for _, dir := range dirs {
		err := each(at, []string{dir}, func(name string) error {
			base := filepath.Base(name)
			if base == "meta.json" || !strings.HasSuffix(base, ".json") && !strings.HasSuffix(base, ".json.gz") {
				return nil
			}
			w, err := Read(at, name, nil, workflow.FillOptions{Fill: true})
			if err != nil {
				return err
			}
			if !(w.Makespan > 0) {
				skipped++
				return nil
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil || rel == "." {
				rel = name
			}
			runs = append(runs, trace.Label(w, filepath.ToSlash(rel)))
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if len(runs) == 0 {
		return nil, 0, fmt.Errorf("%s: no executions with a makespan", strings.Join(dirs, ", "))
	}
	return runs, skipped, nil
}

// Sized reads every execution that the arguments name, files and files below folders, whose tasks have
// their use of resources; missing run times are left out. [trace.Label] labels executions and their
// applications. Files that are no workflow by their name are passed over in folders.
func Sized(at Place, args []string) ([]trace.Recorded, error) {
	var runs []trace.Recorded
	for _, arg := range args {
		err := each(at, []string{arg}, func(name string) error {
			stem := strings.TrimSuffix(name, ".gz")
			ext := filepath.Ext(stem)
			if name != arg && (ext != ".json" && ext != ".csv" && ext != ".txt" && ext != ".tsv" && ext != ".yaml" ||
				filepath.Base(name) == "meta.json" || filepath.Base(name) == "instances.csv") {
				return nil
			}
			w, err := Read(at, name, nil, workflow.FillOptions{Allow: true})
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(arg, name)
			if err != nil || rel == "." {
				rel = name
			}
			runs = append(runs, trace.Label(w, strings.TrimSuffix(filepath.ToSlash(stemOf(rel)), ext)))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s: no executions", strings.Join(args, ", "))
	}
	return runs, nil
}

// stemOf returns a name without the ending of packed files.
func stemOf(name string) string { return strings.TrimSuffix(name, ".gz") }
