package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// The test binary is also the program that is killed, starved and watched: with
// childEnv set it does one of the children and exits.
const childEnv = "ASSAY_STORE_CHILD"

func TestMain(m *testing.M) {
	if mode, args, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		if err := children()[mode](strings.Fields(args)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testbed.Main(m)
}

func children() map[string]func(args []string) error {
	return map[string]func(args []string) error{
		"append": childAppend, "boast": childBoast, "many": childMany, "share": childShare, "turns": childTurns,
		"starve": childStarve, "hold": childHold, "lease": childLease, "migrate": childMigrate, "upgrade": childUpgrade,
		"readonly": childReadOnly, "backup": childBackup,
	}
}

// patience is how long a process of a test waits for the others: a busy machine may stand still for a minute.
const patience = 8 * time.Minute

// child returns the command of a child. Paths have no spaces in tests.
func child(t testing.TB, mode string, args ...any) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+mode+" "+strings.TrimSpace(fmt.Sprintln(args...)))
	return c
}

// childAppend appends one trial after the other and prints its number on standard output,
// n times or for ever.
func childAppend(args []string) error {
	return appendEach(args, func(id int64, put func() error) error {
		if err := put(); err != nil {
			return err
		}
		fmt.Println(id)
		return nil
	})
}

// childBoast prints it some time before.
func childBoast(args []string) error {
	return appendEach(args, func(id int64, put func() error) error {
		fmt.Println(id)
		time.Sleep(20 * time.Millisecond)
		return put()
	})
}

func appendEach(args []string, each func(id int64, put func() error) error) error {
	path, study, synchronous := args[0], args[1], args[2]
	if synchronous == "FULL" {
		synchronous = "" // as programs open it
	}
	n, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, path, Options{synchronous: synchronous, AnyFileSystem: true})
	if err != nil {
		return err
	}
	if err := s.Create(ctx, study, nil); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	sum, err := s.Summary(ctx, study)
	if err != nil {
		return err
	}
	for id := sum.Trials() + 1; n != 0; id++ {
		if err := each(id, func() error { return put(ctx, s, study, id) }); err != nil {
			return err
		}
		n--
	}
	return s.Close()
}

// childMany appends to many studies at once, and prints each study and trial on standard output, until
// it is killed or an Append fails.
func childMany(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{Wait: patience})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i := range n {
		go func() {
			study := fmt.Sprint("s", i)
			if err := s.Create(ctx, study, nil); err != nil && !errors.Is(err, os.ErrExist) {
				failed <- err
				return
			}
			sum, err := s.Summary(ctx, study)
			for id := sum.Trials() + 1; err == nil; id++ {
				if err = put(ctx, s, study, id); err == nil {
					fmt.Println(study, id)
				}
			}
			failed <- err
		}()
	}
	return <-failed
}

// childShare appends n trials to a study of its own and reads all the others.
func childShare(args []string) error {
	path, study := args[0], args[1]
	n, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, path, Options{Wait: patience})
	if err != nil {
		return err
	}
	release, err := s.Lock(ctx, study)
	if err != nil {
		return err
	}
	if err := s.Create(ctx, study, nil); err != nil {
		return err
	}
	for id := int64(1); id <= n; id++ {
		if err := put(ctx, s, study, id); err != nil {
			return err
		}
		if id%10 != 0 {
			continue
		}
		for sum, err := range s.Summaries(ctx, "", 0) {
			if err != nil {
				return err
			}
			for _, err := range s.Events(ctx, sum.Study, 0) {
				if err != nil {
					return err
				}
			}
		}
	}
	return errors.Join(release(), s.Close())
}

// childTurns appends n trials to a study that others append to as well: it takes the study for each, as soon as it is
// free, and goes on from the last trial of the others.
func childTurns(args []string) error {
	path, study := args[0], args[1]
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, path, Options{Wait: patience})
	if err != nil {
		return err
	}
	if err := s.Create(ctx, study, nil); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for n > 0 {
		release, err := s.Lock(ctx, study)
		if errors.Is(err, assay.ErrLocked) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		sum, err := s.Summary(ctx, study)
		if err == nil {
			err = put(ctx, s, study, sum.Trials()+1)
		}
		if err = errors.Join(err, release()); err != nil {
			return err
		}
		n--
	}
	return s.Close()
}

