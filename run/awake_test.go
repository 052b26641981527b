package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// stopEnv makes the test binary a tool that runs "sleep $stopEnv" once and prints the outcome.
const stopEnv = "ASSAY_TEST_STOPPED"

func stopped(seconds string) {
	l, err := NewLocal(LocalOptions{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	m, err := Awake(l).Run(context.Background(), assay.Job{Argv: []string{"sleep", seconds}}, nil)
	fmt.Println(m.Elapsed.Seconds(), err)
}

// A tool that was stopped when its run ended does not know how long the run took. One that was stopped
// before and goes on does.
func TestAwake(t *testing.T) {
	for _, tt := range []struct {
		name        string
		sleep       string
		after, stop time.Duration
		lost        bool
	}{
		{"not stopped", "0.3", 0, 0, false},
		{"stopped at the end", "0.3", 50 * time.Millisecond, time.Second, true},
		{"stopped before the end", "1.5", 50 * time.Millisecond, 300 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), stopEnv+"="+tt.sleep)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 6) // "ready\n"
			if _, err := out.Read(b); err != nil {
				t.Fatal(err)
			}
			if tt.stop > 0 {
				time.Sleep(tt.after)
				if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.stop)
				if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
			b = make([]byte, 200)
			n, _ := out.Read(b)
			text := string(b[:n])
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if lost := strings.Contains(text, assay.ErrLost.Error()); lost != tt.lost {
				t.Errorf("lost %v, want %v: %s", lost, tt.lost, text)
			}
		})
	}
}

// A machine that was suspended has measured nothing.
func TestAwakeSuspended(t *testing.T) {
	var slept time.Duration
	inner := runnerFunc(func(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
		slept += 8 * time.Hour
		return assay.Measurement{Elapsed: time.Second}, nil
	})
	m, err := awake{inner, func() time.Duration { return slept }}.Run(t.Context(), assay.Job{}, nil)
	if !errors.Is(err, assay.ErrLost) || !strings.Contains(err.Error(), "8h0m0s") || m.Elapsed != time.Second {
		t.Errorf("%+v, %v", m, err)
	}
}

// A busy machine delays the notice of the end of a run that ended during a stop.
func TestAwakeLateNotice(t *testing.T) {
	inner := runnerFunc(func(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(leastNotice / 5)
		return assay.Measurement{Elapsed: 300 * time.Millisecond}, nil
	})
	_, err := awake{inner, func() time.Duration { return 0 }}.Run(t.Context(), assay.Job{}, nil)
	if !errors.Is(err, assay.ErrLost) {
		t.Errorf("a run that ended shortly after the process went on counts: %v", err)
	}
}
