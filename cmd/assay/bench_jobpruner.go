package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/prune"
	"github.com/assay-run/assay/search"
	"github.com/assay-run/assay/stats"
)

type benchJobprunerFlags struct {
	environment string
	alpha       string
	kb          string
	reuse       string
	budget      string
	methods     string
	repetitions int
	subjects    int
	most        int
	threshold   float64
	seed        uint64
	jobs        int
	json        bool
}

func benchJobprunerCommand(s streams) *cobra.Command {
	f := &benchJobprunerFlags{}
	cmd := &cobra.Command{
		Use:   "jobpruner STUDY.yaml...",
		Short: "the experiments of Silva et al. 2018: earlier studies of other environments as a knowledge base",
		Long: `jobpruner searches each environment of a recorded table while the other
environments are the earlier studies, and reports how far the best configuration
found is from the optimum, and how much of the space was pruned.

  pruning aggressiveness (Table I, Fig. 5)   --alpha, with the whole knowledge base
  size of the knowledge base (Table II, Fig. 9)   --kb, with the automatic alpha
  uses of the knowledge base   --use: first (the best of the most similar study, after
            5 trials), prior (what tune --prior does: transfer and pruning), transfer

The environments are told apart by the columns in the study's replay.where, or by
--environment. Budgets are in per cent of the configurations. Intervals are 95 %
bootstrap intervals of the mean over repetitions of the mean over environments.`,
		Example: `  assay bench jobpruner bench/studies/inputs-gcc.yaml bench/studies/gpu-convolution-a100.yaml`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.environment, "environment", "", "columns that tell the environments apart (default those of replay.where)")
	fl.StringVar(&f.alpha, "alpha", "0,0.6,0.9,0.99,auto", "aggressiveness of the pruning; 0 for none")
	fl.StringVar(&f.kb, "kb", "0,5,10,15,all", "sizes of the knowledge base, drawn at random")
	fl.StringVar(&f.reuse, "use", "first,prior", "other uses of the knowledge base: first, prior, transfer; or none")
	fl.StringVar(&f.budget, "budget", "2,5,10", "trials, in % of the configurations")
	fl.StringVar(&f.methods, "methods", "pso,sa", "searchers")
	fl.IntVar(&f.repetitions, "repetitions", 200, "repetitions for each environment")
	fl.IntVar(&f.subjects, "subjects", 20, "environments that are searched; all of them are known to the others")
	fl.IntVar(&f.most, "max-trials", 500, "limit of a budget")
	fl.Float64Var(&f.threshold, "threshold", 0, "least correlation of a study that prunes (default 0.5)")
	fl.Uint64Var(&f.seed, "seed", 1, "first seed of the repetitions")
	fl.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "environments at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// A jpVariant is one way to use the knowledge base.
type jpVariant struct {
	Method string  `json:"method"`
	Use    string  `json:"use"`   // "none", "prune", "first", "transfer" or "prior"
	Alpha  string  `json:"alpha"` // of prune and prior; "" otherwise
	KB     string  `json:"kb"`    // a number of studies, or "all"
	alpha  float64 // 0 for automatic
	kb     int     // -1 for all
}

// jpRow is one line of the result: a contract.
type jpRow struct {
	DataSet string `json:"data_set"`
	jpVariant
	Budget    float64    `json:"budget_percent"`
	Trials    float64    `json:"trials_mean"` // over the environments
	Error     float64    `json:"error_mean"`  // relative, mean over environments and repetitions
	CI95      [2]float64 `json:"error_ci95"`
	Ratio     float64    `json:"ratio"`         // of Error to that of none
	RatioCI95 [2]float64 `json:"ratio_ci95"`    // by bootstrap of the repetitions, in pairs
	Similar   float64    `json:"error_similar"` // over environments with a rank correlation above 0.8
	SimRatio  float64    `json:"ratio_similar"`
	Pruned    float64    `json:"pruned_mean"` // share of the configurations at the end
	PrunedCI  [2]float64 `json:"pruned_ci95"`
	BySubject []float64  `json:"error_by_environment"`
}

// jpSet describes a data set of the result.
type jpSet struct {
	Name         string    `json:"name"`
	Environments []string  `json:"environments"`
	Rank         []float64 `json:"best_rank_correlation"`
	NCC          []float64 `json:"best_cross_correlation"`
}

type jpReport struct {
	DataSets []jpSet `json:"data_sets"`
	Rows     []jpRow `json:"rows"`
}

func (f *benchJobprunerFlags) run(ctx context.Context, s streams, files []string) error {
	if f.repetitions < 2 || f.jobs < 1 || f.subjects < 1 || f.most < 1 || !(f.threshold >= 0 && f.threshold < 1) {
		return usagef("--repetitions is at least 2, --jobs, --subjects and --max-trials at least 1, --threshold in [0, 1)")
	}
	variants, err := f.variants()
	if err != nil {
		return err
	}
	var budgets []float64
	for text := range items(f.budget) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 100) {
			return usagef("--budget %s: not a percentage", text)
		}
		budgets = append(budgets, x)
	}
	if len(budgets) == 0 {
		return usagef("--budget: at least one percentage")
	}
	var rep jpReport
	status := newStatus(s.err)
	defer status.Close()
	for _, file := range files {
		d, err := jpRead(file, slices.Collect(items(f.environment)))
		if err != nil {
			return err
		}
		progress := func(done, all int) { status.Set(fmt.Sprintf("%s: %d of %d environments", d.name, done, all)) }
		rows, err := f.measure(ctx, d, variants, budgets, progress)
		if err != nil {
			return err
		}
		set := jpSet{Name: d.name}
		for _, sub := range d.subjects {
			set.Environments, set.Rank, set.NCC = append(set.Environments, sub.name), append(set.Rank, sub.nearest), append(set.NCC, sub.nearestR)
		}
		rep.DataSets, rep.Rows = append(rep.DataSets, set), append(rep.Rows, rows...)
	}
	status.Close()
	if f.json {
		return writeJSON(s.out, rep)
	}
	return writeJobpruner(s.out, rep)
}

