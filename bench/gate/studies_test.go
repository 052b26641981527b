package gate

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
	"github.com/assay-run/assay/spec"
)

// load reads a study and its table, or skips the test if the data is not here.
func load(t *testing.T, file string) (*spec.Study, *table.Table) {
	t.Helper()
	s, warnings, err := spec.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	if dir := os.Getenv("ASSAY_DATA"); dir != "" {
		_, rest, _ := strings.Cut(filepath.ToSlash(s.Replay.File), "shared/data/")
		s.Replay.File = filepath.Join(dir, rest)
	}
	if _, err := os.Stat(s.Replay.File); err != nil {
		t.Skipf("SKIPPED: no evaluation data: %v (set ASSAY_DATA to its directory)", err)
	}
	table, err := table.Open(table.Spec(*s.Replay))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resolve(table.Params, table.Configs, table.Digest); err != nil {
		t.Fatal(err)
	}
	return s, table
}

// want has the known facts about the tables: configurations, parameters, and the
// optimum of the objective in base units, computed from the files by other means
// (a few lines of Python).
var want = map[string]struct {
	configs, params int
	best            float64
}{
	"ase17-sac":               {845, 51, 0.12},
	"ase17-x264-amazon":       {1992, 16, 3.48666667},
	"ase17-x264-azure":        {1992, 16, 11.2366667},
	"gpu-convolution-a100":    {4362, 7, 0.0005536},
	"gpu-convolution-a6000":   {4362, 7, 0.00060304},
	"gpu-convolution-w7800":   {4362, 7, 0.00081614},
	"inputs-gcc":              {80, 5, 0.140269},
	"inputs-x264":             {201, 24, 1.2},
	"perfevo-brotli-energy":   {180, 2, 77},
	"perfevo-brotli-time":     {180, 2, 0.558},
	"perfevo-fastdownward":    {347, 28, 1.34684},
	"perfevo-hsqldb-energy":   {864, 9, 1663.4},
	"perfevo-hsqldb-power":    {864, 9, 54.0596},
	"perfevo-hsqldb-time":     {864, 9, 54.027},
	"perfevo-postgresql":      {864, 8, 60.0696},
	"scout-aws-bayes":         {69, 2, 521.888},
	"scout-aws-terasort-cost": {69, 2, 0.397372},
	"spl-dune":                {2304, 5, 4.42217},
}

func TestStudies(t *testing.T) {
	files, err := filepath.Glob("../studies/*.yaml")
	if err != nil || len(files) < len(want) {
		t.Fatalf("%d study files, want %d: %v", len(files), len(want), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, table := load(t, file)
			if s.Name+".yaml" != filepath.Base(file) {
				t.Errorf("name %q", s.Name)
			}
			space, err := s.Space()
			if err != nil {
				t.Fatal(err)
			}
			goal, err := s.Goal()
			if err != nil {
				t.Fatal(err)
			}
			best, err := table.Optimum(goal, space)
			if err != nil {
				t.Fatal(err)
			}
			w := want[s.Name]
			if int(space.Size().N) != w.configs || space.Dim() != w.params {
				t.Errorf("%d configurations of %d parameters, want %d of %d", space.Size().N, space.Dim(), w.configs, w.params)
			}
			if got := goal.Show(best.Value); !(math.Abs(got-w.best) <= 1e-6*w.best) {
				t.Errorf("optimum %v, want %v", got, w.best)
			}
			if !goal.Grows {
				t.Error("the objective does not grow")
			}
			replayAll(t, s, table, space, goal, best)
			if data, err := json.Marshal(s); err != nil {
				t.Error(err)
			} else if stored, err := spec.Decode(data); err != nil || stored.Identity() != s.Identity() {
				t.Errorf("the stored form is another study: %v", err)
			} else if again, err := stored.Space(); err != nil || again.Size() != space.Size() {
				t.Errorf("the stored form has another space: %v", err)
			}
			t.Logf("%d configurations, median %v, best %v, spec of %d kB",
				space.Size().N, table.MedianElapsed(), goal.Show(best.Value), specSize(s)>>10)
		})
	}
}

func specSize(s *spec.Study) int {
	data, _ := json.Marshal(s)
	return len(data)
}

// replayAll runs every configuration as often as it was recorded, and compares
// the clock with the sum of the run times and the best mean with the optimum.
func replayAll(
	t *testing.T, s *spec.Study, recorded *table.Table, space *assay.Space, goal assay.Goal, want table.Optimum,
) {
	t.Helper()
	runner := table.NewReplay(recorded, nil, spec.Grows)
	clock := runner.Clock()
	begin := clock.Now()
	var total time.Duration
	best := math.Inf(1)
	for c := range space.All() {
		sum, feasible := 0.0, true
		for k := range recorded.Runs(c) {
			job := assay.Job{ID: assay.RunID{Repeat: k}, Config: c, Interval: 10 * time.Second}
			m, err := runner.Run(t.Context(), job, func(m assay.Measurement) {
				if _, err := goal.Value(m); err != nil {
					t.Fatalf("during the run: %v", err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			total += m.Elapsed
			v, err := goal.Value(m)
			if err != nil || m.ExitCode != 0 {
				v = math.Inf(1)
			}
			broken, err := goal.Broken(m)
			feasible = feasible && err == nil && broken == ""
			sum += v / float64(recorded.Runs(c))
		}
		if feasible && sum < best {
			best = sum
		}
	}
	if !(math.Abs(best-want.Value) <= 1e-9*math.Abs(best)) {
		t.Errorf("the best replayed mean is %v, the optimum %v", best, want.Value)
	}
	if got := clock.Now().Sub(begin); got != total {
		t.Errorf("the clock says %v, the runs took %v", got, total)
	}
}

// Every study is described in the README.
func TestStudiesAreDescribed(t *testing.T) {
	readme, err := os.ReadFile("../studies/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("../studies/*.yaml")
	for i, f := range files {
		f = filepath.Base(f)
		files[i] = f
		if !strings.Contains(string(readme), "`"+f+"`") {
			t.Errorf("%s is not in README.md", f)
		}
	}
	unknown := func(f string) bool { _, ok := want[strings.TrimSuffix(f, ".yaml")]; return !ok }
	if len(files) != len(want) || slices.ContainsFunc(files, unknown) {
		t.Errorf("%d study files, %d expectations", len(files), len(want))
	}
}

// The programs of these folders need hours, so the test reads their studies only.
func TestStudiesOfProgramsAreRead(t *testing.T) {
	for dir, least := range map[string]int{"truth": 8, "exact": 4, "known": 2} {
		files, err := filepath.Glob("../" + dir + "/*.yaml")
		if err != nil || len(files) < least {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if _, _, err := spec.Load(f, nil); err != nil {
				t.Error(err)
			}
		}
	}
}
