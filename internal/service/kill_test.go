package service_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

const (
	killStudies = 6
	killTrials  = 12
	// killLease is how long a run is missed whose worker was killed with the server.
	killLease = 300 * time.Millisecond
)

// TestMain is a server, with a worker in its process, if the environment asks for it.
func TestMain(m *testing.M) {
	if at := os.Getenv("ASSAY_TEST_SERVER"); at != "" {
		if err := killed(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testbed.Main(m)
}

// killed runs the studies of a store to their ends, or until it is killed. It prints each
// outcome that was taken from its worker.
func killed(at string) error {
	ctx := context.Background()
	store, err := setup.OpenStore(ctx, at)
	if err != nil {
		return err
	}
	carrier := queue.NewMemory(killLease)
	f := queue.New(carrier, queue.Options{Lease: killLease})
	go func() { _ = f.Serve(ctx) }()
	h, err := service.Open(ctx, service.Options{Store: store, Fleet: f})
	if err != nil {
		return err
	}
	for i := range killStudies {
		def, err := killStudy(i)
		if err != nil {
			return err
		}
		sum, err := store.Summary(ctx, fmt.Sprint("s", i))
		if err == nil && sum.Steered != "" {
			continue // it was acknowledged
		}
		if _, err := h.Submit(ctx, def, fmt.Sprint("s", i), "test"); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	killWorker(ctx, f, carrier)
	for i := range killStudies {
		if _, err := h.Wait(ctx, fmt.Sprint("s", i)); err != nil {
			return err
		}
	}
	fmt.Println("all")
	return h.Close()
}

// killWorker makes runs of some milliseconds in four slots.
func killWorker(ctx context.Context, f *queue.Fleet, carrier queue.Carrier) {
	w := queue.Worker{ID: fmt.Sprint(os.Getpid()), Name: "w", Slots: 4, Apps: []string{queue.Commands}, MachineClass: "c"}
	_, _ = f.Hello(ctx, w)
	for range w.Slots {
		go func() {
			for {
				d, err := carrier.Take(ctx, w.Apps, w.MachineClass)
				if err != nil {
					return
				}
				c, err := f.Claim(ctx, d.Ticket(), w.ID)
				if err == nil && c.Verdict == queue.Go {
					x := time.Duration(c.Task.Job.Config[0]) * time.Millisecond
					time.Sleep(x)
					id := c.Task.ID
					m := assay.Measurement{Elapsed: x, Metrics: map[string]float64{"elapsed": x.Seconds()}}
					if os.Getenv("ASSAY_TEST_HASTY") != "" { // the control: it is said before it is so
						fmt.Println("took", id.Study, id.Trial, id.Repeat, id.Attempt)
						time.Sleep(50 * time.Millisecond)
					}
					if err = f.Tell(ctx, queue.Outcome{ID: id, Worker: w.ID, Measurement: m}); err == nil {
						fmt.Println("took", id.Study, id.Trial, id.Repeat, id.Attempt)
					}
				}
				_ = d.Done(ctx)
			}
		}()
	}
}

// killStudy returns the definition of a study.
func killStudy(i int) (*spec.Study, error) {
	def, _, err := spec.Parse("", fmt.Appendf(nil, forty, i, killTrials, 1+i%3), func(s *spec.Study) error {
		s.Pairs.Runs = 1
		return nil
	})
	return def, err
}

// A server that is killed at any instant loses no outcome that it took, counts each once, makes
// no run again whose outcome it took, and goes on with the same proposals.
func TestKilled(t *testing.T) {
	testbed.Outside(t)
	kills := 12
	if os.Getenv("ASSAY_SOAK") != "" {
		kills = 300
	}
	want := killRecords(t, 0)
	got := killRecords(t, kills)
	for name, proposals := range want {
		if fmt.Sprint(got[name]) != fmt.Sprint(proposals) {
			t.Errorf("%s: proposed %v, want %v", name, got[name], proposals)
		}
	}
}

// A server that acknowledges an outcome before it is on record loses some outcomes.
func TestKilledControl(t *testing.T) {
	testbed.Outside(t)
	t.Setenv("ASSAY_TEST_HASTY", "1")
	testbed.Fails(t, "outcomes that are acknowledged first", func(t testing.TB) { killRecords(t, 2) })
}

// killRecords has servers killed that run the studies of a new store, and then one that is not. It
// checks the records, and returns the proposals of each study.
func killRecords(t testing.TB, kills int) map[string][]assay.Config {
	t.Helper()
	at := filepath.Join(t.TempDir(), "a.db")
	rng := rand.New(rand.NewPCG(7, uint64(kills)))
	took := map[string]bool{} // outcomes whose acknowledgement the worker got
	life := 400 * time.Millisecond
	done := 0
	for n := 0; ; n++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ASSAY_TEST_SERVER="+at)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all := false
		for s := bufio.NewScanner(out); s.Scan(); {
			switch line := s.Text(); {
			case line == "ready" && done < kills: // from here on, or it would never get anywhere
				time.AfterFunc(time.Duration(rng.Int64N(int64(life))), func() { _ = cmd.Process.Kill() })
			case line == "all":
				all = true
			case strings.HasPrefix(line, "took "):
				took[strings.TrimPrefix(line, "took ")] = true
			}
		}
		err = cmd.Wait()
		killed := err != nil && strings.Contains(err.Error(), "killed")
		switch {
		case all && err == nil:
		case killed:
			done++
		default:
			t.Fatalf("server %d: %v", n, err)
		}
		if all { // the last one may be killed after that
			break
		}
	}
	if kills > 0 && done == 0 {
		t.Fatal("no server was killed")
	}
	store, err := setup.OpenStore(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	proposed := map[string][]assay.Config{}
	lost, extra := 0, 0
	for i := range killStudies {
		name := fmt.Sprint("s", i)
		all := events(t, store, name)
		if err := once(all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		counted := map[assay.RunID]int{} // by run: how many bookings count
		booked := map[string]bool{}      // attempts with an outcome
		ends := 0
		for _, e := range all {
			switch {
			case e.Asked != nil:
				proposed[name] = append(proposed[name], e.Asked.Config)
			case e.Told != nil:
				ends++
			case e.Booked != nil:
				id := e.Booked.RunID
				if e.Booked.Counts() || e.Booked.Extra {
					booked[fmt.Sprint(id.Study, " ", id.Trial, " ", id.Repeat, " ", id.Attempt)] = true
				}
				id.Attempt = 0
				switch {
				case e.Booked.Counts():
					counted[id]++
				case e.Booked.Extra:
					extra++
				default:
					lost++
				}
			}
		}
		if ends != killTrials {
			t.Errorf("%s: %d trials ended, want %d", name, ends, killTrials)
		}
		for id, n := range counted {
			if n != 1 {
				t.Errorf("%s: run %+v counts %d times", name, id, n)
			}
		}
		for k := range took {
			if strings.HasPrefix(k, name+" ") && !booked[k] {
				t.Errorf("lost: the outcome of %s was taken", k)
			}
		}
	}
	if extra > 0 {
		t.Errorf("%d runs were made again whose outcome was on record", extra)
	}
	t.Logf("%d kills, %d outcomes taken, %d attempts lost with their worker", done, len(took), lost)
	return proposed
}