// variants returns the combinations to measure; for each method the first is that
// without a knowledge base.
func (f *benchJobprunerFlags) variants() ([]jpVariant, error) {
	var vs []jpVariant
	for m := range items(f.methods) {
		if !slices.ContainsFunc(searchers(), func(e searcherEntry) bool { return e.name == m }) {
			return nil, usagef("no searcher %q (there are %s)", m, names(searchers(), func(e searcherEntry) string { return e.name }))
		}
		vs = append(vs, jpVariant{Method: m, Use: "none", KB: "0"})
		for a := range items(f.alpha) {
			v := jpVariant{Method: m, Use: "prune", Alpha: a, KB: "all", kb: -1}
			if a != "auto" {
				x, err := strconv.ParseFloat(a, 64)
				if err != nil || !(x >= 0 && x < 1) {
					return nil, usagef("--alpha %s: not a number from 0 to below 1, nor auto", a)
				}
				if v.alpha = x; x == 0 {
					continue // the first variant
				}
			}
			vs = append(vs, v)
		}
		for k := range items(f.kb) {
			n, err := strconv.Atoi(k)
			if k == "all" || k == "0" {
				continue // is there already
			}
			if err != nil || n < 0 {
				return nil, usagef("--kb %s: not a number of studies, nor all", k)
			}
			vs = append(vs, jpVariant{Method: m, Use: "prune", Alpha: "auto", KB: k, kb: n})
		}
		for u := range items(f.reuse) {
			switch u {
			case "none":
			case "first", "transfer", "prior":
				v := jpVariant{Method: m, Use: u, KB: "all", kb: -1}
				if u == "prior" {
					v.Alpha = "auto"
				}
				vs = append(vs, v)
			default:
				return nil, usagef("--use %s: none of first, prior, transfer", u)
			}
		}
	}
	if len(vs) == 0 {
		return nil, usagef("no method is given: --methods pso,sa")
	}
	return vs, nil
}

// jpCell is what one variant did in one environment: by repetition, the error at
// each budget and the pruned share.
type jpCell struct {
	errors [][]float64 // [budget][repetition]
	pruned []float64
}

