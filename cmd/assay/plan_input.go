package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/workflow"
)

// readWorkflow reads the workflow that an argument names: a file, files with
// commas between them, a folder, or - for in.
func readWorkflow(arg string, in io.Reader, opt workflow.FillOptions) (*workflow.Workflow, error) {
	// A workflow of a million tasks is kept whole: collecting garbage at twice
	// the heap would take a third of the time of reading it.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	if arg == "-" {
		w, err := workflow.Read(opt, workflow.Source{Name: "<stdin>", Reader: in})
		return w, badInput(err)
	}
	paths := []string{arg}
	if _, err := os.Stat(arg); err != nil && strings.Contains(arg, ",") {
		paths = strings.Split(arg, ",")
	}
	var names []string
	for _, p := range paths {
		more, err := filesOf(p)
		if err != nil {
			return nil, inputError(err)
		}
		names = append(names, more...)
	}
	var sources []workflow.Source
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, inputError(err)
		}
		defer file.Close()
		sources = append(sources, workflow.Source{Name: name, Reader: file})
	}
	if len(sources) == 0 {
		return nil, usagef("%s: no files", arg)
	}
	w, err := workflow.Read(opt, sources...)
	if err != nil {
		return nil, badInput(err)
	}
	if w.Name == "" {
		w.Name = filepath.Base(arg)
	}
	return w, nil
}

// badInput gives exit code 2 to what is wrong with a workflow's input.
func badInput(err error) error {
	if _, ok := errors.AsType[*workflow.InputError](err); ok {
		return inputError(err)
	}
	return err
}

// filesOf returns path, or the files below it if it is a folder.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") {
			files = append(files, p)
		}
		return err
	})
	return files, err
}

// writeFile writes a file with f.
func writeFile(name string, f func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return mistaken(err)
	}
	w := bufio.NewWriter(file)
	return errors.Join(f(w), w.Flush(), file.Close())
}

// parseSlots reads 2,4,8 or 4..256, every doubling, or a mix. "" is nil.
func parseSlots(s string) ([]int, error) {
	var out []int
	if s == "" {
		return nil, nil
	}
	for field := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(field), "..")
		lo, err := strconv.Atoi(from)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(to)
		}
		if err != nil || lo < 1 || hi < lo || hi > 1<<30 {
			return nil, usagef("--slots %q: want numbers from 1, as 2,4,8 or 4..256", s)
		}
		for n := lo; n < hi; n *= 2 {
			out = append(out, n)
		}
		out = append(out, hi)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// defaultSlots returns the doublings from 1 to the width of the widest level, or
// 256.
func defaultSlots(w *workflow.Workflow) []int {
	width := 1
	for _, l := range workflow.Profile(w, nil, workflow.TopDown{}.Level(w.Graph, nil, 1)) {
		width = max(width, l.Tasks)
	}
	out := []int{1}
	for n := 2; n < 2*width && n <= 256; n *= 2 {
		out = append(out, n)
	}
	return out
}

