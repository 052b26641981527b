package workflow

import (
	"errors"
	"math"
	"slices"

	"github.com/assay-run/assay/internal/stats"
)

// A RunModel gives the run time of a task that was not measured, or was
// measured for another input or on another machine.
type RunModel interface {
	// Run returns the task's run time on a machine, and whether the model knows
	// tasks of its kind. Machine may be nil, for the machine of the recorded
	// executions.
	Run(t *Task, on *Machine) (Seconds, bool)
}

// Predicted returns w with the run times of m for the tasks that it knows, and
// how many these are. Others keep theirs.
func Predicted(w *Workflow, m RunModel, on *Machine) (*Workflow, int) {
	run, n := w.Runs(), 0
	for i := range w.Tasks {
		if r, ok := m.Run(&w.Tasks[i], on); ok {
			run[i] = r
			n++
		}
	}
	return w.WithRuns(run), n
}

// KindModel is a [RunModel] with a line through the run times of each kind of
// task over its bytes: run = a + b·bytes with a, b >= 0. It is immutable.
type KindModel struct {
	kinds map[string]kindLine // by Task.Kind
}

// kindLine is the line of one kind of task. With b = 0 the median is used: run
// times that do not grow with the bytes.
type kindLine struct {
	a, b   float64 // seconds, and seconds for each byte
	median Seconds // of the run times
}

var _ RunModel = (*KindModel)(nil)

// FitKinds fits a KindModel to the tasks of recorded executions. Errors count in proportion to the run
// time. Kinds with fewer than three different sizes, or whose run times do not grow with them, get their
// median. Bytes are the sizes of the input files, or the bytes read if these are not recorded.
func FitKinds(runs ...*Workflow) (*KindModel, error) {
	byKind := map[string][]*Task{}
	for _, w := range runs {
		for i := range w.Tasks {
			if t := &w.Tasks[i]; t.Run >= 0 && t.Kind != "" {
				byKind[t.Kind] = append(byKind[t.Kind], t)
			}
		}
	}
	if len(byKind) == 0 {
		return nil, errors.New("no task with a kind and a run time")
	}
	m := &KindModel{kinds: make(map[string]kindLine, len(byKind))}
	for kind, tasks := range byKind {
		m.kinds[kind] = fitLine(tasks)
	}
	return m, nil
}

// inputBytes returns the size of a task's input: its input files, or the bytes that it was seen to read
// where these are not recorded.
func inputBytes(t *Task) Bytes {
	if t.In > 0 {
		return t.In
	}
	return t.Read
}

// fitLine fits the line of one kind. Two sizes make a line through any noise, so
// it takes three.
func fitLine(tasks []*Task) kindLine {
	var run, size []float64
	for _, t := range tasks {
		run, size = append(run, t.Run), append(size, inputBytes(t))
	}
	line := kindLine{median: stats.Median(run)}
	sizes := slices.Clone(size)
	slices.Sort(sizes)
	if len(slices.Compact(sizes)) >= 3 {
		floor := max(line.median*1e-2, 1e-9)
		var g gram
		for i := range run {
			// Relative errors; very short run times count no more for it.
			r := max(run[i], floor)
			g.add([]float64{1 / r, size[i] / r}, run[i]/r, 1)
		}
		x := g.nnls(2)
		line.a, line.b = x[0], x[1]
	}
	return line
}

// Run implements [RunModel]. A faster machine divides the run time by its Speed.
func (m *KindModel) Run(t *Task, on *Machine) (Seconds, bool) {
	line, ok := m.kinds[t.Kind]
	if !ok {
		return math.NaN(), false
	}
	r := line.median
	if size := inputBytes(t); line.b > 0 && size > 0 {
		r = line.a + line.b*size
	}
	if on != nil && on.Speed > 0 {
		r /= on.Speed
	}
	return r, true
}
