package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
)

// A member is a server process of several on one store.
type member struct {
	dir, store string
	cmd        *exec.Cmd
	ready      server.Ready
	client     *api.Client
}

// up starts the server and returns when it answers. It is killed at the end of the test.
func (m *member) up(t testing.TB) {
	t.Helper()
	m.cmd = exec.Command(os.Args[0])
	m.cmd.Env = append(os.Environ(), "ASSAY_TEST_SERVER="+m.dir, "ASSAY_TEST_STORE="+m.store)
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.kill)
	if err := json.NewDecoder(out).Decode(&m.ready); err != nil {
		t.Fatal(err)
	}
	if m.client == nil {
		if m.client, err = api.Open("unix:"+filepath.Join(m.dir, api.SocketName), ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.client.Close)
	}
}

// join starts a member of a store with two workers.
func join(t *testing.T, store string) *member {
	t.Helper()
	m := &member{dir: filepath.Join(t.TempDir(), "d"), store: store}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m.up(t)
	for w := range 2 {
		process(t, m.dir, fmt.Sprint("w", w))
	}
	return m
}

// down ends the server by SIGTERM.
func (m *member) down() {
	_ = m.cmd.Process.Signal(unix.SIGTERM)
	_ = m.cmd.Wait()
}

// kill ends the server by SIGKILL.
func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// A silence is how long a server did not answer at most.
type silence struct {
	sync.Mutex
	longest time.Duration
	answers int
}

// watch asks a server for its studies until ctx ends.
func (s *silence) watch(ctx context.Context, c *api.Client) {
	last := time.Now()
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, time.Second)
		_, err := c.Studies(one)
		cancel()
		if err == nil {
			s.Lock()
			s.longest, s.answers = max(s.longest, time.Since(last)), s.answers+1
			s.Unlock()
			last = time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Two servers share a PostgreSQL and are restarted in turn while their workers run: each answers again within five
// seconds, no trial is lost, and no run is made twice.
func TestRollingRestart(t *testing.T) {
	testbed.System(t)
	t.Parallel()
	rounds := testbed.Times(1, 6)
	at := testbed.NewPostgres(t).Address()
	servers := make([]*member, 2)
	quiet := make([]silence, len(servers))
	ctx, cancel := context.WithCancel(t.Context())
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer cancel()
	text := func(seed, trials int) string {
		return trivial("sh, -c, 'sleep 0.$((2 + $1 % 7))', sh, '{n}'", seed, trials, 3)
	}
	var names []string
	limit := 5 * time.Second
	for i := range servers {
		began := time.Now()
		m := join(t, at)
		limit = max(limit, 5*time.Since(began)) // a busy machine
		servers[i] = m
		for range 2 {
			name := fmt.Sprint("s", len(names))
			lab{m.client, m.dir}.submit(t, name, text(len(names), 1_000_000))
			names = append(names, name)
		}
		watchers.Go(func() { quiet[i].watch(ctx, m.client) })
	}
	for range rounds {
		for _, m := range servers {
			time.Sleep(3 * time.Second)
			m.down()
			m.up(t)
		}
	}
	for i := range quiet {
		quiet[i].Lock()
		t.Logf("server %d: %d answers, at most %v without", i, quiet[i].answers, quiet[i].longest)
		if quiet[i].longest > limit || quiet[i].answers == 0 {
			t.Errorf("server %d did not answer for %v, %d answers", i, quiet[i].longest, quiet[i].answers)
		}
		quiet[i].Unlock()
	}
	for i, name := range names {
		m := servers[i/2]
		d, err := m.client.Study(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		lab{m.client, m.dir}.submit(t, name, text(i, int(d.Study.Done)+5))
		lab{m.client, m.dir}.ended(t, name)
	}
	store, err := setup.OpenStore(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	trials := 0
	for _, name := range names {
		_, _, l := audited(t, store, name)
		if trials += len(l.told); l.lost > 0 {
			t.Errorf("%s: %d runs were made again", name, l.lost)
		}
	}
	t.Logf("%d restarts, %d trials", rounds*len(servers), trials)
}
