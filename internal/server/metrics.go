package server

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/store"
)

// scrapeWithin is how long reading the studies for one scrape may take.
const scrapeWithin = 5 * time.Second

// Buckets of the histograms, in seconds.
var (
	long  = prometheus.ExponentialBuckets(0.01, 4, 12)   // of runs and waits: 10 ms to 12 hours
	short = prometheus.ExponentialBuckets(0.0005, 2, 15) // of appends: 0.5 ms to 8 s
)

// figures are the counts of a server for Prometheus. The counters and the histograms follow the events that
// this process appends to the store; all others are read at each scrape.
type figures struct {
	registry *prometheus.Registry
	claims   prometheus.Counter
	results  prometheus.Counter
	lost     *prometheus.CounterVec
	run      prometheus.Histogram
	wait     prometheus.Histogram
	appends  prometheus.Histogram
	failed   prometheus.Counter
}

func newFigures(version string) *figures {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	m := &figures{
		registry: prometheus.NewRegistry(),
		claims:   counter("assay_claims_total", "Attempts that workers have claimed."),
		results:  counter("assay_results_total", "Attempts that have ended with a measurement that counts."),
		lost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "assay_attempts_lost_total", Help: "Attempts that have ended and do not count, by reason.",
		}, []string{"reason"}),
		run:     histogram("assay_run_seconds", "Time of the attempts that count.", long),
		wait:    histogram("assay_queue_wait_seconds", "Time from the opening of a run to its claim.", long),
		appends: histogram("assay_store_append_seconds", "Time of one append to the store.", short),
		failed:  counter("assay_store_append_errors_total", "Appends to the store that returned an error."),
	}
	for _, why := range reasons {
		m.lost.WithLabelValues(why)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "assay_build_info", Help: "1, with the version of the server.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.claims, m.results, m.lost, m.run, m.wait, m.appends, m.failed, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// extra is the reason of an attempt that ended after another attempt at its run had counted.
const extra = "extra"

// reasons are the reasons of attempts that do not count. All of them exist from the first scrape, so that a rate
// sees the first lost attempt.
var reasons = []string{
	assay.WhyCancel, assay.WhyLost, assay.WhyDuplicate, assay.WhyTainted, assay.WhySetup, assay.WhyError, extra,
}

// waited notes how long a run was open before a worker claimed it.
func (m *figures) waited(d time.Duration) { m.wait.Observe(d.Seconds()) }

// appended notes an append to the record of a study.
func (m *figures) appended(took time.Duration, err error, events []assay.Event) {
	m.appends.Observe(took.Seconds())
	if err != nil {
		m.failed.Inc()
		return
	}
	for _, e := range events {
		if e.Started != nil {
			m.claims.Inc()
		}
		if b := e.Booked; b != nil {
			m.booked(*b)
		}
	}
}

func (m *figures) booked(b assay.AttemptEnd) {
	switch why := b.Why; {
	case b.Counts():
		m.results.Inc()
		m.run.Observe(b.Measurement.Elapsed.Seconds())
	case b.Extra:
		m.lost.WithLabelValues(extra).Inc()
	default:
		m.lost.WithLabelValues(why).Inc()
	}
}

// A recorder is a store with all that a server asks of one.
type recorder interface {
	assay.Store
	assay.Locker
	assay.Watcher
	assay.Remover
	store.Holder
}

// A timedStore is a store whose appends are noted.
type timedStore struct {
	recorder
	note func(study string, took time.Duration, err error, events []assay.Event)
}

// Append implements [assay.Store].
func (s timedStore) Append(
	ctx context.Context, study string, at assay.Position, events ...assay.Event,
) (assay.Position, error) {
	began := time.Now()
	end, err := s.recorder.Append(ctx, study, at, events...)
	s.note(study, time.Since(began), err, events)
	return end, err
}

// follow notes the appends to a store from now on, and has spans made of them. A store that lacks a part of a recorder
// is left as it is: to wrap it would hide its abilities.
func (m *figures) follow(s *setup.Store, spans *traces) {
	if r, ok := s.Store.(recorder); ok {
		s.Store = timedStore{r, func(study string, took time.Duration, err error, events []assay.Event) {
			if m.appended(took, err, events); err == nil {
				spans.appended(study, events)
			}
		}}
	}
}

// Descriptions of the values that each scrape reads.
var (
	studiesDesc = prometheus.NewDesc("assay_studies", "Studies, by state.", []string{"state"}, nil)
	trialsDesc  = prometheus.NewDesc("assay_trials", "Trials of all studies, by state.", []string{"state"}, nil)
	queueDesc   = prometheus.NewDesc("assay_queue_runs", "Runs that are open, or placed at workers.",
		[]string{"state"}, nil)
	ageDesc = prometheus.NewDesc("assay_queue_oldest_seconds", "Time that the oldest open run has waited; 0 without one.",
		nil, nil)
	workersDesc = prometheus.NewDesc("assay_workers", "Workers of the last day, by state.", []string{"state"}, nil)
	slotsDesc   = prometheus.NewDesc("assay_worker_slots", "Slots of the workers that take runs, by state.",
		[]string{"state"}, nil)
	streamsDesc = prometheus.NewDesc("assay_event_streams", "Streams of events that are open.", nil, nil)
)

// A scrape reads the current values of a server.
type scrape struct {
	studies func(context.Context) ([]service.Info, error)
	load    func() queue.Load
	workers func() []queue.WorkerState
	streams func() int
}

var _ prometheus.Collector = scrape{}

// Describe implements [prometheus.Collector].
func (scrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		studiesDesc, trialsDesc, queueDesc, ageDesc, workersDesc, slotsDesc, streamsDesc,
	} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (s scrape) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s.collectStudies(ch, gauge)
	load := s.load()
	gauge(queueDesc, float64(load.Open), "open")
	gauge(queueDesc, float64(load.Placed), "placed")
	gauge(ageDesc, load.Oldest.Seconds())
	gauge(streamsDesc, float64(s.streams()))
	states := map[string]int{"idle": 0, "busy": 0, "draining": 0, "quarantined": 0, "away": 0}
	busy, free := 0, 0
	for _, w := range s.workers() {
		state := stateOf(w)
		states[state]++
		if state == "idle" || state == "busy" {
			busy += w.Running
			free += max(w.Slots-w.Running, 0)
		}
	}
	for state, n := range states {
		gauge(workersDesc, float64(n), state)
	}
	gauge(slotsDesc, float64(busy), "busy")
	gauge(slotsDesc, float64(free), "free")
}

