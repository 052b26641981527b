package testbed

import (
	"cmp"
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
	"syscall"
	"testing"
	"time"
)

// A Postgres is a private PostgreSQL, on a socket in a directory of its own: in memory where that
// can be had. It has the settings of a new one, so that it is as durable.
type Postgres struct {
	dir        string
	as         *syscall.Credential
	bin        string
	postmaster *exec.Cmd
	ended      chan struct{}
}

// ErrNoPostgres is the error on a machine without PostgreSQL.
var ErrNoPostgres = errors.New("PostgreSQL is not tested")

// MakePostgres makes a server and starts it. The caller removes it.
func MakePostgres() (s *Postgres, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if path, err := exec.LookPath("initdb"); err == nil && len(found) == 0 {
		found = append(found, path)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: there is no initdb (package postgresql)", ErrNoPostgres)
	}
	s = &Postgres{bin: filepath.Dir(found[len(found)-1])}
	// A benchmark wants a disk.
	if s.dir, err = os.MkdirTemp(cmp.Or(os.Getenv("ASSAY_PG_DIR"), Memory()), "assay-pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(s.dir)
		}
	}()
	if os.Getuid() == 0 { // PostgreSQL does not run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, fmt.Errorf("%w: it does not run as root, and there is no user postgres", ErrNoPostgres)
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
		if template.dir, template.err = os.MkdirTemp(Memory(), "template-"); template.err != nil {
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
	return s, s.Start()
}

// template is a new database, of which each server has a copy: initdb takes longer than a test.
var template struct {
	sync.Once
	dir string
	err error
}

func (s *Postgres) data() string { return filepath.Join(s.dir, "data") }

func (s *Postgres) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = s.dir
	// Who kills the test ends the server too.
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL}
	return c
}

// Start starts the postmaster and waits until it accepts connections. After a kill it refuses to
// Start as long as a child of the one before is there, so it is tried again.
func (s *Postgres) Start() error {
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

func (s *Postgres) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// Kill ends the postmaster with SIGKILL. Its children see that and end too.
func (s *Postgres) Kill() {
	_ = s.postmaster.Process.Kill()
	<-s.ended
}

// Remove ends the server for good. A postmaster that is not killed removes its shared memory.
func (s *Postgres) Remove() {
	_ = s.postmaster.Process.Signal(syscall.SIGQUIT)
	<-s.ended
	_ = os.RemoveAll(s.dir)
}

// NewPostgres returns a server of the test's own, which it may kill. A machine without PostgreSQL skips the test.
func NewPostgres(t testing.TB) *Postgres {
	t.Helper()
	s, err := MakePostgres()
	if errors.Is(err, ErrNoPostgres) {
		Lacks(t, "postgresql", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Remove)
	return s
}

// Dir returns the directory with the server's socket.
func (s *Postgres) Dir() string { return s.dir }

// removeTemplate removes the database that servers of this process have copied.
func removeTemplate() {
	if template.dir != "" {
		_ = os.RemoveAll(template.dir)
	}
}

// Address returns the address of the database postgres, with parameters such as "&a=b".
func (s *Postgres) Address(params ...string) string {
	return "postgres://postgres@/postgres?host=" + s.dir + strings.Join(params, "")
}