// measure runs every variant in every environment of a data set.
func (f *benchJobprunerFlags) measure(ctx context.Context, d *jpDataSet, vs []jpVariant, budgets []float64, progress func(done, all int)) ([]jpRow, error) {
	subjects := d.subjects[:min(f.subjects, len(d.subjects))]
	cells := make([][]jpCell, len(subjects)) // [subject][variant]
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, 0
	for range f.jobs {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(subjects) || ctx.Err() != nil {
					return
				}
				out, err := f.one(ctx, d, subjects[i], vs, budgets)
				if err != nil {
					cancel(err)
				}
				mu.Lock()
				cells[i] = out
				done++
				progress(done, len(subjects))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return f.rows(d.name, subjects, cells, vs, budgets), nil
}

// one runs every variant in one environment.
func (f *benchJobprunerFlags) one(ctx context.Context, d *jpDataSet, sub *jpSubject, vs []jpVariant, budgets []float64) ([]jpCell, error) {
	k := d.knowledge(sub)
	most := f.trials(sub, slices.Max(budgets))
	out := make([]jpCell, len(vs))
	for i, v := range vs {
		out[i].errors = make([][]float64, len(budgets))
		for r := range f.repetitions {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			seed := f.seed + uint64(r)
			searcher, pruner, err := f.searcher(v, sub, k, seed)
			if err != nil {
				return nil, err
			}
			curve, err := sub.play(searcher, most)
			if err != nil {
				return nil, err
			}
			for b, percent := range budgets {
				out[i].errors[b] = append(out[i].errors[b], curve[f.trials(sub, percent)-1])
			}
			out[i].pruned = append(out[i].pruned, sub.pruned(pruner))
		}
	}
	return out, nil
}

// trials returns a budget in trials.
func (f *benchJobprunerFlags) trials(sub *jpSubject, percent float64) int {
	return min(f.most, max(1, int(math.Round(percent/100*float64(len(sub.trials))))))
}

// pruned returns the share of the configurations that are cut.
func (s *jpSubject) pruned(p *prune.Pruner) float64 {
	if p == nil {
		return 0
	}
	n := 0.0
	for c := range s.space.All() {
		if !p.Keeps(c) {
			n++
		}
	}
	return n / float64(len(s.trials))
}

// searcher makes a variant. pruner is nil if it prunes nothing.
func (f *benchJobprunerFlags) searcher(v jpVariant, sub *jpSubject, all *prune.Knowledge, seed uint64) (s assay.Searcher, pruner *prune.Pruner, err error) {
	i := slices.IndexFunc(searchers(), func(e searcherEntry) bool { return e.name == v.Method })
	inner, err := searchers()[i].make(sub.space, seed, &options{st: &config.Study{}, at: "search"})
	if err != nil {
		return nil, nil, err
	}
	k := all
	if v.kb >= 0 {
		names := all.Studies()
		rng := rand.New(rand.NewPCG(seed, 99))
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		k = all.Among(names[:min(v.kb, len(names))]...)
	}
	if v.Use == "prior" || v.Use == "transfer" {
		k.Hint(inner)
	}
	if v.Use == "prune" || v.Use == "prior" {
		pruner, err = prune.New(inner, k, prune.Options{Alpha: v.alpha, Threshold: f.threshold})
		if errors.Is(err, prune.ErrNotNarrower) {
			return nil, nil, usagef("searcher %s cannot be narrowed", v.Method)
		}
		if err != nil {
			return nil, nil, err
		}
		inner = pruner
	}
	switch v.Use {
	case "prior", "transfer":
		inner = prune.NewTransfer(inner, k, prune.TransferOptions{Seed: seed})
	case "first":
		inner = prune.NewReuse(inner, k, 5)
	}
	return search.Cache(inner), pruner, nil
}

// rows makes the lines of a data set.
func (f *benchJobprunerFlags) rows(name string, subjects []*jpSubject, cells [][]jpCell, vs []jpVariant, budgets []float64) []jpRow {
	var rows []jpRow
	base := 0
	for vi, v := range vs {
		if v.Use == "none" {
			base = vi
		}
		for bi, percent := range budgets {
			row := jpRow{DataSet: name, jpVariant: v, Budget: percent}
			errs, none := make([]float64, f.repetitions), make([]float64, f.repetitions)
			var similar, similarNone, pruned []float64
			for si, sub := range subjects {
				c := cells[si][vi]
				row.Trials += float64(f.trials(sub, percent)) / float64(len(subjects))
				row.BySubject = append(row.BySubject, stats.Mean(c.errors[bi]))
				for r := range f.repetitions {
					errs[r] += c.errors[bi][r] / float64(len(subjects))
					none[r] += cells[si][base].errors[bi][r] / float64(len(subjects))
				}
				if sub.nearest > 0.8 {
					similar = append(similar, c.errors[bi]...)
					similarNone = append(similarNone, cells[si][base].errors[bi]...)
				}
				pruned = append(pruned, c.pruned...)
			}
			row.Error = stats.Mean(errs)
			row.CI95 = jpInterval(errs)
			row.Ratio, row.RatioCI95 = jpRatio(errs, none)
			if len(similar) > 0 {
				row.Similar = stats.Mean(similar)
				row.SimRatio = jpQuotient(row.Similar, stats.Mean(similarNone))
			}
			row.Pruned, row.PrunedCI = stats.Mean(pruned), jpInterval(pruned)
			rows = append(rows, row)
		}
	}
	return rows
}

func jpInterval(x []float64) [2]float64 {
	e := stats.Bootstrap(x, stats.Mean, stats.BootstrapOptions{Seed: 1})
	if math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) || math.IsNaN(e.Low) {
		return [2]float64{e.Value, e.Value}
	}
	return [2]float64{e.Low, e.High}
}

