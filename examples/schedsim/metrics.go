package main

// bound is the run time below which a job counts as this long in its slowdown,
// in seconds (Feitelson and Rudolph 1998).
const bound = 10

// Metrics are the measures of a schedule.
type Metrics struct {
	Jobs int `json:"jobs"`
	// Slowdown is the average bounded slowdown, the mean over the jobs of
	// max(1, (wait + run) / max(run, 10 s)).
	Slowdown float64 `json:"slowdown"`
	Wait     float64 `json:"wait_s"` // mean
	// Utilisation is the share of the processors' time that was used, from the
	// first submission to the last end.
	Utilisation float64 `json:"utilisation"`
	Makespan    int64   `json:"makespan_s"` // from the first submission to the last end
	// Queues are the queues of a Fair simulation.
	Queues []QueueMetrics `json:"queues,omitempty"`
}

// QueueMetrics are the measures of the jobs of one queue, 0 without jobs.
type QueueMetrics struct {
	Limit    int64   `json:"limit_s,omitempty"` // 0 for the last queue, which has none
	Jobs     int     `json:"jobs"`
	Slowdown float64 `json:"slowdown"`
	Wait     float64 `json:"wait_s"`
}

// slowdown returns the bounded slowdown of a job.
func slowdown(wait, run int64) float64 {
	return max(1, float64(wait+run)/float64(max(run, bound)))
}

// Measure judges the schedule that starts the jobs, at least one, at start.
func Measure(jobs []Job, start []int64, opts Options) Metrics {
	m := Metrics{Jobs: len(jobs)}
	if opts.Policy == Fair {
		m.Queues = make([]QueueMetrics, len(opts.Limits)+1)
		for i, l := range opts.Limits {
			m.Queues[i].Limit = l
		}
	}
	var work, last float64
	for i, j := range jobs {
		wait := start[i] - j.Submit
		sd := slowdown(wait, j.Run)
		m.Slowdown += sd
		m.Wait += float64(wait)
		work += float64(j.Run) * float64(j.Procs)
		last = max(last, float64(start[i]+j.Run))
		if m.Queues != nil {
			q := &m.Queues[queueOf(opts.Limits, j.Request)]
			q.Jobs++
			q.Slowdown += sd
			q.Wait += float64(wait)
		}
	}
	m.Slowdown /= float64(len(jobs))
	m.Wait /= float64(len(jobs))
	m.Makespan = int64(last) - jobs[0].Submit
	if m.Makespan > 0 {
		m.Utilisation = work / (float64(m.Makespan) * float64(opts.Procs))
	}
	for i := range m.Queues {
		if q := &m.Queues[i]; q.Jobs > 0 {
			q.Slowdown /= float64(q.Jobs)
			q.Wait /= float64(q.Jobs)
		}
	}
	return m
}
