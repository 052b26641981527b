package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/testbed"
)

// scraped returns the samples of one scrape of the server of a directory: the value by name and labels.
func scraped(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, api.SocketName))
	}}}
	defer c.CloseIdleConnections()
	resp, err := c.Get("http://assay/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v: %s", resp.Status, err, text)
	}
	if lint, err := exec.LookPath("promtool"); err == nil {
		cmd := exec.Command(lint, "check", "metrics")
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool check metrics: %v\n%s", err, out)
		}
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		i := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || i < 0 {
			continue
		}
		if all[line[:i]], err = strconv.ParseFloat(strings.TrimSpace(line[i:]), 64); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	return all
}

// A scrape has the counts of a server and a worker, and each metric that the dashboard and the rules name.
func TestMetrics(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it starts processes")
	}
	const trials = 6
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, c, end := start(t, dir, 0)
	defer end()
	l := lab{c, dir}
	l.submit(t, "s", trivial("sh, -c, 'sleep 0.02', sh, '{n}'", 1, trials, 2))
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) { // no worker is there yet
		all := scraped(t, dir)
		if all[`assay_queue_runs{state="open"}`] == 2 && all["assay_queue_oldest_seconds"] > 0 {
			if all[`assay_studies{state="running"}`] != 1 || all["assay_claims_total"] != 0 {
				t.Errorf("before any worker: %v", all)
			}
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("two runs are to be open: %v", all)
		}
	}
	process(t, dir, "w")
	l.ended(t, "s")
	all := scraped(t, dir)
	results := all["assay_results_total"]
	if results < trials {
		t.Errorf("%v results, want %d and those of the final runs", results, trials)
	}
	for name, want := range map[string]float64{
		`assay_studies{state="ended"}`:             1,
		`assay_studies{state="running"}`:           0,
		`assay_trials{state="done"}`:               trials,
		`assay_queue_runs{state="open"}`:           0,
		`assay_queue_runs{state="placed"}`:         0,
		`assay_queue_oldest_seconds`:               0,
		`assay_claims_total`:                       results,
		`assay_run_seconds_count`:                  results,
		`assay_queue_wait_seconds_count`:           results,
		`assay_attempts_lost_total{reason="lost"}`: 0,
		`assay_store_append_errors_total`:          0,
		`assay_workers{state="idle"}`:              1,
		`assay_workers{state="away"}`:              0,
		`assay_worker_slots{state="free"}`:         1,
		`assay_event_streams`:                      0,
		`assay_build_info{version="v0.0.0"}`:       1,
	} {
		if got, ok := all[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	if sum := all["assay_run_seconds_sum"]; sum < 0.02*results {
		t.Errorf("runs of at least 20 ms took %v s together, and there were %v", sum, results)
	}
	if all["assay_store_append_seconds_count"] == 0 || all["go_goroutines"] == 0 ||
		all["process_resident_memory_bytes"] == 0 {
		t.Errorf("a figure is missing: %v", all)
	}
	named(t, all)
}

// named checks that a scrape has each metric that the dashboard and the rules name.
func named(t *testing.T, all map[string]float64) {
	t.Helper()
	has := map[string]bool{}
	for sample := range all {
		name, _, _ := strings.Cut(sample, "{")
		has[name] = true
	}
	metric := regexp.MustCompile(`\b(assay|go|process)_[a-z_]+`)
	for file, least := range map[string]int{"dashboard.json": 14, "rules.yml": 6} {
		text, err := os.ReadFile(filepath.Join("../../deploy/prometheus", file))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, name := range metric.FindAllString(string(text), -1) {
			found[name] = true
			if !has[name] {
				t.Errorf("%s names %s, which no scrape has", file, name)
			}
		}
		if len(found) < least {
			t.Errorf("%s names %d metrics, want at least %d", file, len(found), least)
		}
	}
}

// promtool accepts the rules and the configuration, and each rule fires where it is to.
func TestPrometheusRules(t *testing.T) {
	promtool := testbed.Program(t, "promtool")
	for _, args := range []string{
		"check rules rules.yml", "test rules rules.test.yml", "check config --syntax-only prometheus.yml",
	} {
		cmd := exec.Command(promtool, strings.Fields(args)...)
		cmd.Dir = "../../deploy/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Error(fmt.Errorf("promtool %s: %w\n%s", args, err, out))
		}
	}
}