func jpQuotient(x, y float64) float64 {
	if x == y {
		return 1
	}
	return x / max(y, 1e-9)
}

// jpRatio returns the ratio of the means and its 95 % percentile interval by 2,000
// resamples of the pairs.
func jpRatio(x, y []float64) (float64, [2]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []float64
	for range 2000 {
		var sx, sy float64
		for range x {
			i := rng.IntN(len(x))
			sx += x[i]
			sy += y[i]
		}
		all = append(all, jpQuotient(sx, sy))
	}
	slices.SortFunc(all, cmp.Compare[float64])
	return jpQuotient(stats.Mean(x), stats.Mean(y)), [2]float64{all[50], all[1949]}
}

// writeJobpruner prints the tables.
func writeJobpruner(w io.Writer, r jpReport) error {
	t := report.NewTable(palette(w), "data set", ">environments", ">mean best NCC", ">mean best rank correlation", ">least")
	for _, s := range r.DataSets {
		t.Add(s.Name, fmt.Sprint(len(s.Environments)), fmt.Sprintf("%.4f", stats.Mean(s.NCC)), fmt.Sprintf("%.2f", stats.Mean(s.Rank)), fmt.Sprintf("%.2f", slices.Min(s.Rank)))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	part := func(title string, choose func(jpVariant) bool) error {
		t := report.NewTable(palette(w), "data set", "method", "use", "alpha", "kb", ">budget %", ">trials", ">error %", "95 %", ">to none", "95 %", ">similar", ">pruned %")
		for _, row := range r.Rows {
			if !choose(row.jpVariant) {
				continue
			}
			similar := "–"
			if row.SimRatio > 0 || row.Similar > 0 {
				similar = fmt.Sprintf("%.2f", row.SimRatio)
			}
			t.Add(row.DataSet, row.Method, row.Use, row.Alpha, row.KB, fmt.Sprintf("%g", row.Budget), fmt.Sprintf("%.0f", row.Trials),
				jpPercent(row.Error), jpPercent(row.CI95[0])+" – "+jpPercent(row.CI95[1]),
				fmt.Sprintf("%.2f", row.Ratio), fmt.Sprintf("%.2f – %.2f", row.RatioCI95[0], row.RatioCI95[1]), similar, jpPercent(row.Pruned))
		}
		if t.Len() == 0 {
			return nil
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", title); err != nil {
			return err
		}
		return t.Write(w)
	}
	if err := part("aggressiveness (Table I, Fig. 5)", func(v jpVariant) bool { return v.Use == "none" || v.Use == "prune" && v.KB == "all" }); err != nil {
		return err
	}
	if err := part("size of the knowledge base (Table II, Fig. 9)", func(v jpVariant) bool { return v.Use == "none" || v.Use == "prune" && v.Alpha == "auto" }); err != nil {
		return err
	}
	return part("uses of the knowledge base", func(v jpVariant) bool { return v.Use == "none" || v.Use != "prune" })
}

func jpPercent(x float64) string { return fmt.Sprintf("%.2f", 100*x) }