func parseLevelers(s string) ([]workflow.NamedLeveler, error) {
	var out []workflow.NamedLeveler
	all := workflow.Levelers()
	for name := range strings.SplitSeq(s, ",") {
		i := slices.IndexFunc(all, func(l workflow.NamedLeveler) bool { return l.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, usagef("--levels %q: want tda, bua or slack", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// parseMachines reads COUNTxCORES[:MEMORY].
func parseMachines(specs []string) ([]workflow.MachineGroup, error) {
	var out []workflow.MachineGroup
	for _, s := range specs {
		head, memory, hasMemory := strings.Cut(s, ":")
		count, cores, ok := strings.Cut(head, "x")
		n, err1 := strconv.Atoi(count)
		c, err2 := strconv.ParseFloat(cores, 64)
		g := workflow.MachineGroup{Name: s, Count: n, Cores: c}
		var err3 error
		if hasMemory {
			g.Memory, err3 = parseBytes(memory)
		}
		if !ok || err1 != nil || err2 != nil || err3 != nil || n < 1 || n > 1e6 || !(c > 0) || c > 1e6 {
			return nil, usagef("--machines %q: want COUNTxCORES[:MEMORY], as 4x8:32GB", s)
		}
		out = append(out, g)
	}
	return out, nil
}

// parseBytes reads an amount with a decimal or binary unit.
func parseBytes(s string) (float64, error) {
	units := []struct {
		name string
		size float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}
	for _, u := range units {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
			if err != nil || !(x >= 0) {
				return 0, fmt.Errorf("%q is not an amount of memory", s)
			}
			return x * u.size, nil
		}
	}
	return strconv.ParseFloat(s, 64)
}

// venue is one place to run at.
type venue struct {
	Name     string                  `json:"name"`
	Price    string                  `json:"price"`
	Speed    float64                 `json:"speed"` // run times are divided by it; 0 counts as 1
	Machines []workflow.MachineGroup `json:"machines"`
	workflow.Site

	price workflow.Price
}

// apply returns the workflow and the options for this venue.
func (v *venue) apply(w *workflow.Workflow, opt workflow.PlanOptions) (*workflow.Workflow, workflow.PlanOptions) {
	opt.Price = v.price
	if v.Site != (workflow.Site{}) {
		opt.Site, opt.Calibration = v.Site, nil
	}
	if v.Machines != nil {
		opt.Sim.Machines, opt.Simulate = v.Machines, true
	}
	if v.Speed > 0 && v.Speed != 1 {
		run := w.Runs()
		for i := range run {
			run[i] /= v.Speed
		}
		w = w.WithRuns(run)
	}
	return w, opt
}

// readVenues returns the venues that the flags name, one without a name if they
// name none.
func readVenues(f *planFlags) ([]venue, error) {
	var out []venue
	switch {
	case f.sites != "":
		data, err := os.ReadFile(f.sites)
		if err != nil {
			return nil, inputError(err)
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return nil, usagef("%s: %v", f.sites, err)
		}
	case f.prices != "":
		data, err := os.ReadFile(f.prices)
		if err != nil {
			return nil, inputError(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			fields := strings.Fields(line)
			if len(fields) != 2 {
				return nil, usagef("%s:%d: want a name and a price", f.prices, i+1)
			}
			out = append(out, venue{Name: fields[0], Price: fields[1]})
		}
	default:
		out = []venue{{}}
	}
	if len(out) == 0 {
		return nil, usagef("%s%s: no sites", f.sites, f.prices)
	}
	for i := range out {
		price := out[i].Price
		if price == "" {
			price = f.price
		}
		if price == "" {
			continue
		}
		var err error
		if out[i].price, err = workflow.ParsePrice(price); err != nil {
			return nil, inputError(err)
		}
	}
	return out, nil
}

// readCalibration reads saved calibrations, or fits one to recorded executions.
func readCalibration(args []string) (*workflow.Calibration, error) {
	var runs []workflow.Execution
	for _, arg := range args {
		files, err := filesOf(arg)
		if err != nil {
			return nil, inputError(err)
		}
		for _, name := range files {
			if c, err := savedCalibration(name); c != nil || err != nil {
				if err == nil && len(args)+len(files) > 2 {
					err = usagef("%s is a saved calibration, which stands alone", name)
				}
				return c, err
			}
			w, err := readWorkflow(name, nil, workflow.FillOptions{Fill: true})
			if err != nil {
				return nil, err
			}
			runs = append(runs, workflow.Label(w, filepath.ToSlash(name)).Execution)
		}
	}
	c, err := workflow.Calibrate(runs)
	if err != nil {
		return nil, inputError(err)
	}
	return c, nil
}

// savedCalibration reads the file if it is a calibration; nil if it is not.
func savedCalibration(name string) (*workflow.Calibration, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, inputError(err)
	}
	defer file.Close()
	r := bufio.NewReader(file)
	if head, _ := r.Peek(64); !workflow.IsCalibration(head) {
		return nil, nil
	}
	c, err := workflow.ReadCalibration(name, r)
	return c, badInput(err)
}

// fitTimes fits lines over input sizes to the tasks of recorded executions.
func fitTimes(args []string) (*workflow.KindModel, error) {
	var runs []*workflow.Workflow
	for _, arg := range args {
		files, err := filesOf(arg)
		if err != nil {
			return nil, inputError(err)
		}
		for _, name := range files {
			w, err := readWorkflow(name, nil, workflow.FillOptions{Allow: true})
			if err != nil {
				return nil, err
			}
			runs = append(runs, w)
		}
	}
	m, err := workflow.FitKinds(runs...)
	if err != nil {
		return nil, inputError(err)
	}
	return m, nil
}
