// Package figures draws the pictures of the documentation:
//
//	assay-lab figures luck > docs/figures/luck.svg
//	assay-lab figures beside lab/notes/cello.md > docs/figures/beside.svg
//	assay bench STUDY... --methods rs,auto --budget-x 50 --curve --json |
//	  assay-lab figures curve > docs/figures/curve.svg
//	assay bench answer STUDY... --json | assay-lab figures answer > docs/figures/answer.svg
//	assay study trials STUDY --json | assay-lab figures trials > docs/figures/trials.svg
//	assay-lab figures pruning EARLIER.jsonl NOW.jsonl > docs/figures/pruning.svg, two of the same
//	assay predict MODEL --at cpu=…,bandwidth=… --json, several, |
//	  assay-lab figures costs TRIALS.jsonl > docs/figures/costs.svg
package figures

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/report"
)

// A picture is a chart of either kind.
type picture interface{ WriteSVG(w io.Writer) error }

// Draw writes a picture as SVG; args are its name and files, and in is its input unless the files are.
func Draw(args []string, in io.Reader, out io.Writer) error {
	var p picture
	var err error
	switch strings.Join(args[:min(1, len(args))], "") {
	case "luck":
		p = luck()
	case "beside":
		if len(args) != 2 {
			return fmt.Errorf("beside FILE")
		}
		p, err = beside(args[1])
	case "curve":
		p, err = curve(in)
	case "answer":
		p, err = answer(in)
	case "trials":
		p, err = trials(in)
	case "pruning":
		if len(args) != 3 {
			return fmt.Errorf("pruning EARLIER NOW")
		}
		p, err = pruning(args[1], args[2])
	case "costs":
		if len(args) != 2 {
			return fmt.Errorf("costs TRIALS")
		}
		p, err = costs(in, args[1])
	default:
		return fmt.Errorf("luck, beside FILE, curve, answer, trials, pruning EARLIER NOW, or costs TRIALS")
	}
	if err != nil {
		return err
	}
	return p.WriteSVG(out)
}

// luck is how much better the best of n runs looks than it is, if all configurations are the same and a
// run differs by 10 % (log-normal): means of 2,000 draws.
func luck() report.Chart {
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a picture
	var x, least, again []float64
	for n := 1; n <= 200; n = max(n+1, n*5/4) {
		sum, next := 0.0, 0.0
		for range 2000 {
			best := math.Inf(1)
			for range n {
				best = min(best, math.Exp(0.1*rnd.NormFloat64()))
			}
			sum += best
			next += math.Exp(0.1 * rnd.NormFloat64())
		}
		x, least, again = append(x, float64(n)), append(least, 100*(sum/2000-1)), append(again, 100*(next/2000-1))
	}
	return report.Chart{
		Title: "The best of n configurations that are all the same", XLabel: "configurations tried, once each", LogX: true,
		YLabel: "% of the true time", Series: []report.Series{
			{Name: "the run that was chosen", X: x, Y: least}, {Name: "the same configuration, run again", X: x, Y: again},
		},
	}
}

// beside draws the table that follows "Geometric means of the three" in a page of results.
func beside(name string) (report.BarChart, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return report.BarChart{}, err
	}
	_, rest, ok := strings.Cut(string(text), "Geometric means of the three:")
	if !ok {
		return report.BarChart{}, fmt.Errorf("%s: no geometric means of the three", name)
	}
	c := report.BarChart{
		Title:  "Distance to the optimum after 50 × the median run time, in % (20 or 10 seeds)",
		XLabel: "% above the best there is; geometric mean of three recorded programs",
	}
	began := false
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 2 {
			if began {
				break
			}
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(cells[len(cells)-1]), 64)
		if err != nil {
			continue // the head
		}
		began = true
		c.Bars = append(c.Bars, report.Bar{Name: strings.Trim(strings.TrimSpace(cells[0]), "`"), Value: v})
	}
	if len(c.Bars) == 0 {
		return c, fmt.Errorf("%s: the table has no numbers", name)
	}
	return c, nil
}

