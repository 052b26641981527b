package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/assaytest"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/store"
)

// soak reports whether there is time for the long form of a test.
func soak() bool { return os.Getenv("ASSAY_SOAK") == "1" }

// A server is a private PostgreSQL, on a socket in a directory of its own: in memory where that
// can be had. Its settings are those of a new one, so that it is as durable.
type server struct {
	dir        string
	as         *syscall.Credential
	bin        string
	postmaster *exec.Cmd
	ended      chan struct{}
}

// errMissing says that this machine has no PostgreSQL.
var errMissing = errors.New("SKIPPED: the store on PostgreSQL is not tested")

// makeServer makes a server and starts it.
func makeServer() (s *server, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if path, err := exec.LookPath("initdb"); err == nil && len(found) == 0 {
		found = append(found, path)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: there is no initdb (package postgresql)", errMissing)
	}
	s = &server{bin: filepath.Dir(found[len(found)-1])}
	// A benchmark wants a disk.
	if s.dir, err = os.MkdirTemp(cmp.Or(os.Getenv("ASSAY_PG_DIR"), testbed.Memory()), "assay-pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(s.dir)
		}
	}()
	if os.Getuid() == 0 { // PostgreSQL does not run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, fmt.Errorf("%w: it does not run as root, and there is no user postgres", errMissing)
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.dir, int(uid), int(gid)); err != nil {
			return nil, err
		}
	}
	template.Do(func() {
		var out []byte
		if template.dir, template.err = os.MkdirTemp(testbed.Memory(), "template-"); template.err != nil {
			return
		}
		if s.as != nil {
			if template.err = os.Chown(template.dir, int(s.as.Uid), int(s.as.Gid)); template.err != nil {
				return
			}
		}
		out, template.err = s.command(filepath.Join(s.bin, "initdb"), "-D", filepath.Join(template.dir, "data"), "-N",
			"-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C").CombinedOutput()
		if template.err != nil {
			template.err = fmt.Errorf("initdb: %w: %s", template.err, out)
		}
	})
	if template.err != nil {
		return nil, template.err
	}
	if out, err := s.command("cp", "-a", filepath.Join(template.dir, "data"), s.data()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return s, s.start()
}

// template is a new database, of which each server has a copy: initdb takes longer than a test.
var template struct {
	sync.Once
	dir string
	err error
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = s.dir
	// Who kills the test ends the server too.
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL}
	return c
}

// start starts the postmaster and waits until it accepts connections. After a kill it refuses to
// start as long as a child of the one before is there, so it is tried again.
func (s *server) start() error {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c := s.command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-c", "listen_addresses=", "-c",
			"max_connections=200",
			"-c", "dynamic_shared_memory_type=mmap", // in the data, so that a killed server leaves nothing elsewhere
			"-c", "unix_socket_directories="+s.dir)
		var log strings.Builder
		c.Stderr = &log
		if err := c.Start(); err != nil {
			return err
		}
		ended := make(chan struct{})
		go func() {
			_ = c.Wait()
			close(ended)
		}()
		s.postmaster, s.ended = c, ended
		for s.running() && s.command(filepath.Join(s.bin, "pg_isready"), "-q", "-h", s.dir, "-U", "postgres").Run() != nil {
			if time.Now().After(end) {
				return errors.New("the server does not answer")
			}
			time.Sleep(10 * time.Millisecond)
		}
		switch {
		case s.running():
			return nil
		case time.Now().After(end):
			return fmt.Errorf("the server does not start: %s", log.String())
		}
	}
}

func (s *server) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// kill ends the postmaster with SIGKILL. Its children see that and end too.
func (s *server) kill() {
	_ = s.postmaster.Process.Kill()
	<-s.ended
}

// remove ends the server for good. A postmaster that is not killed removes its shared memory.
func (s *server) remove() {
	_ = s.postmaster.Process.Signal(syscall.SIGQUIT)
	<-s.ended
	os.RemoveAll(s.dir)
}

// newServer returns a server of the test's own, which it may kill.
func newServer(t testing.TB) *server {
	t.Helper()
	s, err := makeServer()
	if errors.Is(err, errMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return s
}

// shared is the server of the tests that do it no harm.
var shared = sync.OnceValues(makeServer)

func TestMain(m *testing.M) {
	testbed.Wide(4)
	testbed.MainOutside(m, func() {
		if used.Load() {
			if s, err := shared(); err == nil {
				s.remove()
			}
		}
		_ = os.RemoveAll(template.dir)
	})
}

var used atomic.Bool

// freshAddress returns the address of an empty store on the shared server.
func freshAddress(t testing.TB) string {
	t.Helper()
	used.Store(true)
	s, err := shared()
	if errors.Is(err, errMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.fresh()
}

// address returns the address of the database postgres, with parameters such as "&a=b".
func (s *server) address(params ...string) string {
	return "postgres://postgres@/postgres?host=" + s.dir + strings.Join(params, "")
}

var schemas struct {
	sync.Mutex
	n int
}

// fresh returns the address of an empty store on a server.
func (s *server) fresh() string {
	schemas.Lock()
	defer schemas.Unlock()
	schemas.n++
	return s.address(fmt.Sprintf("&search_path=t%d", schemas.n))
}

// openTest opens a store until the end of the test.
func openTest(t testing.TB, address string) *Store {
	t.Helper()
	s, err := Open(context.WithoutCancel(t.Context()), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pair returns what a study appends for one trial, of an ordinary size.
func pair(id int64) []assay.Event {
	at := time.Unix(1_770_000_000+id, 123456789).UTC()
	p := assay.Proposal{ID: id, Config: assay.Config{float64(id % 9), 0.25, 1024, 3}}
	return []assay.Event{
		{At: at, Spent: time.Duration(id) * time.Second, Asked: &p},
		{At: at.Add(time.Second), Spent: time.Duration(id+1) * time.Second, Told: &assay.Trial{
			Proposal: p, State: assay.Done, Value: 1 + 1/float64(id+1), Attempts: 1, Started: at, Ended: at.Add(time.Second),
			Measurement: assay.Measurement{Elapsed: 987654321, Metrics: map[string]float64{
				"cpu_s": 0.9, "rss_B": 12345678, "read_B": 4096, "write_B": 8192, "user_s": 0.7, "sys_s": 0.2,
			}},
		}},
	}
}

// put appends the trial of that ID to a study that has those before it.
func put(ctx context.Context, s assay.Store, study string, id int64) error {
	_, err := s.Append(ctx, study, assay.Position(2*(id-1)), pair(id)...)
	return err
}

// checkPairs fails unless the study is trials 1 to n as pair makes them, each once and in order.
// It returns n.
func checkPairs(t testing.TB, s assay.Store, study string) int64 {
	t.Helper()
	n := int64(0)
	for e, err := range s.Events(t.Context(), study, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if want := pair(n/2 + 1)[n%2]; !assaytest.SameEvent(e, want) {
			t.Fatalf("study %q: event %d: got %+v, want %+v", study, n+1, e, want)
		}
		n++
	}
	if n%2 != 0 {
		t.Errorf("study %q: half of an Append is there: %d events", study, n)
	}
	return n / 2
}

// checkFsck fails unless the store is as it was written.
func checkFsck(t testing.TB, s *Store) {
	t.Helper()
	r, err := s.Fsck(context.WithoutCancel(t.Context()), store.FsckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("fsck: %v", p)
	}
}
