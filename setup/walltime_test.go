package setup

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/batch"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/stop"
)

func timed(id int64, c float64, d time.Duration, s assay.State) assay.Trial {
	return assay.Trial{
		Proposal: assay.Proposal{ID: id, Config: assay.Config{c}}, State: s, Value: d.Seconds(),
		Measurement: assay.Measurement{Elapsed: d, Metrics: map[string]float64{"elapsed": d.Seconds()}},
	}
}

func oneParam(t *testing.T) *assay.Space {
	t.Helper()
	s, err := assay.NewSpace([]assay.Param{{Name: "a", Kind: assay.Integer, Lo: 1, Hi: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The rule is asked for how long a run may take, and its bound falls with the best. Without a rule it is the time
// that all but one run in a hundred take. A repeated run has twice the time of the longest of its configuration.
func TestWalltimes(t *testing.T) {
	grows := assay.Goal{Metric: "elapsed", Grows: true}
	w := newWalltimes(oneParam(t), grows, stop.Incumbent{Margin: 0.1})
	if d, ok := w.Bound(assay.Config{5}, false); ok {
		t.Errorf("of nothing: %v", d)
	}
	w.learn(timed(1, 1, time.Hour, assay.Done))
	w.learn(timed(2, 2, 90*time.Minute, assay.Censored))
	for _, best := range []time.Duration{time.Hour, 20 * time.Minute} {
		w.learn(timed(3, 3, best, assay.Done))
		d, ok := w.Bound(assay.Config{5}, false)
		if want := best * 11 / 10; !ok || d < want || d > want+want/100 {
			t.Errorf("best %v: bound %v, want %v", best, d, want)
		}
	}
	if d, _ := w.Bound(assay.Config{1}, true); d != 2*time.Hour {
		t.Errorf("repeated: %v", d)
	}
	for name, none := range map[string]*Walltimes{
		"no rule":        newWalltimes(oneParam(t), grows, nil),
		"another metric": newWalltimes(oneParam(t), assay.Goal{Metric: "energy", Grows: true}, stop.Incumbent{}),
		"maximized":      newWalltimes(oneParam(t), assay.Goal{Metric: "x", Maximize: true}, stop.Incumbent{}),
	} {
		for i := range 40 {
			none.learn(timed(int64(i+1), float64(i+1), time.Duration(60+i)*time.Minute, assay.Done))
		}
		d, ok := none.Bound(assay.Config{20}, false)
		if !ok || d < 80*time.Minute || d > 6*time.Hour {
			t.Errorf("%s: %v, %v", name, d, ok)
		}
	}
	w = newWalltimes(oneParam(t), assay.Goal{Metric: "size"}, nil)
	job := assay.Job{Config: assay.Config{7}}
	if !w.again(job, time.Hour) || w.again(job, 2*time.Hour) {
		t.Error("a run that was cut has one more try")
	}
	if d, _ := w.Bound(job.Config, false); d != 2*time.Hour {
		t.Errorf("the second try has %v", d)
	}
	if newWalltimes(oneParam(t), grows, nil).again(job, time.Hour) {
		t.Error("what was measured of a run that grows is of use")
	}
}

// recordedTimes returns the run times of a recorded table.
func recordedTimes(t *testing.T, keep func(row map[string]string) bool, column string, path ...string) (y []float64) {
	t.Helper()
	f, err := os.Open(testbed.Data(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path[len(path)-1], ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := rows[0]
	at := slices.IndexFunc(head, func(c string) bool {
		c = strings.ToLower(c)
		return column != "" && c == column || column == "" && (strings.Contains(c, "time") || strings.Contains(c, "perf"))
	})
	for _, row := range rows[1:] {
		all := map[string]string{}
		for i, c := range head {
			all[c] = row[i]
		}
		if v, err := strconv.ParseFloat(row[at], 64); err == nil && (keep == nil || keep(all)) {
			y = append(y, v)
		}
	}
	return y
}

// The times asked for jobs on recorded run times, against a user who asks for six times the median: 60 random trials,
// the median of which takes half an hour, in a hundred studies.
func TestWalltimeRecorded(t *testing.T) {
	first := ""
	for name, y := range map[string][]float64{
		"x264": recordedTimes(t, func(r map[string]string) bool { return r["frames"] == "128" && r["machine"] == "feature9" },
			"time1_s", "ase17-x264", "data.csv.gz"),
		"dune": recordedTimes(t, nil, "", "spl-dune", "data.csv"),
		"fastdownward": recordedTimes(t, func(r map[string]string) bool {
			for _, k := range []string{"revision", "release", "version"} {
				if v, ok := r[k]; ok {
					if first == "" {
						first = v
					}
					return v == first
				}
			}
			return true
		}, "", "perfevo-fastdownward", "data.csv"),
	} {
		sorted := slices.Sorted(slices.Values(y))
		scale := 1800 / sorted[len(sorted)/2]
		r := rand.New(rand.NewPCG(2, 0))
		space := oneParam(t)
		var user, asked, used float64
		cut := 0
		for range 100 {
			w := newWalltimes(space, assay.Goal{Metric: "elapsed", Grows: true}, stop.Incumbent{Margin: 0.1})
			best := math.Inf(1)
			for i, at := range r.Perm(len(y))[:60] {
				v := y[at] * scale
				limit := math.Ceil(6*1800/60) * 60
				ask := limit
				if d, ok := w.Bound(assay.Config{1}, false); ok {
					ask = min(limit, batch.Minutes(d+batch.Overhead).Seconds())
				}
				rule := v >= 1.1*best // it would stop the run
				state, took := assay.Done, v
				if rule {
					state, took = assay.Censored, 1.1*best
				}
				if took > ask-batch.Overhead.Seconds() && ask < limit && !rule {
					cut++
				}
				took = min(took, ask)
				user, asked, used = user+limit, asked+ask, used+took
				w.learn(timed(int64(i+1), float64(1+i%100), time.Duration(took*float64(time.Second)), state))
				if state == assay.Done {
					best = min(best, took)
				}
			}
		}
		text := fmt.Sprintf("%s: asked %.0f h by six times the median, %.0f h by the rule: %.1f times less; asked/used "+
			"%.2f; %d runs cut",
			name, user/3600/100, asked/3600/100, user/asked, asked/used, cut)
		t.Log(text)
		if user/asked < 4 || cut > 0 {
			t.Error(text)
		}
	}
}
