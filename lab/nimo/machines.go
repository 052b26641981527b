package nimo

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/stats"
)

// This file predicts recorded run times on a real machine from those on another one and the
// profiles of both: M(G, I, R) of Eq. 2.

// leastSeconds is the time of the runs that are predicted: the shorter ones are the start of a process.
const leastSeconds = 5

// fewestInputs is how many inputs of a task a model needs.
const fewestInputs = 5

// A MachineCell is one row of the result on recorded machines: models that are learned on one
// and predict for another. Errors are medians over all predictions, in percent.
type MachineCell struct {
	From    string  `json:"learned_on"`
	To      string  `json:"predicted_for"`
	Tasks   int     `json:"tasks"`
	Runs    int     `json:"predictions"`
	Same    float64 `json:"as_if_the_same"` // as if the machines were the same
	Scores  float64 `json:"by_scores"`      // by the scores of processor and disk of both
	Covered float64 `json:"covered"`        // share that is in the 95 % interval, by scores
	Kernels float64 `json:"by_benchmarks"`  // by the mean time of short benchmarks of both
}

// A site is a recorded machine: its profile by scores, and that by benchmarks.
type site struct {
	name            string
	scores, kernels costmodel.Machine
	runs            map[string]map[string][]float64 // times by task and input
}

// Machines predicts every task of the recorded workflows in dir/lotaru on each machine from its
// runs on each other one.
func Machines(ctx context.Context, dir string, o Options) ([]MachineCell, error) {
	sites, err := readSites(filepath.Join(dir, "lotaru"))
	if err != nil {
		return nil, err
	}
	var cells []MachineCell
	var all outcomes
	found := make([][]outcomes, len(sites))
	err = o.Pool.Each(ctx, len(sites), func(_ context.Context, _, i int) (err error) {
		found[i], err = sites[i].predictFor(sites)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, from := range sites {
		for j, to := range sites {
			if i != j {
				cells = append(cells, found[i][j].cell(from.name, to.name))
				all.add(found[i][j])
			}
		}
	}
	return append(cells, all.cell("all", "all")), nil
}

// outcomes are the relative errors of predictions.
type outcomes struct {
	tasks                 int
	same, scores, kernels []float64
	covered               int
}

func (a *outcomes) add(b outcomes) {
	a.tasks += b.tasks
	a.same, a.scores, a.kernels = append(a.same, b.same...), append(a.scores, b.scores...), append(a.kernels, b.kernels...)
	a.covered += b.covered
}

func (a *outcomes) cell(from, to string) MachineCell {
	n := len(a.same)
	c := MachineCell{From: from, To: to, Tasks: a.tasks, Runs: n}
	if n > 0 {
		c.Same, c.Scores, c.Kernels = 100*stats.Median(a.same), 100*stats.Median(a.scores), 100*stats.Median(a.kernels)
		c.Covered = float64(a.covered) / float64(n)
	}
	return c
}

// predictFor learns each task on s and predicts it for the others.
func (s *site) predictFor(others []*site) ([]outcomes, error) {
	out := make([]outcomes, len(others))
	for task, runs := range s.runs {
		m, err := modelOf(runs)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		scores, err := m.LearnedOn(s.scores)
		if err != nil {
			return nil, err
		}
		kernels, err := m.LearnedOn(s.kernels)
		if err != nil {
			return nil, err
		}
		for i, to := range others {
			if to == s {
				continue
			}
			before := len(out[i].same)
			for input, times := range to.runs[task] {
				truth := stats.Median(times)
				if truth < leastSeconds || runs[input] == nil {
					continue
				}
				at := map[string]string{inputAttribute: input}
				same, err := m.PredictAt(at)
				if err != nil {
					return nil, err
				}
				by, err := scores.PredictOn(at, to.scores)
				if err != nil {
					return nil, err
				}
				short, err := kernels.PredictOn(at, to.kernels)
				if err != nil {
					return nil, err
				}
				off := func(x float64) float64 { return math.Abs(x-truth) / truth }
				out[i].same = append(out[i].same, off(same.Seconds))
				out[i].scores = append(out[i].scores, off(by.Seconds))
				out[i].kernels = append(out[i].kernels, off(short.Seconds))
				if by.Low <= truth && truth <= by.High {
					out[i].covered++
				}
			}
			if len(out[i].same) > before {
				out[i].tasks++
			}
		}
	}
	return out, nil
}

// inputAttribute is the attribute of the models: bytes of input.
const inputAttribute = "input_bytes"

// modelOf learns the time of a task by its input, nil of too few inputs. Repeated runs all count.
func modelOf(runs map[string][]float64) (*costmodel.Model, error) {
	levels := make([]string, 0, len(runs))
	for input := range runs {
		levels = append(levels, input)
	}
	if len(levels) < fewestInputs {
		return nil, nil
	}
	slices.SortFunc(levels, func(a, b string) int {
		x, _ := assay.Number(a)
		y, _ := assay.Number(b)
		return cmp.Compare(x, y)
	})
	space, err := assay.NewSpace([]assay.Param{{Name: inputAttribute, Kind: assay.Ordinal, Levels: levels}})
	if err != nil {
		return nil, err
	}
	var rs []costmodel.Run
	for i, input := range levels {
		for _, x := range runs[input] {
			r, err := costmodel.Profile(assay.Config{float64(i)}, assay.Measurement{Elapsed: seconds(x)}, 1)
			if err != nil {
				return nil, err
			}
			rs = append(rs, r)
		}
	}
	return costmodel.Fit(space, rs, nil, costmodel.Best)
}

// readSites reads the machines of the record that have scores and benchmarks, by name.
func readSites(dir string) ([]*site, error) {
	by := map[string]*site{}
	err := eachRow(filepath.Join(dir, "data.csv"), func(cell func(string) string) error {
		x, err := strconv.ParseFloat(cell("realtime_s"), 64)
		cpu, errCPU := strconv.ParseFloat(cell("cpu_score"), 64)
		disk, errDisk := strconv.ParseFloat(cell("io_score"), 64)
		input := cell("task_input_B")
		if _, ok := assay.Number(input); err != nil || errCPU != nil || errDisk != nil || !ok || !(x > 0) {
			return nil // a run without a time, a place or a program
		}
		name, task := cell("machine"), cell("workflow")+" "+cell("task")
		s := by[name]
		if s == nil {
			s = &site{
				name: name, scores: costmodel.Machine{"integer_speed": cpu, "disk": disk},
				runs: map[string]map[string][]float64{},
			}
			by[name] = s
		}
		if s.runs[task] == nil {
			s.runs[task] = map[string][]float64{}
		}
		s.runs[task][input] = append(s.runs[task][input], x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	logs := map[string][]float64{}
	err = eachRow(filepath.Join(dir, "machine_benchmarks.csv"), func(cell func(string) string) error {
		var times []float64
		for _, column := range []string{"realtime1", "realtime2", "realtime3"} {
			if x, err := strconv.ParseFloat(cell(column), 64); err == nil && x > 0 {
				times = append(times, x)
			}
		}
		if len(times) > 0 { // -1 stands for one that was not measured, on any machine
			logs[cell("node")] = append(logs[cell("node")], math.Log(stats.Median(times)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var sites []*site
	for name, s := range by {
		if len(logs[name]) > 0 {
			s.kernels = costmodel.Machine{"integer_speed": math.Exp(-stats.Mean(logs[name]))}
			sites = append(sites, s)
		}
	}
	slices.SortFunc(sites, func(a, b *site) int { return cmp.Compare(a.name, b.name) })
	return sites, nil
}

// eachRow calls f with every row of a table: the text of a column by its name.
func eachRow(file string, f func(cell func(column string) string) error) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	rows := csv.NewReader(in)
	title, err := rows.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := f(func(column string) string {
			if i := slices.Index(title, column); i >= 0 {
				return row[i]
			}
			return ""
		}); err != nil {
			return err
		}
	}
}

// WriteMachines writes the predictions between machines.
func WriteMachines(cells []MachineCell, w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "learned on", "predicted for", ">tasks", ">predictions", ">as if the same, %",
		">by scores, %", ">in interval, %", ">by benchmarks, %")
	for _, c := range cells {
		t.Add(c.From, c.To, fmt.Sprint(c.Tasks), fmt.Sprint(c.Runs), fmt.Sprintf("%.1f", c.Same),
			fmt.Sprintf("%.1f", c.Scores), fmt.Sprintf("%.0f", 100*c.Covered), fmt.Sprintf("%.1f", c.Kernels))
	}
	return t.Write(w)
}