// childStarve appends until the file may not grow any more (RLIMIT_FSIZE, which
// is a full disk without one), and reports the error that it got.
func childStarve(args []string) error {
	limit, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, args[0], Options{Wait: patience})
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	if err := s.Create(ctx, "a", nil); err != nil {
		return err
	}
	starved := 0
	for id := int64(1); id < 100_000; id++ {
		err := put(ctx, s, "a", id)
		if err == nil {
			fmt.Println(id)
			continue
		}
		if !errors.Is(err, ErrIO) {
			return fmt.Errorf("got %w, want ErrIO", err)
		}
		// The store opens the file again. Folding the log may have made room.
		if starved++; starved == 5 {
			fmt.Println("starved")
			return nil
		}
		if err := put(ctx, s, "a", id); err == nil {
			fmt.Println(id)
		} else if !errors.Is(err, ErrIO) {
			return fmt.Errorf("after an error: got %w, want nil or ErrIO", err)
		} else {
			id--
		}
		if _, err := s.Spec(ctx, "a"); err != nil && !errors.Is(err, ErrBroken) {
			return fmt.Errorf("reading after an error: got %w, want nil or ErrBroken", err)
		}
	}
	return errors.New("there was no end")
}

// childHold locks a study until it is killed.
func childHold(args []string) error {
	s, err := Open(context.Background(), args[0], Options{})
	if err != nil {
		return err
	}
	if _, err := s.Lock(context.Background(), args[1]); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return nil
}

// childLease leases a study until it is killed.
func childLease(args []string) error {
	s, err := Open(context.Background(), args[0], Options{})
	if err != nil {
		return err
	}
	if _, err := s.Lease(context.Background(), args[1], "the child", time.Hour); err != nil {
		return err
	}
	fmt.Println("leased")
	time.Sleep(time.Minute)
	return nil
}

// childMigrate goes to a version whose migration takes a while.
func childMigrate(args []string) error {
	s, err := Open(context.Background(), args[0], Options{migrations: slowMigrations()})
	if err != nil {
		return err
	}
	return s.Close()
}

// childUpgrade opens a store of an earlier format and kills itself after that
// many statements of the migration. It prints how many there were if it lives.
func childUpgrade(args []string) error {
	last, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	n := 0
	s, err := Open(context.Background(), args[0], Options{migrated: func(done int) {
		if n = done; done == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}})
	if err != nil {
		return err
	}
	fmt.Println(n)
	return s.Close()
}

func slowMigrations() []string {
	return append(migrations, `
CREATE TABLE extra (n INTEGER PRIMARY KEY, x TEXT);
INSERT INTO extra SELECT value, hex(randomblob(500)) FROM (`+
		`WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 4000) SELECT value FROM c);
ALTER TABLE trials ADD COLUMN extra TEXT;
UPDATE trials SET extra = 'x';
DROP TABLE heads;
`)
}

// A running is a child and the output that it has printed.
type running struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	out  []string      // its lines, when it has ended
	err  error
}

// start runs a child; each line that it prints is sent to lines, if not nil.
func start(t testing.TB, c *exec.Cmd, lines chan<- string) *running {
	t.Helper()
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r := &running{cmd: c, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			r.out = append(r.out, sc.Text())
			if lines != nil {
				lines <- sc.Text()
			}
		}
		if err := c.Wait(); err != nil {
			r.err = fmt.Errorf("%w: %s", err, stderr.String())
		}
	}()
	t.Cleanup(func() { c.Process.Kill(); <-r.done })
	return r
}

// acks returns the trials that the child has printed as stored.
func (r *running) acks(t testing.TB) (ids []int64) {
	t.Helper()
	<-r.done
	for _, line := range r.out {
		if id, err := strconv.ParseInt(line, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkPairs fails unless the study is trials 1 to n as pair makes them, each
// once and in order. It returns n.
func checkPairs(t testing.TB, s assay.Store, study string) int64 {
	t.Helper()
	n := int64(0)
	for e, err := range s.Events(t.Context(), study, 0) {
		if err != nil {
			t.Fatal(err)
		}
		want := pair(n/2 + 1)[n%2]
		if !sameEvent(e, want) {
			t.Fatalf("study %q: event %d: got %+v, want %+v", study, n+1, e, want)
		}
		n++
	}
	if n%2 != 0 {
		t.Errorf("study %q: half of an Append is there: %d events", study, n)
	}
	return n / 2
}
