package figures

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
)

// A trial is a line of assay study trials --json.
type trial struct {
	State  string
	Value  float64
	Config map[string]any
}

// readTrials returns the trials of a file that ran to their end.
func readTrials(name string) (all []trial, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var t trial
		switch err := d.Decode(&t); {
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, fmt.Errorf("%s: no trials", name)
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if t.State == "done" {
			all = append(all, t)
		}
	}
}

// hopeless is how many times the best a value's best has to be for it to be left out in the picture.
const hopeless = 1.4

// pruning draws each value of each parameter: how good the best run with it was in an earlier study, and is now.
func pruning(earlier, now string) (report.Chart, error) {
	c := report.Chart{
		Title: "Each dot is a value of a parameter: the best run that has it", LogX: true, LogY: true,
		XLabel: "× the best run of the earlier study", YLabel: "× the best run now",
	}
	var best [2]map[string]float64
	for i, name := range []string{earlier, now} {
		all, err := readTrials(name)
		if err != nil {
			return c, err
		}
		best[i] = map[string]float64{}
		least := math.Inf(1)
		for _, t := range all {
			least = min(least, t.Value)
			for p, v := range t.Config {
				key := fmt.Sprint(p, "=", v)
				if old, ok := best[i][key]; !ok || t.Value < old {
					best[i][key] = t.Value
				}
			}
		}
		for key := range best[i] {
			best[i][key] /= least
		}
	}
	kept := report.Series{Name: "stays in the space", Dots: true}
	out := report.Series{
		Name: fmt.Sprintf("left out: never within %.0f %% of the best", 100*(hopeless-1)), Dots: true,
		Sign: report.Up,
	}
	wrong := report.Series{Name: "left out, though the best run now has it", Dots: true, Sign: report.Down}
	var keys []string
	for key := range best[0] {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		y, ok := best[1][key]
		if !ok {
			continue
		}
		s := &kept
		switch x := best[0][key]; {
		case x > hopeless && y <= 1:
			s = &wrong
		case x > hopeless:
			s = &out
		}
		s.X, s.Y = append(s.X, best[0][key]), append(s.Y, y)
	}
	c.Series = []report.Series{kept, out, wrong}
	return c, nil
}

// costs draws predictions over the bandwidth, with their intervals, for each number of processors, and the runs.
func costs(predictions io.Reader, runs string) (report.Chart, error) {
	c := report.Chart{
		Title: "Predictions of a model of 20 runs for a program that compresses remote data",
		LogX:  true, LogY: true, YTime: true,
		XLabel: "bandwidth, Mbit/s", YLabel: "a run takes",
	}
	all, err := readTrials(runs)
	if err != nil {
		return c, err
	}
	mbit := func(v any) float64 {
		x, err := strconv.ParseFloat(strings.TrimSuffix(fmt.Sprint(v), "Mbit"), 64)
		if err != nil {
			return math.NaN()
		}
		return x
	}
	lines := map[string]*report.Series{}
	var order []string
	for d := json.NewDecoder(predictions); ; {
		var some []struct {
			At      map[string]string
			Seconds float64
			Low     float64 `json:"low_s"`
			High    float64 `json:"high_s"`
		}
		if err := d.Decode(&some); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return c, err
		}
		for _, p := range some {
			cpu := p.At["cpu"]
			s := lines[cpu]
			if s == nil {
				s = &report.Series{Name: "model, " + cpu + " processors"}
				lines[cpu], order = s, append(order, cpu)
			}
			s.X, s.Y = append(s.X, mbit(p.At["bandwidth"])), append(s.Y, p.Seconds)
			s.Low, s.High = append(s.Low, p.Low), append(s.High, p.High)
		}
	}
	if len(order) == 0 {
		return c, errors.New("no predictions")
	}
	for i, cpu := range order {
		s := report.Series{
			Name: "runs, " + cpu + " processors", Dots: true,
			Sign: []report.Sign{report.Dot, report.Up, report.Down}[i%3],
		}
		for _, t := range all {
			if fmt.Sprint(t.Config["cpu"]) == cpu {
				s.X, s.Y = append(s.X, mbit(t.Config["bandwidth"])), append(s.Y, t.Value)
			}
		}
		c.Series = append(c.Series, *lines[cpu], s)
	}
	return c, nil
}