// collectStudies counts studies and trials. A store that cannot be read is an error of the scrape.
func (s scrape) collectStudies(ch chan<- prometheus.Metric, gauge func(*prometheus.Desc, float64, ...string)) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	all, err := s.studies(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(studiesDesc, err)
		return
	}
	studies := map[string]int{
		service.Running: 0, service.Paused: 0, service.Stopped: 0, service.Ended: 0, service.Idle: 0,
	}
	trials := map[assay.State]int64{}
	for _, i := range all {
		studies[i.State]++
		for state, n := range i.Counts {
			trials[state] += n
		}
	}
	for state, n := range studies {
		gauge(studiesDesc, float64(n), state)
	}
	for _, state := range assay.States() {
		gauge(trialsDesc, float64(trials[state]), state.String())
	}
}

// stateOf returns the state of a worker. One that is away may have an order too.
func stateOf(w queue.WorkerState) string {
	switch {
	case w.Away:
		return "away"
	case w.Quarantine:
		return "quarantined"
	case w.Drain:
		return "draining"
	case w.Running > 0:
		return "busy"
	}
	return "idle"
}

// scraped returns the handler of scrapes. It is called once.
func (s *server) scraped() http.Handler {
	s.figures.registry.MustRegister(scrape{
		s.host.Infos, s.fleet.Load, s.fleet.Workers, func() int { return s.api.Streams() },
	})
	return promhttp.HandlerFor(s.figures.registry, promhttp.HandlerOpts{
		Registry: s.figures.registry, MaxRequestsInFlight: 4, ErrorHandling: promhttp.ContinueOnError,
	})
}