// curve draws how far the best is from the optimum over time, from the output of assay bench --curve
// --json.
func curve(in io.Reader) (report.Chart, error) {
	var r struct {
		Seeds   int
		Methods []string
		Rows    []struct {
			Study, Method string
			Budget        struct{ Value float64 }
			Curve         []float64
		}
	}
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return report.Chart{}, err
	}
	names := map[string]string{"rs": "random search", "auto": "assay", "bo": "a forest with expected improvement"}
	c := report.Chart{XLabel: "time, in medians of a run", YLabel: "% above the best there is", LogY: true}
	studies := 0
	for _, m := range r.Methods {
		s := report.Series{Name: cmp.Or(names[m], m)}
		sums, n := []float64(nil), 0
		for _, row := range r.Rows {
			if row.Method != m || len(row.Curve) == 0 {
				continue
			}
			if sums == nil {
				sums = make([]float64, len(row.Curve))
			}
			for i, e := range row.Curve {
				sums[i] += math.Log1p(e)
			}
			n++
			s.X = s.X[:0]
			for i := range row.Curve {
				s.X = append(s.X, row.Budget.Value*float64(i+1)/float64(len(row.Curve)))
			}
		}
		for _, sum := range sums {
			s.Y = append(s.Y, 100*math.Expm1(sum/float64(n)))
		}
		c.Series, studies = append(c.Series, s), max(studies, n)
	}
	c.Title = fmt.Sprintf("%d recorded programs, %d seeds: distance from the best there is", studies, r.Seeds)
	return c, nil
}

// answer draws the regret of the answers of each method by budget, from the output of assay bench answer --json.
func answer(in io.Reader) (report.Chart, error) {
	var r struct {
		Seeds   int
		Studies []string
		Rows    []struct {
			Study, Noise, Method string
			Budget               float64                 `json:"budget_x"`
			P90                  struct{ Value float64 } `json:"regret_p90"`
		}
	}
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return report.Chart{}, err
	}
	names := map[string]string{
		"auto": "assay", "random": "random, best run", "random-top3": "random, best three run again", "tpe": "Optuna's TPE",
	}
	c := report.Chart{
		Title:  fmt.Sprintf("%d recorded programs, %d seeds: one study in ten is worse", len(r.Studies), r.Seeds),
		XLabel: "time, in medians of a run; all is paid for", YLabel: "true % above the best there is",
		LogX: true, LogY: true,
	}
	for _, row := range r.Rows {
		if row.Study != "" || row.Noise != "" {
			continue
		}
		name := cmp.Or(names[row.Method], row.Method)
		i := slices.IndexFunc(c.Series, func(s report.Series) bool { return s.Name == name })
		if i < 0 {
			i, c.Series = len(c.Series), append(c.Series, report.Series{Name: name})
		}
		s := &c.Series[i]
		s.X, s.Y = append(s.X, row.Budget), append(s.Y, 100*row.P90.Value)
		if !slices.Contains(c.XAt, row.Budget) {
			c.XAt = append(c.XAt, row.Budget)
		}
	}
	if len(c.Series) == 0 {
		return c, fmt.Errorf("no rows of all studies")
	}
	return c, nil
}

// trials draws the trials of a study in their order: those that ran to their end, and the bounds of those that were
// stopped.
func trials(in io.Reader) (report.Chart, error) {
	done := report.Series{Name: "ran to its end", Dots: true, Sign: report.Dot}
	stopped := report.Series{Name: "stopped: it takes at least this", Dots: true, Sign: report.Up}
	best := report.Series{Name: "best so far"}
	least := math.Inf(1)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var t struct {
			ID      float64
			State   string
			Value   *float64
			Metrics map[string]float64
		}
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return report.Chart{}, err
		}
		switch {
		case t.State == "done" && t.Value != nil:
			done.X, done.Y = append(done.X, t.ID), append(done.Y, *t.Value)
			least = min(least, *t.Value)
		case t.State == "censored":
			stopped.X, stopped.Y = append(stopped.X, t.ID), append(stopped.Y, t.Metrics["elapsed"])
		}
		best.X, best.Y = append(best.X, t.ID), append(best.Y, least)
	}
	if err := lines.Err(); err != nil {
		return report.Chart{}, err
	}
	if len(best.X) == 0 {
		return report.Chart{}, fmt.Errorf("no trials")
	}
	return report.Chart{
		Title: "The trials of a study", XLabel: "trial", YLabel: "elapsed", YTime: true, LogY: true,
		Series: slices.DeleteFunc([]report.Series{best, done, stopped}, func(s report.Series) bool { return len(s.X) == 0 }),
	}, nil
}
