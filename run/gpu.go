package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// This file measures the use of graphics cards during a run, by the readings of nvidia-smi, which asks NVML. The
// figures are of the whole card: they include other programs.

// gpuPeriod is how often the cards are read; NVML renews its own readings about as often.
const gpuPeriod = 100 * time.Millisecond

// gpuStart is how long a first reading may take: the driver is loaded for it where no other program holds it.
const gpuStart = 10 * time.Second

// gpuKept is how many readings of a run are kept; beyond them every second one goes, again and again.
const gpuKept = 1 << 16

// A gpuReading is all cards of a run at one moment.
type gpuReading struct {
	at          time.Time
	power       float64 // W, their sum
	memory      float64 // B, their sum
	utilization float64 // %, their mean
}

// A gpuMeter reads the cards in the background from newGPUMeter to stop.
type gpuMeter struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	done   chan struct{}

	mu       sync.Mutex
	readings []gpuReading
	err      error // why there are no more
}

// wantsGPU reports whether any source is of graphics cards.
func wantsGPU(sources []assay.MetricSource) bool {
	return slices.ContainsFunc(sources, func(s assay.MetricSource) bool { return s.Kind == assay.FromGPU })
}

// newGPUMeter starts to read the cards that a job may use, and returns when there was a first reading or it cannot be
// had. nvidia-smi ends with the pipe that it writes to, so that it does not outlive a process that was killed.
func newGPUMeter(ctx context.Context, env []string) *gpuMeter {
	g := &gpuMeter{done: make(chan struct{})}
	args := []string{"--query-gpu=index,power.draw,memory.used,utilization.gpu", "--format=csv,noheader,nounits"}
	if ids := visibleGPUs(env); ids != "" {
		args = append(args, "--id="+ids)
	}
	g.cmd = exec.CommandContext(ctx, "nvidia-smi", append(args, fmt.Sprintf("--loop-ms=%d", gpuPeriod.Milliseconds()))...)
	g.cmd.Stderr = &g.stderr
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		g.err = fmt.Errorf("graphics cards are read by nvidia-smi: %w", err)
		close(g.done)
		return g
	}
	first := make(chan struct{})
	go g.follow(out, first)
	select {
	case <-first:
	case <-g.done:
	case <-time.After(gpuStart):
	}
	return g
}

// visibleGPUs returns the cards that CUDA_VISIBLE_DEVICES names, as the last of the environment has it; "" is all.
func visibleGPUs(env []string) string {
	const name = "CUDA_VISIBLE_DEVICES="
	ids := os.Getenv(strings.TrimSuffix(name, "="))
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name); ok {
			ids = v
		}
	}
	return strings.ReplaceAll(ids, " ", "")
}

// follow reads until nvidia-smi ends. A round has a line of each card; a card that comes again begins the next one.
func (g *gpuMeter) follow(out io.Reader, first chan struct{}) {
	defer close(g.done)
	var bad error
	seen := map[int]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		card, r, err := gpuLine(lines.Text())
		if err != nil {
			bad = err
			continue
		}
		r.at = time.Now()
		g.mu.Lock()
		if seen[card] || len(seen) == 0 {
			clear(seen)
			g.keep(r)
		} else {
			g.readings[len(g.readings)-1].add(r, len(seen))
		}
		g.mu.Unlock()
		if seen[card] = true; first != nil {
			close(first)
			first = nil
		}
	}
	err := g.cmd.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.readings) == 0 && bad != nil:
		g.err = bad
	case err != nil:
		g.err = fmt.Errorf("nvidia-smi: %w: %s", err, assay.LastLine(g.stderr.Bytes()))
	default:
		g.err = errors.New("nvidia-smi ended by itself")
	}
}

// add adds another card to a reading of n cards.
func (r *gpuReading) add(o gpuReading, n int) {
	r.power, r.memory = r.power+o.power, r.memory+o.memory
	r.utilization += (o.utilization - r.utilization) / float64(n+1)
}

// keep adds a round. The lock is held.
func (g *gpuMeter) keep(r gpuReading) {
	if len(g.readings) >= gpuKept {
		for i := range gpuKept / 2 {
			g.readings[i] = g.readings[2*i]
		}
		g.readings = g.readings[:gpuKept/2]
	}
	g.readings = append(g.readings, r)
}

// gpuLine reads one line, "0, 61.20, 431, 17": the card, watts, MiB and per cent. A value that a card does not report
// is "[N/A]", which is an error of the power alone.
func gpuLine(text string) (card int, r gpuReading, err error) {
	f := strings.Split(text, ",")
	if len(f) != 4 {
		return 0, r, fmt.Errorf("nvidia-smi prints %.60q, not a card, its power, memory and utilization", text)
	}
	if card, err = strconv.Atoi(strings.TrimSpace(f[0])); err != nil {
		return 0, r, fmt.Errorf("nvidia-smi prints %.60q: %.20q is no card", text, f[0])
	}
	value := func(i int) float64 {
		x, err := strconv.ParseFloat(strings.TrimSpace(f[i]), 64)
		if err != nil || math.IsInf(x, 0) {
			return math.NaN()
		}
		return x
	}
	r.power, r.memory, r.utilization = value(1), value(2)*(1<<20), value(3)
	return card, r, nil
}

// stop ends the readings. A second call does nothing.
func (g *gpuMeter) stop() {
	g.mu.Lock()
	failed := g.err != nil
	g.mu.Unlock()
	if !failed {
		g.cmd.Process.Kill()
	}
	<-g.done
}

// value returns a quantity of the time from to end; it is called after stop.
//
// Energy is the integral of the power, by trapezoids between readings; before the first and after the last one the
// power is that reading's. It is refused where there was no reading for a second of it or a tenth, whichever is more.
func (g *gpuMeter) value(quantity string, from, end time.Time) (float64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.readings) == 0 {
		return 0, cmp.Or(g.err, errors.New("nvidia-smi printed nothing"))
	}
	// The readings within the time, and one before and one after it.
	i := max(0, sort.Search(len(g.readings), func(i int) bool { return g.readings[i].at.After(from) })-1)
	k := min(len(g.readings), 1+sort.Search(len(g.readings), func(i int) bool { return !g.readings[i].at.Before(end) }))
	within := g.readings[i:k]
	gap := max(time.Second, end.Sub(from)/10)
	if last := within[len(within)-1].at; end.Sub(last) > gap || within[0].at.Sub(from) > gap {
		return 0, fmt.Errorf("the cards were not read all the time: %w", cmp.Or(g.err, errors.New("nvidia-smi was late")))
	}
	var joules, peak, busy float64
	for j, r := range within {
		peak, busy = max(peak, r.memory), busy+r.utilization/float64(len(within))
		next, power := end, r.power
		if j+1 < len(within) {
			next, power = within[j+1].at, (r.power+within[j+1].power)/2
		}
		since := r.at
		if j == 0 || since.Before(from) {
			since = from
		}
		if next.After(end) {
			next = end
		}
		joules += power * max(0, next.Sub(since).Seconds())
	}
	x := map[string]float64{
		assay.GPUEnergy: joules, assay.GPUPower: joules / end.Sub(from).Seconds(), assay.GPUMemory: peak,
		assay.GPUUtilization: busy,
	}[quantity]
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("the card does not report its %s", quantity)
	}
	return x, nil
}
