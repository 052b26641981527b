package web_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/result"
)

var beside = flag.String("beside", "", "measure the page of a study beside this optuna-dashboard, a program")

// The page of a study of 10,000 trials beside the page of optuna-dashboard on the same trials, in one
// run and one browser, by turns: how long until the history is painted, the bytes that came, and
// the memory of the tab. docs/results/pages.md has the figures.
func TestBesideOptunaDashboard(t *testing.T) {
	t.Parallel()
	if *beside == "" {
		t.Skip("a measurement: -beside PROGRAM")
	}
	const trials, rounds = 10_000, 5
	store := memory(t)
	r := newRecord(t, store, "encoder")
	r.run(trials)
	other := dashboard(t, *beside, journal(t, r))
	sides := []side{
		{
			"assay", func(t *testing.T) string { return ui(t, store) }, "/s/encoder",
			`document.documentElement.dataset.drawn === "true"`,
		},
		{
			"optuna-dashboard", func(*testing.T) string { return other }, "/dashboard/studies/0",
			`document.querySelector(".js-plotly-plot .main-svg .trace, .js-plotly-plot canvas") !== null`,
		},
	}
	got := make([][]visit, len(sides))
	for round := range rounds {
		for i, s := range sides {
			t.Run(fmt.Sprintf("%s %d", s.name, round+1), func(t *testing.T) {
				v := s.visit(t)
				t.Logf("painted after %.0f ms, %.0f kB in %d requests, %.0f MB", v.painted, v.bytes/1e3, v.requests, v.memory/1e6)
				if round > 0 { // the first of each fills the caches of its server
					got[i] = append(got[i], v)
				}
			})
		}
	}
	for i, s := range sides {
		middle := func(of func(visit) float64) float64 {
			var x []float64
			for _, v := range got[i] {
				x = append(x, of(v))
			}
			slices.Sort(x)
			return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
		}
		t.Logf("%-17s painted %6.0f ms  bytes %6.0f kB  memory %5.0f MB", s.name,
			middle(func(v visit) float64 { return v.painted }),
			middle(func(v visit) float64 { return v.bytes })/1e3, middle(func(v visit) float64 { return v.memory })/1e6)
	}
}

// A side is one of the compared programs: its address, its page of a study, and when that is painted.
type side struct {
	name          string
	url           func(*testing.T) string
	page, painted string
}

type visit struct {
	painted, bytes, memory float64
	requests               int
}

// visit opens the page in a tab that has nothing in its cache.
func (s side) visit(t *testing.T) visit {
	before := renderers(t)
	b := browser.Open(t)
	b.Allow("Download the React DevTools") // not of ours
	b.Size(1280, 900)
	url := s.url(t)
	if base(url) != url {
		b.Visit(url) // logs in
		b.Wait(`location.pathname === "/" && document.title === "Studies - assay"`)
		b.Ready()
		b.Forget()
	}
	b.Visit(base(url) + s.page)
	v := visit{painted: browser.Await[float64](b, fmt.Sprintf(`new Promise((ok) => {
		const look = () => { if (%s) requestAnimationFrame(() => setTimeout(() => ok(performance.now())));
			else requestAnimationFrame(look); };
		look(); })`, s.painted))}
	time.Sleep(3 * time.Second) // bytes after the first picture are of the page too
	type sum struct{ Bytes, Requests float64 }
	n := browser.Eval[sum](b, `(() => { const e = [...performance.getEntriesByType("navigation"),
		...performance.getEntriesByType("resource")];
		return {Bytes: e.reduce((a, x) => a + x.transferSize, 0), Requests: e.length}; })()`)
	v.bytes, v.requests = n.Bytes, int(n.Requests)
	for pid, size := range renderers(t) {
		v.memory += size - before[pid]
	}
	// Charts are drawn when they come into view.
	browser.Await[bool](b, `(async () => {
		for (const e of document.querySelectorAll("[data-draw]")) {
			e.scrollIntoView({block: "center"});
			await new Promise((ok) => setTimeout(ok, 300));
		}
		scrollTo(0, 0);
		return true;
	})()`)
	b.Frame()
	b.Picture("beside-" + s.name)
	return v
}

// renderers returns the memory of the processes in which the browser of this test has its tabs,
// memory that several share divided among them.
func renderers(t *testing.T) map[int]float64 {
	t.Helper()
	parents, found := map[int]int{}, map[int]float64{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		stat, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	for pid := range parents {
		p := pid
		for p > 1 && p != os.Getpid() {
			p = parents[p]
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if p != os.Getpid() || err != nil || !bytes.Contains(line, []byte("--type=renderer")) {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		kB, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		found[pid] = 1024 * kB
	}
	return found
}

// journal writes the trials as Optuna reads them.
func journal(t *testing.T, r *record) string {
	t.Helper()
	rec, err := result.Read(t.Context(), r.store, r.name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.WriteOptuna(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// dashboard starts an optuna-dashboard on a journal, and returns its address.
func dashboard(t *testing.T, program, journal string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "--port", strconv.Itoa(port), "--quiet",
		journal)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for range 600 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/studies", nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := http.DefaultClient.Do(req); err == nil {
			_ = answer.Body.Close()
			return url
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("optuna-dashboard does not answer")
	return ""
}
